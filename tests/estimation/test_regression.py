"""Regression estimators: the scikit-learn API, randomness and state, attributes, and recovery of coefficients."""

from __future__ import annotations

import pickle
import re
import warnings
from types import SimpleNamespace
from unittest import SkipTest

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import estimator_checks_generator

import ldpfast as ldp
from ldpfast.estimation import GradientDescent, LinearRegression, LogisticRegression, NewtonStep, PoissonRegression

from ..support.cases import each
from ..support.examples import assert_same, assert_same_estimate
from ..support.process import run_python
from ..support.regression import normal_features, sparse_and_dense

CLASSES = [LogisticRegression, LinearRegression, PoissonRegression]
REGRESSORS = CLASSES[1:]

pytestmark = [
    pytest.mark.filterwarnings("ignore::ldpfast.SmallSampleWarning"),
    pytest.mark.filterwarnings("ignore::ldpfast.ClippedWarning"),
]


@pytest.fixture(params=CLASSES, ids=lambda kind: kind.__name__)
def kind(request):
    return request.param


def data(n=400, features=3, seed=0, dtype=np.float64):
    """Rows inside and outside of the unit ball; responses that are valid classes, numbers and counts."""
    rng = np.random.default_rng(seed)
    x = rng.normal(0, 0.7, (n, features)).astype(dtype)
    return x, (x[:, 0] - x[:, 1] + rng.normal(0, 0.5, n) > 0).astype(int)


X, Y = data()


def assert_same_model(a, b):
    assert_same(a.coef_, b.coef_)
    assert_same(np.asarray(a.intercept_), np.asarray(b.intercept_))
    assert_same(a.covariance_, b.covariance_)
    assert_same_estimate(a.estimate_, b.estimate_)
    assert a.n_seen_ == b.n_seen_


# Checks of scikit-learn -----------------------------------------------------------------------------------------------

SKIPPED = {
    # name of the check: the reason why scikit-learn skips it
    "check_array_api_input": "needs SCIPY_ARRAY_API; arrays of other libraries are not supported",
}
VARIANTS = {
    "default": {},
    "full": {"covariance": "full", "fit_intercept": False, "shuffle": True, "norm": "linf"},
    "laplace": {"noise": "laplace", "epsilon": 4.0, "radius": 3.0, "intercept_scaling": 0.5},
}


@pytest.mark.long
@pytest.mark.parametrize("options", VARIANTS.values(), ids=VARIANTS)
def test_checks_of_scikit_learn_pass(kind, options):
    skipped, passed = set(), 0
    for estimator, check in estimator_checks_generator(kind(**options, random_state=0), mark=None):
        try:
            check(estimator)
            passed += 1
        except SkipTest:
            skipped.add(check.func.__name__)
    assert skipped <= set(SKIPPED)
    assert passed >= 50


# Clones, pipelines and grids ------------------------------------------------------------------------------------------


def test_clone_has_the_same_parameters_and_fit(kind):
    model = kind(epsilon=2.0, norm="linf", random_state=3, shuffle=True)
    twin = clone(model)
    assert twin is not model
    assert twin.get_params() == model.get_params()
    assert_same_model(twin.fit(X, Y), model.fit(X, Y))
    assert not hasattr(clone(model), "estimate_")
    model.set_params(epsilon=0.5)
    assert model.fit(X, Y).estimate_.epsilon <= 0.5
    assert repr(kind()) == f"{kind.__name__}()"


def test_pipeline_and_partial_fit_equal_their_steps(kind):
    """A pipeline equals its steps, and batches equal runs of one protocol."""
    pipe = make_pipeline(StandardScaler(), kind(random_state=1, radius=2.0, norm="linf")).fit(X, Y)
    scaled = StandardScaler().fit_transform(X)
    assert_same_model(pipe[-1], kind(random_state=1, radius=2.0, norm="linf").fit(scaled, Y))
    assert pipe.predict(X).shape == (400,)
    batches = kind(random_state=1, radius=2.0, norm="linf")
    for start in range(0, 400, 100):
        batches.partial_fit(scaled[start : start + 100], Y[start : start + 100])
        assert batches.n_seen_ == start + 100
    assert batches.n_features_in_ == 3
    protocol = GradientDescent(
        kind._family, 3, 1.0, norm="linf", radius=2.0, column=2.0, residual=getattr(batches, "residual", None)
    )
    for start in range(0, 400, 100):
        protocol.run(scaled[start : start + 100], Y[start : start + 100].astype(float), rng=1)
    assert_same_estimate(batches.estimate_, protocol.estimate())


