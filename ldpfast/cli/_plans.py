"""The commands before a study: planning of a problem of statistics or of a survey, and the promise of a survey in words."""

from __future__ import annotations

import argparse
import json
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ..bounds import _study_plan
from ..bounds._registered_problem import PROBLEMS
from ..survey import Calendar, Survey, SurveyPlan, Table
from ..survey._calendar import moment_text
from ._command_arguments import count, output_file, replaced
from ._survey_commands import read_survey

SURVEY_ONLY = ("html", "compare", "alpha", "power", "shares", "response")


def add_command(commands: Any) -> None:
    """Add the commands to a parser.

    Problems have different parameters: there is one option for each name of a parameter, whose help lists its problems.
    """
    plan = commands.add_parser(
        "plan",
        help="sample-size planning: people, epsilon or error of a problem and its lower bounds; or the precision of a survey",
        epilog="For a problem give two of --n, --epsilon and --error; the third is computed. Errors are in the unit of the "
        "problem's loss, which is the squared error for means, shares, coefficients and densities. For a survey give --n, or "
        "--compare. If the survey has no epsilon and --epsilon is not given, five values are compared.",
    )
    plan.add_argument(
        "problem", metavar="PROBLEM", help=f"one of {', '.join(PROBLEMS)}; or SURVEY.toml, see `Survey.from_toml`"
    )
    plan.add_argument("--n", type=count, help="number of people, such as 20000 or 1e6")
    plan.add_argument("--epsilon", type=float, metavar="E", help="privacy parameter of each record, or of the release")
    plan.add_argument("--error", type=float, metavar="X", help="largest acceptable error")
    plan.add_argument(
        "--confidence", type=float, metavar="C", help="bound the error with this probability instead of on average"
    )
    for name in problem_parameters():
        problems = [problem.name for problem in PROBLEMS.values() if name in problem.needed + problem.optional]
        kind = count if name in ("dim", "k") else str if name in ("family", "privacy", "method") else float
        plan.add_argument(_option(name), type=kind, metavar="V", help=f"parameter of {', '.join(problems)}")
    plan.add_argument(
        "--figure", type=Path, metavar="FILE", help="file for a figure of the errors against n and epsilon (PNG)"
    )
    plan.add_argument("--json", action="store_true", help="print one JSON object")
    plan.add_argument("--html", type=Path, metavar="FILE", help="for a survey: file for a report to a committee")
    plan.add_argument(
        "--compare",
        action="append",
        metavar="QUESTION=DIFFERENCE",
        help="for a survey: a difference of two groups of equal size that is to be found; can be given several times",
    )
    plan.add_argument(
        "--shares",
        action="append",
        metavar="QUESTION=SHARES",
        help="for a survey: the expected share of yes, shares of all labels (0.5,0.3,0.2), largest share of a label, mean, or "
        "shape of a number (uniform, normal, skewed); can be given several times. The default is the worst case",
    )
    plan.add_argument(
        "--response",
        type=float,
        metavar="R",
        help="for a survey: share of the people who answer what they are asked (1)",
    )
    plan.add_argument(
        "--alpha", type=float, metavar="A", help="for a survey: level of the test of one difference (0.05)"
    )
    plan.add_argument(
        "--power", type=float, metavar="P", help="for a survey: probability that a difference is found (0.8)"
    )
    plan.set_defaults(command=_run)
    explain = commands.add_parser(
        "explain", help="the promise of a survey in words, for the people who are asked, as Markdown"
    )
    explain.add_argument("survey", type=Path, metavar="SURVEY", help="SURVEY.toml, see `Survey.from_toml`")
    explain.add_argument("--epsilon", type=float, metavar="E", help="privacy parameter, instead of the one in the file")
    explain.add_argument("--controller", metavar="NAME", help="who decides why and how the answers are used")
    explain.add_argument("--contact", metavar="TEXT", help="where people can ask")
    explain.add_argument("--purpose", metavar="TEXT", help="what the answers are for")
    explain.add_argument(
        "--holder",
        metavar="NAME",
        help="who holds the true answers and randomizes them; the device of each person by default",
    )
    explain.add_argument(
        "--html", type=Path, metavar="FILE", help="file for the text as a page, instead of printing it"
    )
    explain.set_defaults(command=_explain)


