"""Public names that moved: the old one raises an error that names the new one, for one release."""

from __future__ import annotations

import sys

# Old names by their module. The new name is under ldpfast; a conversion is a call, in which words are placeholders.
MOVED: dict[str, dict[str, str]] = {
    "bounds": {
        name: f"bounds.methods.{name}"
        for name in (
            "assouad",
            "chi_square_contraction",
            "divergence_contraction",
            "fano",
            "hellinger_contraction",
            "kl_contraction",
            "le_cam",
            "mutual_information",
            "packing",
            "tensorized_kl",
            "tensorized_tv",
            "tv_contraction",
            "tv_of_releases",
        )
    },
    "central": {"Mean": "central.ArithmeticMean"},  # `survey.Mean` is a question
    "domains": {"categories": "domains.Labels"},
    "privacy": {
        "concentrated_delta": 'privacy.convert("concentrated", "approximate", rho, at=epsilon)',
        "concentrated_rho": 'privacy.convert("concentrated", "approximate", delta, at=epsilon, inverse=True)',
        "conditional_testing_from_dp": 'privacy.convert("approximate", "conditional-testing", epsilon, delta=delta, mass=mass)',
        "delta_from_dp": 'privacy.convert("approximate", "approximate", epsilon, delta=delta, at=at)',
        "delta_from_kl": 'privacy.convert("kl", "approximate", kl, at=epsilon)',
        "delta_from_tv": 'privacy.convert("tv", "approximate", tv, at=epsilon)',
        "dp_from_conditional_testing": 'privacy.convert("conditional-testing", "approximate", level, mass=mass, at=epsilon)',
        "epsilon_for_kl": 'privacy.convert("pure", "kl", kl, inverse=True)',
        "epsilon_for_tv": 'privacy.convert("approximate", "tv", tv, delta=delta, inverse=True)',
        "gaussian_kl": 'privacy.convert("gaussian", "kl", sigma, sensitivity=sensitivity)',
        "gaussian_tv": 'privacy.convert("gaussian", "tv", sigma, sensitivity=sensitivity)',
        "kl_for_tv": 'privacy.convert("kl", "tv", tv, inverse=True)',
        "kl_from_dp": 'privacy.convert("pure", "kl", epsilon)',
        "tv_from_dp": 'privacy.convert("approximate", "tv", epsilon, delta=delta)',
        "tv_from_kl": 'privacy.convert("kl", "tv", kl)',
    },
}


def missing(module: str, name: str) -> Exception:
    """Return the error of a name that a public module does not have.

    Python replaces an AttributeError in ``from module import name`` by a message of its own. There the error is an
    ImportError, which is shown as it is.
    """
    new = MOVED[module.partition(".")[2]].get(name)
    if new is None:
        return AttributeError(f"module {module!r} has no attribute {name!r}")
    message = f"ldpfast.{module.partition('.')[2]}.{name} is now ldpfast.{new}"
    importing = sys._getframe(2).f_code.co_name == "_handle_fromlist"  # part of the import system, in frozen code
    return ImportError(message) if importing else AttributeError(message)