@pytest.mark.long
def test_cross_validation_and_grid_search_work(kind):
    scores = cross_val_score(kind(random_state=0), X, Y, cv=3)
    assert np.isfinite(scores).all()
    search = GridSearchCV(kind(random_state=0), {"epsilon": [0.5, 8.0]}, cv=3).fit(X, Y)
    assert search.best_params_["epsilon"] in (0.5, 8.0)
    assert search.best_estimator_.n_seen_ == 400


def test_feature_names_are_kept_and_checked(kind):
    table = pd.DataFrame(X, columns=["age", "income", "height"])
    model = kind(random_state=0).fit(table, pd.Series(Y))
    assert list(model.feature_names_in_) == ["age", "income", "height"]
    assert_same_model(model, kind(random_state=0).fit(X, Y))
    lines = model.summary().splitlines()
    assert [line.split()[0] for line in lines[2:]] == ["age", "income", "height", "intercept"]
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(table[["income", "age", "height"]])
    model.partial_fit(table, Y)
    with pytest.raises(ValueError, match="feature names should match"):
        model.partial_fit(table.rename(columns={"age": "years"}), Y)


# Invalid input --------------------------------------------------------------------------------------------------------


@each("method", ["predict", "interval", "summary", "plug_in_covariance", "score"])
def test_methods_before_fit_raise_not_fitted_error(kind, method):
    arguments = {"predict": (X,), "plug_in_covariance": (np.eye(4),), "score": (X, Y)}.get(method, ())
    with pytest.raises(NotFittedError):
        getattr(kind(), method)(*arguments)


BAD = [
    ("epsilon", 0, ValueError),
    ("epsilon", "1", TypeError),
    ("norm", "l1", ValueError),
    ("intercept_scaling", 0, ValueError),
    ("intercept_scaling", "wide", TypeError),
    ("eta0", 0, ValueError),
    ("exponent", 0.5, ValueError),
    ("exponent", 1, ValueError),
    ("projection", 0, ValueError),
    ("projection", float("nan"), ValueError),
    ("covariance", "sparse", ValueError),
    ("noise", "gauss", ValueError),
    ("random_state", "1", TypeError),
    ("random_state", -1, ValueError),
    ("fit_intercept", "no", TypeError),
    ("shuffle", None, TypeError),
    ("radius", -1.0, ValueError),
]


@each("name, value, error", BAD)
def test_fit_names_the_invalid_parameter(kind, name, value, error):
    model = kind(**{name: value})
    for call in (model.fit, model.partial_fit):
        with pytest.raises(error, match=rf"^{name} must be "):
            call(X, Y)
    assert not hasattr(model, "estimate_")


@each("kind", REGRESSORS)
@each("residual, error", [(0, ValueError), (None, ValueError), ("1", TypeError)])
def test_invalid_residual_is_named(kind, residual, error):
    with pytest.raises(error, match=r"^residual must be "):
        kind(residual=residual).fit(X, Y)


def test_negative_counts_are_errors():
    y = Y.astype(float)
    y[[17, 300]] = -1
    with pytest.raises(ValueError, match=r"a number >= 0; index 17 is outside"):
        PoissonRegression().fit(X, y)


@pytest.mark.parametrize("y", [np.zeros(400, int), ["yes"] * 400])
def test_single_class_is_an_error(y):
    for call in (LogisticRegression().fit, LogisticRegression().partial_fit):
        with pytest.raises(ValueError, match=r"^y must hold two classes, got one class"):
            call(X, y)


@pytest.mark.parametrize("y", [np.arange(400) % 3, X[:, 0], X[:, :2] > 0])
def test_labels_other_than_two_classes_are_errors(y):
    with pytest.raises(ValueError, match=r"Only binary classification|y should be a 1d array"):
        LogisticRegression().fit(X, y)


