"""Protocols of `GaussianMean`, answers to their questions, and comparisons of estimates."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ldpfast import Query
from ldpfast.estimation import GaussianEstimate, GaussianMean

from .examples import assert_same_estimate
from .internals.gaussian import Levels

SEED = 20261124
N = 20_000
KNOWN, UNKNOWN = {"sigma": 2.0}, {"sigma_bounds": (0.5, 16.0)}
PROTOCOLS = {
    f"{method}-{'known' if scale is KNOWN else 'unknown'}-{rounds}": {"method": method, "rounds": rounds, **scale}
    for method in ("robust", "paper", "efficient")
    for scale in (KNOWN, UNKNOWN)
    for rounds in (2, 1)
    if (method, rounds) != ("efficient", 1)
}
LIKELIHOOD_PROTOCOLS = [options for options in PROTOCOLS.values() if options["method"] != "paper"]
STAGES = ("new", "some", "searched", "open", "answered", "closed")


def make(options: dict[str, Any], epsilon: float = 1.0, mu_bound: float = 100.0, **more: Any) -> GaussianMean:
    return GaussianMean(epsilon, mu_bound=mu_bound, **{**options, **more})


def design_of(server: GaussianMean) -> Any:
    """Return the questions of a protocol and the numbers of people that they need."""
    return server._variant


def quiet(call: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
    """Return the result of a call without its warnings; every method warns if there are few people."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return call(*arguments, **options)


def assert_same_gaussian(actual: GaussianEstimate, expected: GaussianEstimate) -> None:
    """Check that estimates are equal in every bit."""
    assert_same_estimate(actual, expected)
    assert (actual.sigma is None) == (expected.sigma is None)
    if actual.sigma is not None:
        assert_same_estimate(actual.sigma, expected.sigma)
    assert (actual.center, actual.kappa, actual.goodness, actual.doubts) == (
        expected.center,
        expected.kappa,
        expected.goodness,
        expected.doubts,
    )


def normals(n: int, mu: float = 3.7, sigma: float = 2.0, seed: int = 0) -> np.ndarray:
    return np.random.default_rng([SEED, seed]).normal(mu, sigma, n)


def answer(
    server: GaussianMean, group: int, n: int, seed: int = 0, mu: float = 3.7, sigma: float = 2.0
) -> GaussianMean:
    """Return the server after n more answers of a group; each client has the query as bytes."""
    query = Query.from_bytes(server.query(group).to_bytes())
    x = np.random.default_rng([SEED, seed, group, server.round]).normal(mu, sigma, n)
    server.update(query, query.privatize(x, rng=seed + 1000 * group + 77 * server.round))
    return server


def answer_round(server: GaussianMean, people: int = 1500, seed: int = 0) -> GaussianMean:
    """Return the server after answers of all groups of the open round."""
    for group in range(server.groups):
        answer(server, group, people, seed)
    return server


def answer_all(server: GaussianMean, people: int = 500, seed: int = 0) -> GaussianMean:
    """Return the server with answers to all questions, in its last round."""
    answer_round(server, seed=seed)
    if server.rounds == 2:
        server.close_round()
        answer_round(server, people, seed)
    return server


def stages(options: dict[str, Any]) -> Iterator[tuple[str, GaussianMean]]:
    """Yield servers at all stages of a protocol, with their names in STAGES."""
    yield "new", make(options, n=N)
    yield "some", answer(make(options, n=N), 1, 10)
    yield "searched", answer_round(make(options, n=N))
    if options["rounds"] == 2:
        yield "open", answer_round(make(options, n=N)).close_round()
    yield "answered", answer_all(make(options, n=N))
    yield "closed", answer_all(make(options, n=N)).close_round()


def level_counts(
    levels: Levels, people: int, mu: float, sigma: float, rng: np.random.Generator | None = None
) -> np.ndarray:
    """Return the counts of the answers of all levels; without a generator the expected counts, rounded."""
    p = levels.distribution.reports(mu, sigma).value[0].reshape(len(levels), 4)
    if rng is None:
        return np.rint(people * p).astype(np.int64).ravel()
    return rng.multinomial(people, p / p.sum(axis=1, keepdims=True)).ravel()


def difficult_means(levels: Levels, rng: np.random.Generator, sigma: float) -> Iterator[float]:
    """Yield random means, means near edges of cells, zero, and both ends of the range."""
    most = 0.75 * levels.range
    for _ in range(10):
        yield rng.uniform(-most, most)
        edge = rng.integers(-6, 7) * levels.widths[rng.integers(0, len(levels) - 2)] / 2
        yield float(np.clip(edge + 0.1 * sigma * rng.standard_normal(), -most, most))
    yield from (0.0, 0.5, -0.5, most, -most)
