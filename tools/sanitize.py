"""Build with the address and undefined-behavior sanitizers in a separate folder and run the tests there."""

import os
import subprocess
import sys

from instrumented import build, library

# Statistics, examples, pages, pictures, databases, sources and mathematics need no sanitizer: they reach compiled code only by
# methods of mechanisms, surveys and the logit, whose own tests stay, with their sizes, offsets, types and instruction sets.
# Tests of package, time and wiped memory apply to the release build; those of clients in C have sanitizers of their own. Tests
# of commands and servers start other programs, some of which do not run with the library of the sanitizer (curl never ends).
LEFT_OUT = [
    "analysis/test_attention.py",
    "analysis/test_classifier.py",
    "analysis/test_covariances.py",
    "analysis/test_formulas.py",
    "analysis/test_links.py",
    "analysis/test_list_regression.py",
    "analysis/test_predictor.py",
    "analysis/test_profile.py",
    "analysis/test_sampled_regressions.py",
    "analysis/test_several_designs.py",
    "analysis/test_study_page.py",
    "bounds",
    "central/test_count_limits.py",
    "central/test_definitions.py",
    "central/test_density.py",
    "central/test_error_bounds.py",
    "central/test_influence.py",
    "central/test_mean.py",
    "central/test_noise.py",
    "central/test_rounded_noise.py",
    "central/test_smooth.py",
    "clients",
    "core/test_wiping.py",
    "designs",
    "estimation/gaussian",
    "estimation/test_coverage.py",
    "estimation/test_distribution_liars.py",
    "estimation/test_intervals.py",
    "estimation/test_regression.py",
    "estimation/test_risks.py",
    "experiments",
    "mechanisms/test_choice.py",
    "mechanisms/test_power.py",
    "mechanisms/test_rounding_modes.py",
    "mechanisms/test_simulate.py",
    "mechanisms/test_statistics.py",
    "mechanisms/test_total_variances.py",
    "privacy",
    "server/test_alerts.py",
    "server/test_app.py",
    "server/test_backfill.py",
    "server/test_deployment.py",
    "server/test_documentation.py",
    "server/test_exports.py",
    "server/test_fault_simulation.py",
    "server/test_logs.py",
    "server/test_message_ages.py",
    "server/test_mounted.py",
    "server/test_operations.py",
    "server/test_page_states.py",
    "server/test_processes.py",
    "server/test_questionnaire.py",
    "server/test_reading.py",
    "server/test_repeats.py",
    "server/test_series.py",
    "server/test_stored_states.py",
    "server/test_study.py",
    "server/test_surveys.py",
    "server/test_wave_schedule.py",
    "server/test_withdrawal.py",
    "survey/test_calendar.py",
    "survey/test_calibration.py",
    "survey/test_comparisons.py",
    "survey/test_coverage.py",
    "survey/test_explanation.py",
    "survey/test_liars.py",
    "survey/test_plan.py",
    "survey/test_plan_page.py",
    "survey/test_publication.py",
    "survey/test_publication_coverage.py",
    "survey/test_publication_files.py",
    "survey/test_question_cards.py",
    "survey/test_registry_entry.py",
    "survey/test_round_loss.py",
    "survey/test_small_areas.py",
    "test_anytime.py",
    "test_bench.py",
    "test_build.py",
    "test_card_tools.py",
    "test_claims_page.py",
    "test_cli.py",
    "test_coins.py",
    "test_contributing.py",
    "test_core_stubs.py",
    "test_display.py",
    "test_docstrings.py",
    "test_finite_field.py",
    "test_guide.py",
    "test_guide_claims.py",
    "test_import_order.py",
    "test_new_mechanism.py",
    "test_number_types.py",
    "test_p_values.py",
    "test_package.py",
    "test_packaging.py",
    "test_pages.py",
    "test_plausibility.py",
    "test_plots.py",
    "test_readme.py",
    "test_reference.py",
    "test_results.py",
    "test_schema.py",
    "test_signatures.py",
    "test_style.py",
    "test_tests.py",
]


def main() -> int:
    tree = build("sanitize")
    environment = os.environ | {
        "LD_PRELOAD": f"{library('libasan.so')} {library('libstdc++.so')}",
        "ASAN_OPTIONS": "detect_leaks=0",
        "UBSAN_OPTIONS": "print_stacktrace=1",
        "PYTHONMALLOC": "malloc",
        "OPENBLAS_NUM_THREADS": "1",  # both processors run tests already
        "PYTHONPATH": str(tree),
    }
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-x",
        "-n",
        "auto",
        "--dist",
        "worksteal",
        "--capture=sys",
        "--assert=plain",  # to rewrite assertions takes a minute here; `make test` shows the values
        "-p",
        "no:cacheprovider",
        "tests",
    ]
    command += [f"--ignore=tests/{name}" for name in LEFT_OUT]
    return subprocess.run(command, cwd=tree, env=environment).returncode


if __name__ == "__main__":
    sys.exit(main())