def test_message_does_not_contain_the_single_class():
    with pytest.raises(ValueError, match=r"one class") as caught:
        LogisticRegression().fit(X, np.full(400, 31337))
    assert "31337" not in str(caught.value)


# Classes --------------------------------------------------------------------------------------------------------------


@each(
    "labels",
    [np.array([0, 1]), np.array([False, True]), np.array(["no", "yes"]), np.array(["no", "yes"], object), [-1.0, 2.0]],
    ids=str,
)
def test_classes_of_any_type(labels):
    """Coefficients are for the second class in sorted order, whichever comes first in the data."""
    y = np.asarray(labels)[Y]
    model, plain = LogisticRegression(random_state=0).fit(X, y), LogisticRegression(random_state=0).fit(X, Y)
    assert_same_model(model, plain)
    np.testing.assert_array_equal(model.classes_, labels)
    np.testing.assert_array_equal(model.predict(X), np.asarray(labels)[plain.predict(X)])
    assert_same_model(LogisticRegression(random_state=0).fit(X, list(y)), plain)
    assert_same_model(LogisticRegression(random_state=0).fit(X, pd.Series(y)), plain)


def test_class_probabilities_follow_the_logistic_model():
    model = LogisticRegression(random_state=0, epsilon=8.0).fit(X, Y)
    probabilities, log, odds = model.predict_proba(X), model.predict_log_proba(X), model.decision_function(X)
    assert probabilities.shape == log.shape == (400, 2)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1)
    np.testing.assert_allclose(np.log(probabilities), log, atol=1e-12)
    np.testing.assert_allclose(log[:, 1] - log[:, 0], odds, atol=1e-12)
    np.testing.assert_array_equal(model.predict(X), (odds > 0).astype(int))
    np.testing.assert_allclose(odds, X @ model.coef_[0] + model.intercept_[0])
    far = model.predict_log_proba(1e6 * X)
    assert np.isfinite(far).all()


def test_declared_classes_hold_for_all_batches():
    """Rows of the first batch may have one class only, if both classes are declared."""
    model = LogisticRegression(random_state=0).partial_fit(X[:5], np.zeros(5, int), classes=[1, 0])
    np.testing.assert_array_equal(model.classes_, [0, 1])
    model.partial_fit(X, Y).partial_fit(X, Y, classes=[0, 1])
    assert model.n_seen_ == 805
    before = pickle.dumps(model)
    for y, classes, message in (
        (Y, [0, 2], "classes must be those of the first call"),
        (np.where(Y, 1, 2), None, f"y must hold the two classes only; index {np.argmin(Y)} is in neither"),
        (np.array(["no", "yes"])[Y], None, "y must hold the two classes only; index 0 is in neither"),
    ):
        with pytest.raises(ValueError, match=rf"^{message}$"):
            model.partial_fit(X, y, classes=classes)
        assert_same_model(model, pickle.loads(before))
    for classes in ([1], [0, 1, 2], [1, 1]):
        with pytest.raises(ValueError, match=rf"^classes must be two different classes, got {len(set(classes))}$"):
            LogisticRegression().partial_fit(X, Y, classes=classes)
    assert model.fit(X, Y + 1).classes_.tolist() == [1, 2]  # `fit` replaces the declared classes


def test_failed_call_does_not_store_classes():
    model = LogisticRegression(epsilon=-1.0)
    with pytest.raises(ValueError, match=r"^epsilon must be"):
        model.partial_fit(X, Y, classes=[0, 1])
    model.set_params(epsilon=1.0).partial_fit(X, Y + 1, classes=[1, 2])


# Randomness and state -------------------------------------------------------------------------------------------------

STATES = {
    "int": lambda: 7,
    "numpy": lambda: np.int64(7),
    "RandomState": lambda: np.random.RandomState(7),
    "Generator": lambda: np.random.default_rng(7),
    "SeedSequence": lambda: np.random.SeedSequence(7),
    "BitGenerator": lambda: np.random.PCG64(7),
}


