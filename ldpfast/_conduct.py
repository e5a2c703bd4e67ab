"""Running a job on an engine: what a job can be, and the passes of protocols that ask in rounds."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import replace
from typing import Any

from . import _check, _schema
from ._frames import read_by
from ._job_counts import TaskCounts
from ._jobs import HeldJob, Job, RoundJob, ServerJob
from ._person_keys import PersonKeys
from .estimation import GaussianMean, NewtonStep
from .estimation.protocols import Problem, Sequential
from .mechanisms import Mechanism
from .reports import Question, hash_of_batch, recipe_of

ACCEPTED = "a survey, a problem, a mechanism, a GaussianMean or a NewtonStep"


def new_job(what: Any, *, column: Any, by: Any, person: Any, key: Any, clip: Any, reports: bool = False) -> Job:
    """Return the job for a survey, a problem, a mechanism, a `GaussianMean` or a `NewtonStep` whose steps are complete.

    Raises
    ------
    TypeError, ValueError
        If an argument is not as documented in `dask.aggregate`.
    """
    # First what can be asked at all, then the arguments that every job has, then what only one kind of job accepts. A job holds
    # the description of the question as JSON, not the question, so that each task makes its own.
    if isinstance(what, NewtonStep):
        if what.n != what._n_steps:
            raise ValueError(
                f"what must be a NewtonStep with all {what._n_steps} answers of the steps, which tasks cannot share, and no "
                f"others, got one with n = {what.n}"
            )
    elif isinstance(what, Sequential) or hasattr(what, "partial_fit"):  # a regression asks like GradientDescent
        raise TypeError(
            f"what must be {ACCEPTED}, got a {type(what).__name__}: it asks one person after another, and each answer "
            "determines the next question, so that tasks cannot share the work"
        )
    if not isinstance(what, Question | GaussianMean | NewtonStep):
        raise TypeError(f"what must be {ACCEPTED}, got {type(what).__name__}")
    by = read_by(by)
    if person is not None and not isinstance(person, str):
        raise TypeError(f"person must be the name of a column, got {type(person).__name__}")
    if (person is None) != (key is None):
        raise ValueError(f"person and key must be given together, got {'key' if person is None else 'person'} alone")
    if reports and key is None:
        raise ValueError(
            "person and key must be given to make reports: an engine may compute a partition again, and two reports with "
            "different coins cost twice the privacy"
        )
    if key is not None and not callable(key):
        PersonKeys(key, "person")  # checks the length
    _check.flag("clip", clip)
    asked = _schema.canonical_json(what.schema())
    if hasattr(what, "column_questions"):
        if column is not None:
            raise ValueError(f"column must be None for a survey, whose questions name their columns, got {column!r}")
    elif isinstance(what, Mechanism | Problem):
        what.domain.check_clip(clip)
    if isinstance(what, Question):
        recipe_of(what).check_groups(by)
        recipe_of(what).require_keys(key is not None)
        return Job(asked, _names(column), by, person, key, clip)
    name = type(what).__name__
    if by is not None or clip:
        raise ValueError(f"by must be None and clip False for a {name}")
    if key is None:
        raise ValueError(
            f"person and key must be given for a {name}: everyone answers one question only, and an engine that reads its "
            "partitions again must ask the same one"
        )
    if isinstance(what, NewtonStep):
        return HeldJob(asked, _names(column), by, person, key, clip, server=what.to_bytes())
    if what.n:
        raise ValueError(f"what must be a GaussianMean without answers, got one with n = {what.n}")
    return RoundJob(asked, _names(column), by, person, key, clip)


def _names(column: Any) -> Any:
    if column is None or isinstance(column, str):
        return column
    if not isinstance(column, list | tuple) or not column or not all(isinstance(name, str) for name in column):
        raise TypeError(f"column must be the name of a column or a list of names, got {column!r}")
    return tuple(column)


def conduct(job: Job, batch: str | None, run: Callable[[Job], TaskCounts], count_people: Callable[[], int]) -> Any:
    """Run a job on an engine and return its result.

    Parameters
    ----------
    job : Job
        Result of `new_job`.
    batch : str or None
        Name of the batch.
    run : callable
        Runs the tasks of a job and returns their merged counts.
    count_people : callable
        Returns the number of people, for protocols that divide them.

    Returns
    -------
    result : Aggregator, GroupedAggregator, GaussianMean or NewtonStep
    """
    if batch is not None:
        hash_of_batch(batch)
    if not isinstance(job, ServerJob):
        return job.finish(run(job), batch)
    if batch is not None:
        raise ValueError(f"batch must be None for a {type(job.what()).__name__}, got {batch!r}")
    if isinstance(job, HeldJob):
        return _held(job, run(job))
    assert isinstance(job, RoundJob)
    return _rounds(job, run, count_people())


def _held(job: HeldJob, counts: TaskCounts) -> NewtonStep:
    """Return a server with the answers of all people about the held position."""
    server = NewtonStep.from_bytes(job.server)
    if counts["state"] is not None or counts["error"] is not None:
        server._merge_part(job.finish(counts))
    return server


def _rounds(job: RoundJob, run: Callable[[Job], TaskCounts], people: int) -> GaussianMean:
    """Return a server after all rounds."""
    server, secrets = copy(job.what()), set()
    server.plan(people)  # raises if there are too few
    while True:
        counts = run(replace(job, server=server.to_bytes(), people=people))
        server = job.finish(counts)
        secrets.add(counts["secret"])
        if server.round + 1 == server.rounds:
            break
        server.close_round()
    if len(secrets) > 1:
        raise ValueError("key must return the same secret in every round, got different ones")
    if server.n != people:
        raise ValueError(
            f"data must hold the same persons whenever they are read, got {server.n} answers of {people} people: identifiers "
            "must be stored, not generated"
        )
    assert isinstance(server, GaussianMean)
    return server
