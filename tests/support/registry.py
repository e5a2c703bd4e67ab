"""The structure of an entry of the registry of deployments of differential privacy, and a check of entries.

The facts are those of github.com/opendp/deployments-registry-data (OpenDP, MIT license), schemas/deployments-schema.yaml, at
commit 057e5d81: which fields there are, in which tier, of which type, with which allowed values, and which must be there. Its
template on the main branch has the same fields and more optional ones.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

TIERS = 1, 2, 3


@dataclass(frozen=True)
class Field:
    """A field: its tier, its type, its allowed values if they are listed, and whether it must be there."""

    tier: int
    kind: type = str
    allowed: tuple[Any, ...] = ()
    required: bool = False


def _text(*allowed: str, tier: int = 3, required: bool = False) -> Field:
    return Field(tier, str, allowed, required)


BASIC, LOSS = "deployment.basic", "deployment.privacy_loss"
MODEL, METHOD = "deployment.deployment_model", "deployment.implementation"
ADMINISTRATIVE = "deployment.administrative"
FIELDS = {
    "url_slug": _text(tier=1, required=True),
    **{
        f"{BASIC}.{name}": _text(tier=1, required=True)
        for name in ("name", "description", "intended_use", "data_product_region")
    },
    f"{BASIC}.data_curators.data_curator_name": _text(tier=1, required=True),
    f"{BASIC}.data_curators.data_curator_type": _text("Government", "Industry", "Nonprofit", tier=1, required=True),
    f"{BASIC}.data_product_type": _text(
        "Summary statistics",
        "Machine learning model",
        "Dataset",
        "Synthetic data",
        "Interactive API",
        "SQL queries",
        tier=1,
        required=True,
    ),
    f"{BASIC}.data_product_sector": _text(
        "Technology", "Healthcare", "Education", "Government", "Energy", "Finance", tier=1
    ),
    f"{BASIC}.publication_date": Field(1, datetime.date, required=True),
    "deployment.dp_variant.variant_name": _text(
        "Pure DP", "Approximate DP", "Zero-concentrated DP", "Renyi DP", "Custom", tier=2
    ),
    "deployment.dp_variant.data_domain": _text(),
    "deployment.dp_variant.unprotected_quantities": _text(),
    f"{LOSS}.privacy_unit": _text(tier=2),
    f"{LOSS}.privacy_unit_details": _text(),
    f"{LOSS}.number_of_privacy_units": Field(3, int),
    **{f"{LOSS}.privacy_parameters.{name}": Field(2, float) for name in ("epsilon", "delta", "rho")},
    f"{LOSS}.privacy_parameters_details": _text(),
    f"{MODEL}.model_name": _text("Local", "Central", "Shuffle", "Federated", "Varies", tier=2),
    f"{MODEL}.trust_assumptions": _text(),
    f"{MODEL}.release_type": _text("One release", "Many releases", tier=2),
    f"{MODEL}.release_type_details": _text(),
    f"{MODEL}.data_source_type": _text("Static", "Dynamic", tier=2),
    f"{MODEL}.access_type": _text("Interactive", "Non-interactive", tier=2),
    f"{MODEL}.access_type_details": _text(),
    f"{METHOD}.preprocessing_and_hyperparameter_tuning": _text(),
    **{
        f"{METHOD}.{name}": _text()
        for name in ("mechanisms", "composition", "post_processing", "justification", "utility")
    },
    f"{METHOD}.additional_information": _text(tier=1),
    f"{ADMINISTRATIVE}.status": _text(
        "Converted",
        "Draft",
        "Pending",
        "Changes Required",
        "Approved",
        "Approved (Update Requested)",
        "Approved (Pending)",
        tier=1,
        required=True,
    ),
    f"{ADMINISTRATIVE}.registry_authors": _text(tier=1, required=True),
    f"{ADMINISTRATIVE}.tier": Field(1, int, TIERS, required=True),
}
LISTS = {f"{BASIC}.data_curators", f"{ADMINISTRATIVE}.registry_authors"}  # of at least one item


def leaves(data: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the fields of an entry with their values. A list that should be one gives the fields of its items."""
    if isinstance(data, dict):
        for name, value in data.items():
            yield from leaves(value, f"{path}.{name}".removeprefix("."))
    elif isinstance(data, list) and path in LISTS:
        for item in data:
            yield from leaves(item, path)
    else:
        yield path, data


def is_valid(field: Field, value: Any) -> bool:
    if field.kind is float:
        return isinstance(value, int | float) and not isinstance(value, bool)
    if field.kind is datetime.date:
        return isinstance(value, str) and re.fullmatch(r"\d{4}-\d\d-\d\d", value) is not None and bool(_date(value))
    return type(value) is field.kind and (not field.allowed or value in field.allowed)


def _date(text: str) -> datetime.date | None:
    try:
        return datetime.date.fromisoformat(text)
    except ValueError:
        return None


def faults_of(entry: Any) -> list[str]:
    """Return the fields of an entry that are unknown, missing or not valid."""
    found = list(leaves(entry))
    unknown = [path for path, _ in found if path not in FIELDS]
    invalid = [path for path, value in found if path in FIELDS and not is_valid(FIELDS[path], value)]
    missing = [path for path, field in FIELDS.items() if field.required and path not in dict(found)]
    return unknown + invalid + missing


def slug_of(entry: Any) -> str:
    """Return the address of an entry by the rule of the registry: name, curators and year, without other characters."""
    basic = entry["deployment"]["basic"]
    curators = "-".join(curator["data_curator_name"] for curator in basic["data_curators"])
    parts = [basic["name"], curators, basic["publication_date"][:4]]
    return "-".join(re.sub(r"[^\w]+|_+", "-", part.lower()) for part in parts)