@each("state", STATES.values(), ids=STATES)
def test_equal_random_states_give_equal_models(kind, state):
    first, second = kind(random_state=state()).fit(X, Y), kind(random_state=state()).fit(X, Y)
    assert_same_model(first, second)
    other = kind(random_state=8).fit(X, Y)
    assert (first.coef_ != other.coef_).any()
    if isinstance(state(), int | np.random.SeedSequence):
        assert_same_model(first.fit(X, Y), second)


@each("state", STATES.values(), ids=STATES)
def test_random_state_continues_in_partial_fit(kind, state):
    a, b = kind(random_state=state()), kind(random_state=state())
    for rows in (slice(0, 100), slice(100, 400)):
        assert_same_model(a.partial_fit(X[rows], Y[rows]), b.partial_fit(X[rows], Y[rows]))
    assert a.n_seen_ == 400
    assert (a.coef_ != kind(random_state=7).fit(X[100:], Y[100:]).coef_).any()


def test_fits_without_random_state_differ(kind):
    assert len({kind().fit(X, Y).coef_.tobytes() for _ in range(5)}) == 5


@pytest.mark.parametrize("covariance", ["diagonal", "full"])
def test_model_can_be_pickled_between_batches(kind, covariance):
    model = kind(random_state=5, covariance=covariance).partial_fit(X[:100], Y[:100])
    twin = pickle.loads(pickle.dumps(model))
    assert_same_model(twin, model)
    assert_same_model(twin.partial_fit(X[100:], Y[100:]), model.partial_fit(X[100:], Y[100:]))
    assert_same(twin.predict(X), model.predict(X))


def test_fit_discards_earlier_batches(kind):
    model = kind(random_state=5).partial_fit(X, Y).partial_fit(X, Y)
    assert_same_model(model.fit(X[:200], Y[:200]), kind(random_state=5).fit(X[:200], Y[:200]))
    assert model.fit(X[:, :2], Y).n_features_in_ == 2