def problem_parameters() -> list[str]:
    """Return the names of the parameters of all problems."""
    return list(dict.fromkeys(name for p in PROBLEMS.values() for name in p.needed + p.optional))


def _option(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _run(arguments: argparse.Namespace) -> int:
    if arguments.problem in PROBLEMS:
        return _plan_problem(arguments)
    if arguments.problem.endswith(".toml"):
        return _plan_survey(arguments)
    raise ValueError(
        f"PROBLEM must be one of {', '.join(PROBLEMS)}, or a survey with the suffix .toml, got {arguments.problem!r}"
    )


def _refuse(arguments: argparse.Namespace, names: tuple[str, ...], what: str) -> None:
    for name in names:
        if getattr(arguments, name) is not None:
            raise ValueError(f"{_option(name)} must be left out for {what}")


def _plan_problem(arguments: argparse.Namespace) -> int:
    problem = PROBLEMS[arguments.problem]
    _refuse(arguments, SURVEY_ONLY, problem.name)
    fixed = {name: value for name in problem_parameters() if (value := getattr(arguments, name)) is not None}
    for name in problem.needed:
        if name not in fixed:
            raise ValueError(f"{_option(name)} must be given for {problem.name}")
    for name in fixed:
        if name not in problem.needed + problem.optional:
            raise ValueError(f"{_option(name)} must be left out for {problem.name}")
    if (arguments.n is None) + (arguments.epsilon is None) + (arguments.error is None) != 1:
        raise ValueError("exactly two of --n, --epsilon and --error must be given")
    if arguments.confidence is not None and arguments.error is None:
        raise ValueError("--confidence must be left out without --error")
    if arguments.figure is not None:
        output_file("--figure", arguments.figure)
    found = _study_plan.make_plan(
        problem.name, arguments.n, arguments.epsilon, arguments.error, arguments.confidence, fixed
    )
    if arguments.figure is not None:
        from ..bounds import _plan_plot

        _plan_plot.save(found, arguments.figure)
    print(json.dumps(found.to_dict()) if arguments.json else found)
    return 0


def _plan_survey(arguments: argparse.Namespace) -> int:
    path = Path(arguments.problem)
    _refuse(arguments, ("error", "confidence", *problem_parameters()), "a survey")
    if arguments.figure is not None:
        output_file("--figure", arguments.figure, [path])
    surveys = _surveys_of(path, arguments.epsilon)
    compare: Any = _by_question("compare", arguments.compare, "0.05", float) if arguments.compare else True
    options: dict[str, Any] = {
        name: given for name in ("alpha", "power", "response") if (given := getattr(arguments, name)) is not None
    }
    if arguments.shares:
        options["shares"] = _by_question("shares", arguments.shares, "0.2 or way=0.5,0.3,0.2", _numbers)
    if arguments.n is None and compare is True:
        raise ValueError("--n or --compare must be given for a survey")
    # With several epsilons, the first and smallest one needs the most people.
    plans = [surveys[0].plan(arguments.n, compare=compare, **options)]
    people = plans[0].n if plans[0].waves is None else plans[0].waves.people
    plans += [survey.plan(people, compare=compare, **options) for survey in surveys[1:]]
    if arguments.figure is not None:
        plans[0].plot(arguments.figure)
    if arguments.html is not None:
        from ..survey._plan_page import plan_page

        with replaced(arguments.html, [path], "--html") as temporary:
            temporary.write_text(plan_page(surveys, plans, f"Plan of the survey {path.stem}"), encoding="utf-8")
    if arguments.json:
        dates = {} if surveys[0].calendar is None else {"calendar": surveys[0].calendar.to_dict()}
        described = [
            {"epsilon": survey.epsilon, **plan.to_dict(), **dates} for survey, plan in zip(surveys, plans, strict=True)
        ]
        print(json.dumps(described[0] if len(described) == 1 else described))
        return 0
    if surveys[0].calendar is not None:
        print(f"{_dates(surveys[0].calendar, surveys[0].waves or 1)!r}\n")
    for survey, plan in zip(surveys, plans, strict=True):
        print(f"epsilon = {survey.guarantee.epsilon:.6g} for all answers of a person")
        print(_short(plan))
    if arguments.html is not None:
        print(arguments.html)
    return 0


def _explain(arguments: argparse.Namespace) -> int:
    """Print the text, or write it as a page; the notes for the study go to the standard error."""
    path = arguments.survey
    survey = read_survey(path, lambda text: Survey.from_toml(text, epsilon=arguments.epsilon))
    about = {name: getattr(arguments, name) for name in ("controller", "contact", "purpose", "holder")}
    try:
        explanation = survey.explain(**about)
    except ValueError as error:
        raise ValueError(str(error).replace("holder must say", "--holder must say")) from None
    if arguments.html is None:
        print(explanation.to_markdown(), end="")
    else:
        with replaced(arguments.html, [path], "--html") as temporary:
            explanation.to_html(temporary)
        print(arguments.html)
    for note in explanation.notes:
        print(f"Before you use this text: {note}", file=sys.stderr)
    return 0


def _dates(calendar: Calendar, waves: int) -> Table:
    """Return when waves open and close, and until when a server accepts their reports."""
    grace = calendar.to_dict()["grace"]
    numbers = range(1, waves + 1)
    opens = [calendar.opens(wave) for wave in numbers]
    closes = [calendar.closes(wave) for wave in numbers]
    return Table(
        {
            "wave": list(numbers),
            "opens": [*map(moment_text, opens)],
            "closes": [*map(moment_text, closes)],
            "reports until": [moment_text(seconds + grace) for seconds in closes],
        }
    )


def _short(plan: SurveyPlan) -> str:
    """Return the plan without the numbers of answers per person that the survey does not have."""
    columns = plan._shown().columns
    kept = {name: values for name, values in columns.items() if " answer" not in name or name.endswith("*")}
    kept = {("standard error" if name.endswith("*") else name): values for name, values in kept.items()}
    return f"{type(plan.table)(kept)!r}\n{plan.note.replace('; * is this survey', '')}{plan._quantile_lines}\n"


def _surveys_of(path: Path, epsilon: float | None) -> list[Survey]:
    """Return the survey of a file, with another epsilon if one is given, or with five if there is none."""
    from ..survey._plan_page import EPSILONS

    def parse(text: str) -> list[Survey]:
        if epsilon is None and "epsilon" not in tomllib.loads(text):
            return [Survey.from_toml(text, epsilon=each) for each in EPSILONS]
        return [Survey.from_toml(text, epsilon=epsilon)]

    return read_survey(path, parse)


def _by_question(option: str, texts: list[str], example: str, read: Callable[[str], Any]) -> dict[str, Any]:
    """Return the numbers that an option of the command line gives, by question."""
    found: dict[str, Any] = {}
    for text in texts:
        name, equals, number = text.rpartition("=")
        try:
            found[name] = read(number)
        except ValueError:
            equals = ""
        if not equals:
            kind = "DIFFERENCE" if option == "compare" else option.upper()
            raise ValueError(f"--{option} must be QUESTION={kind}, such as smoker={example}, got {text!r}")
    return found


def _numbers(text: str) -> float | list[float] | str:
    """Return one number, or several that are separated by commas; or the name of the shape of a distribution."""
    from ..survey._number_planning import SHAPES

    if text in SHAPES:
        return text
    parts = [float(part) for part in text.split(",")]
    return parts if len(parts) > 1 else parts[0]