def test_single_precision_gives_nearly_the_same_coefficients(kind):
    a, b = (kind(random_state=0).fit(X.astype(np.float32).astype(dtype), Y) for dtype in (np.float32, np.float64))
    np.testing.assert_allclose(a.coef_, b.coef_, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("norm", ["l2", "linf"])
def test_rows_are_clipped_to_the_radius(kind, norm):
    """Rows outside of the ball, scaled by powers of two up to 2^36, are equal after clipping."""
    outside = 2 * (X / np.linalg.norm(X, axis=1, keepdims=True) if norm == "l2" else np.sign(X))
    expected = kind(random_state=0, norm=norm).fit(outside, Y)
    for scale in (2.0, 2.0**20, 2.0**36):
        assert_same_model(kind(random_state=0, norm=norm).fit(outside * scale, Y), expected)
    y = Y if kind is LogisticRegression else Y * 1e300
    assert np.isfinite(kind(random_state=0, norm=norm).fit(X * 1e300, y).coef_).all()


def test_shuffle_uses_each_row_once(kind):
    """The kernel receives the rows in place, and a random permutation."""
    model = kind(random_state=0, shuffle=True)
    taken = []
    descent, kernel = model._protocol(3, None), model._protocol(3, None)._kernel
    run = lambda *arguments: (taken.append(arguments[4]), kernel.run(*arguments))  # noqa: E731
    descent._kernel = SimpleNamespace(rows=kernel.rows, padded=kernel.padded, run=run)
    descent.run(X, Y.astype(float), rng=0, shuffle=True)
    order = np.concatenate(taken)
    np.testing.assert_array_equal(np.sort(order), np.arange(400))
    assert (order != np.arange(400)).any()
    assert_same(X, data()[0])


# Published attributes -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("covariance", ["diagonal", "full"])
def test_shapes_of_attributes_and_intervals(kind, intercept, covariance):
    model = kind(random_state=0, fit_intercept=intercept, covariance=covariance, method="sgd").fit(X, Y)
    dim = 3 + intercept
    classifier = kind is LogisticRegression
    assert model.coef_.shape == ((1, 3) if classifier else (3,))
    assert np.shape(model.intercept_) == ((1,) if classifier else ())
    assert (np.ravel(model.intercept_)[0] != 0) == intercept
    assert model.covariance_.shape == ((dim, dim) if covariance == "full" else (dim,))
    for limits in (model.interval(), model.interval(0.5), model.interval(simultaneous=True)):
        assert [limit.shape for limit in limits] == [(dim,), (dim,)]
    (low, high), (lower, higher) = model.interval(), model.interval(simultaneous=True)
    value = np.append(np.ravel(model.coef_), np.ravel(model.intercept_))[:dim]
    assert ((lower < low) & (low < value) & (value < high) & (high < higher)).all()
    assert model.estimate_.n == model.n_seen_ == 400
    with pytest.raises(ValueError, match=r"^confidence must be in \(0, 1\), got 1$"):
        model.interval(1)
    with pytest.raises(ValueError, match=rf"^hessian must be a finite matrix of shape \({dim}, {dim}\)"):
        model.plug_in_covariance(np.eye(7))
    matrix = model.plug_in_covariance(np.eye(dim))
    assert (np.linalg.eigvalsh(matrix) > 0).all()


@pytest.mark.parametrize("scaling", [None, 0.25])
def test_full_covariance_has_the_diagonal(kind, scaling):
    full, diagonal = (
        kind(random_state=0, covariance=c, intercept_scaling=scaling, method="sgd").fit(X, Y)
        for c in ("full", "diagonal")
    )
    assert_same(full.coef_, diagonal.coef_)
    np.testing.assert_allclose(np.diag(full.covariance_), diagonal.covariance_, rtol=1e-9)
    np.testing.assert_allclose(full.covariance_, full.covariance_.T, rtol=1e-12)
    assert (np.linalg.eigvalsh(full.covariance_) >= 0).all()
    np.testing.assert_allclose(np.sqrt(diagonal.covariance_), diagonal.estimate_.stderr, rtol=1e-12)


def test_summary_is_a_table(kind):
    model = kind(random_state=0).fit(X, Y)
    first, head, *rows = model.summary(0.9).splitlines()
    assert first == f"{kind.__name__}, n = 400, epsilon = 1"
    assert head.split() == ["coefficient", "std.", "error", "90", "%", "interval"]
    assert [row.split()[0] for row in rows] == ["x0", "x1", "x2", "intercept"]
    low, high = model.interval(0.9)
    expected = np.stack([model.estimate_.value, model.estimate_.stderr, low, high], axis=1)
    np.testing.assert_allclose([[float(word) for word in row.split()[1:]] for row in rows], expected, rtol=1e-4)
    assert len({len(row) for row in rows}) == 1
    assert "intercept" not in kind(random_state=0, fit_intercept=False).fit(X, Y).summary()


@pytest.mark.filterwarnings("error")
def test_too_few_rows_are_a_warning(kind):
    model = kind(random_state=0, epsilon=0.5, eta0=1.0, method="sgd")
    with pytest.warns(
        ldp.SmallSampleWarning, match=r"^n = 20 is too small .* at most [0-9.]+, and must be at least [0-9]+\)$"
    ):
        model.fit(X[:20], Y[:20])
    model.set_params(eta0=1e6).fit(X[:20], Y[:20])


# Choice of the method -------------------------------------------------------------------------------------------------

TOO_FEW = r"^n = {} is too small for intervals: .*\(NaN\)\. The Newton step, which has them, {}$"


def choosing(kind, epsilon, **options):
    """Return a model, and the protocols between which its `fit` chooses for three features."""
    model = kind(epsilon, random_state=1, **options)
    options |= {"column": model.radius / 3**0.5, "residual": getattr(model, "residual", None), "noise": "auto"}
    newton = NewtonStep(kind._family, 3, epsilon, n=400, **options)
    return model, newton, GradientDescent(kind._family, 3, epsilon, **options)


@pytest.mark.claim("Regressions with too few rows for valid intervals have none, and a warning.", "Estimates")
@pytest.mark.parametrize("covariance", ["diagonal", "full"])
def test_few_rows_have_the_best_descent_and_no_intervals(kind, covariance):
    model, newton, descent = choosing(kind, 8.0, covariance=covariance)
    if kind is LinearRegression:  # so that steps are short
        model.set_params(eta0=0.01)
        descent = GradientDescent("linear", 3, 8.0, column=1 / 3**0.5, residual=1.0, noise="auto", eta0=0.01)
    with pytest.warns(
        ldp.SmallSampleWarning, match=TOO_FEW.format(400, f"needs at least {newton.sufficient_n} rows")
    ) as found:
        model.fit(X, Y)
    assert len(found) == 1 + any(issubclass(each.category, ldp.ClippedWarning) for each in found)
    expected = descent.run(X, Y.astype(float), rng=1)
    assert_same(model.estimate_.value, expected.value)
    assert model.estimate_.epsilon == expected.epsilon
    assert model.covariance_.shape == ((4, 4) if covariance == "full" else (4,))
    for numbers in (model.covariance_, model.estimate_.stderr, *model.interval(), *model.interval(simultaneous=True)):
        assert np.isnan(numbers).all()
    assert all(row.split()[2:] == ["nan"] * 3 for row in model.summary().splitlines()[2:])
    twin = pickle.loads(pickle.dumps(model))
    assert_same_model(twin.partial_fit(X, Y), model.partial_fit(X, Y))  # continues without intervals
    assert model.n_seen_ == 800
    assert np.isnan(model.covariance_).all()
    descent.run(X, Y.astype(float), rng=1)
    assert_same(model.estimate_.value, descent.estimate().value)


def test_the_choice_depends_on_public_numbers_alone():
    """One row more, and `fit` takes the Newton step, for any rows."""
    options = {"radius": 1.0, "fit_intercept": False, "random_state": 1}
    n = NewtonStep("logistic", 1, 12.0, n=4).sufficient_n
    varied = np.random.default_rng(1).uniform(-1, 1, (n, 1)), np.arange(n) % 2
    for x, y in (varied, (np.zeros((n, 1)), np.arange(n) == 0)):
        with pytest.warns(ldp.SmallSampleWarning, match=TOO_FEW.format(n - 1, f"needs at least {n} rows")):
            few = LogisticRegression(12.0, **options).fit(x[:-1], y[:-1])
        assert np.isnan(few.covariance_).all()
        with warnings.catch_warnings():
            warnings.simplefilter("error", ldp.SmallSampleWarning)
            warnings.simplefilter("ignore", ldp.DoubtfulWarning)
            enough = LogisticRegression(12.0, **options).fit(x, y)
            expected = NewtonStep("logistic", 1, 12.0, n=n).run(x, y.astype(float), rng=1)
        assert_same_estimate(enough.estimate_, expected)
        assert (enough.covariance_ > 0).all()


@pytest.mark.filterwarnings("error")
def test_few_rows_of_a_linear_model_have_intervals_if_they_mix():
    model, newton, descent = choosing(LinearRegression, 8.0, radius=3.0)
    assert newton.sufficient_n > 3000
    x, y = data(3000)
    model.fit(x, y)
    assert_same_estimate(model.estimate_, descent.run(x, y.astype(float), rng=1))
    assert (model.covariance_ > 0).all()


def test_many_features_have_no_newton_step():
    x = np.random.default_rng(1).normal(size=(30, 512)) / 100
    model = LogisticRegression(1.0, random_state=1)
    with pytest.warns(ldp.SmallSampleWarning, match=TOO_FEW.format(30, "has fewer than 512 features")):
        model.fit(x, Y[:30])
    assert np.isnan(model.covariance_).all()


@pytest.mark.long
@pytest.mark.claim(
    "`LogisticRegression` predicts 54 features from 50,000 rows: accuracy 0.81 at epsilon 4, 0.85 at 8.", "Estimates"
)
@pytest.mark.filterwarnings("ignore::ldpfast.DoubtfulWarning")
@pytest.mark.parametrize(
    "people, epsilon, least",
    [
        (sparse_and_dense, 4.0, 0.87),
        (sparse_and_dense, 8.0, 0.885),
        (normal_features, 4.0, 0.81),
        (normal_features, 8.0, 0.85),
    ],
)
def test_accuracy_far_below_the_sufficient_n(people, epsilon, least):
    """Mean accuracy for new rows over two data sets of 50,000 rows and 54 features; that of half-spaces is far below it.

    The true coefficients have 0.95 and 0.90.
    """
    found, faster = [], []
    for seed in range(2):
        rng = np.random.default_rng(seed)
        x, odds, radius = people(60_000, rng)
        y = rng.random(60_000) < 1 / (1 + np.exp(-odds))
        for noise, accuracies in (("auto", found), ("half-space", faster)):
            model = LogisticRegression(epsilon, radius=radius, noise=noise, random_state=seed)
            accuracies.append(model.fit(x[:50_000], y[:50_000]).score(x[50_000:], y[50_000:]))
    assert np.mean(found) > least
    assert np.mean(faster) < np.mean(found) - 0.03


@pytest.mark.parametrize(
    "name, value", [("epsilon", 1.0), ("radius", 2.0), ("noise", "laplace"), ("fit_intercept", False)]
)
@pytest.mark.parametrize("continued", ["fit", "partial_fit"])
@pytest.mark.filterwarnings("ignore::ldpfast.SmallSampleWarning", "ignore::ldpfast.ClippedWarning")
def test_further_rows_are_asked_the_same_questions(kind, name, value, continued):
    """With the new epsilon, not with another one than the parameters say."""
    model = getattr(kind(4.0, random_state=1), continued)(X, Y)
    before = model.coef_.copy()
    with pytest.raises(ValueError, match=f"^{name} must be that of the rows before, .*, got {value!r}"):
        model.set_params(**{name: value}).partial_fit(X, Y)
    assert_same(model.coef_, before)
    assert model.n_seen_ == len(X)
    assert model.fit(X, Y).n_seen_ == len(X)
    assert model.partial_fit(X, Y).n_seen_ == 2 * len(X)


def test_the_intercept_of_a_rare_class_needs_a_larger_scaling():
    """The default is made for equal shares of the classes: a rare class gets wrong probabilities, and a warning."""
    rng = np.random.default_rng(1)
    x, rare, means = rng.uniform(-1, 1, (6000, 20)), rng.random(6000) < 0.05, []
    for scaling in (None, 20**0.5):
        model = LogisticRegression(8.0, radius=20**0.5, intercept_scaling=scaling, noise="half-space", random_state=1)
        with pytest.warns(
            ldp.SmallSampleWarning, match="near it, most of all the intercept .a larger intercept_scaling"
        ):
            model.fit(x, rare)
        means.append(model.predict_proba(x)[:, 1].mean())
    assert means[0] > 0.3
    assert means[1] < 0.2


def test_the_best_mechanism_is_more_accurate_with_few_rows():
    """Of 12 features, at epsilon 8: error of the direction of the coefficients, over four runs."""
    truth, errors = np.resize([1.0, -0.5, 0.7], 12), {"auto": 0.0, "half-space": 0.0}
    for seed in range(4):
        rng = np.random.default_rng(seed)
        x = rng.uniform(-1, 1, (2000, 12))
        y = rng.random(2000) < 1 / (1 + np.exp(-x @ truth))
        for noise in errors:
            model = LogisticRegression(8.0, radius=12**0.5, noise=noise, random_state=seed).fit(x, y)
            slope = model.coef_[0] / np.linalg.norm(model.coef_)
            errors[noise] += float(np.square(slope - truth / np.linalg.norm(truth)).sum())
    assert errors["auto"] < 0.6 * errors["half-space"]


# Recovery of coefficients ---------------------------------------------------------------------------------------------

TRUTH = np.array([0.8, -0.5, 0.2])  # the intercept is last


def model_data(family, n, rng):
    """Two features that are independent signs / sqrt 2, so |row| = 1, and residuals below the clipping bound."""
    x = rng.choice([-1.0, 1.0], (n, 2)) / 2**0.5
    z = x @ TRUTH[:2] + TRUTH[2]
    if family == "logistic":
        return x, (rng.random(n) < 1 / (1 + np.exp(-z))).astype(int)
    return x, z + rng.random(n) - 0.5 if family == "linear" else 2 * np.exp(z) * rng.integers(0, 2, n)


@pytest.mark.parametrize(
    "norm, noise", [("l2", "half-space"), ("linf", "half-space"), ("l2", "laplace"), ("linf", "laplace")]
)
def test_known_coefficients_are_recovered(kind, norm, noise):
    """Errors are within eight asymptotic standard errors, plus a tenth of the largest coefficient.

    The asymptotic covariance is H^-1 S H^-1 / n with the true H. The tenth allows for the bias from curvature.
    Detects a wrong sign, scale or intercept.
    """
    family, n, epsilon = kind._family, 200_000, 4.0
    options = {} if kind is LogisticRegression else {"residual": {"linear": 1.0, "poisson": 4.0}[family]}
    x, y = model_data(family, n, np.random.default_rng(4))
    model = kind(epsilon, norm=norm, noise=noise, random_state=4, **options).fit(x, y)
    z = x @ TRUTH[:2] + TRUTH[2]
    weight = {"logistic": 1 / (2 + 2 * np.cosh(z)), "linear": np.ones(n), "poisson": np.exp(z)}[family]
    design = np.column_stack([x, np.ones(n)])
    stderr = np.sqrt(np.diag(model.plug_in_covariance(design.T @ (weight[:, np.newaxis] * design) / n)))
    error = np.abs(model.estimate_.value - TRUTH)
    assert (error <= 8 * stderr + 0.1 * np.abs(TRUTH).max()).all()
    assert (stderr < 0.1).all()  # small enough to detect errors of the coefficients


# Without scikit-learn -------------------------------------------------------------------------------------------------

BLOCKED = """
import sys
sys.modules["sklearn"] = None
import ldpfast.estimation as estimation
estimation.GradientDescent("logistic", 2, 1.0)
for name in ("LogisticRegression", "LinearRegression", "PoissonRegression"):
    try:
        getattr(estimation, name)
    except ImportError as error:
        print(error)
try:
    estimation.RidgeRegression
except AttributeError as error:
    print(error)
"""


def test_import_error_names_the_missing_extra():
    finished = run_python(BLOCKED)
    assert finished.returncode == 0, finished.stderr
    *errors, attribute = finished.stdout.splitlines()
    assert len(errors) == 3
    assert all(re.fullmatch(r"sklearn\S* is not installed: run pip install scikit-learn", error) for error in errors)
    assert attribute == "module 'ldpfast.estimation' has no attribute 'RidgeRegression'"


@pytest.mark.filterwarnings("default::ldpfast.ClippedWarning")
@pytest.mark.parametrize("norm", ["l2", "linf"])
def test_clipped_rows_are_a_warning(kind, norm):
    """With their share, once per call; rows on the boundary are not clipped."""
    options = {} if kind is LogisticRegression else {"residual": 2.0}
    rows, y = np.tile([1.0, 0.0], (40, 1)), np.arange(40) % 2
    with warnings.catch_warnings():
        warnings.simplefilter("error", ldp.ClippedWarning)
        model = kind(norm=norm, **options).fit(rows, y)
    rows[:10] *= 100
    message = (
        r"^10 of 40 rows \(0.25 of all\) were clipped to radius=1: .* Scale the features, or choose a larger radius$"
    )
    for fit in (model.fit, model.partial_fit):
        with pytest.warns(ldp.ClippedWarning, match=message):
            fit(rows, y)


def test_messages_about_text_hold_no_value():
    """scikit-learn's own message quotes the value."""
    model, rows = LinearRegression(1.0, random_state=1), np.array([[0.1, 0.2], [0.3, 0.4]], object)
    bad = rows.copy()
    bad[1, 0] = "Sicher734"
    for table, y in ((bad, [1.0, 2.0]), (rows, [1.0, "Sicher734"])):
        with pytest.raises(ValueError, match="must hold numbers") as caught:
            model.fit(table, y)
        assert "Sicher" not in str(caught.value)
        assert caught.value.__suppress_context__
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(rows.astype(float), [1.0, 2.0])
    with pytest.raises(ValueError, match="X must hold numbers"):
        model.predict(bad)
    labels = np.array([3.5, "Sicher734"], object)
    with pytest.raises(ValueError, match="Unknown label type: y must hold two classes, as numbers") as caught:
        LogisticRegression(1.0).fit(rows, labels)
    assert "Sicher" not in str(caught.value)
