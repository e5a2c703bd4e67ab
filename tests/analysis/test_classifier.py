"""The classifier for randomized labels, against scikit-learn with the true labels."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import ldpfast as ldp
from ldpfast import designs
from ldpfast.analysis import LabelClassifier, RandomizedLogit

from .populations import FORCED, PLAIN, PLAIN_THREE, THREE, binary


def three(n, seed=1):
    """Return features and true labels of three classes."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 3))
    return x, (x @ rng.normal(size=(3, 3)) + rng.gumbel(size=(n, 3))).argmax(axis=1)


@pytest.mark.parametrize("strength", [0.01, 1.0])
@pytest.mark.parametrize("intercept", [True, False])
def test_true_labels_give_the_logistic_regression_of_scikit_learn(strength, intercept):
    weights = np.random.default_rng(2).random(800)
    for design, (x, labels) in ((PLAIN, binary(800, [1.0, -0.5], PLAIN)), (PLAIN_THREE, three(800))):
        options = {"C": strength, "fit_intercept": intercept}
        ours = LabelClassifier(design, **options).fit(x, labels, weights)
        theirs = LogisticRegression(tol=1e-10, max_iter=1000, **options).fit(x, labels, weights)
        np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-4, atol=1e-6)
        np.testing.assert_allclose(ours.intercept_, theirs.intercept_, rtol=1e-4, atol=1e-6)
        np.testing.assert_allclose(ours.predict_proba(x), theirs.predict_proba(x), atol=1e-6)
        np.testing.assert_allclose(ours.decision_function(x), theirs.decision_function(x), atol=1e-5)
        assert ours.score(x, labels) == pytest.approx(theirs.score(x, labels), abs=1e-6)
        assert np.array_equal(ours.predict(x) == ours.classes_[1], theirs.predict(x) == 1)


def test_without_a_penalty_it_is_the_logit():
    x, reports = binary(3000, [0.7, -0.4], FORCED)
    model, logit = LabelClassifier(FORCED, C=1e9).fit(x, reports), RandomizedLogit(FORCED).fit(x, reports)
    np.testing.assert_allclose(np.r_[model.intercept_, model.coef_[0]], logit.params, rtol=1e-5)
    assert model.guarantee_ == FORCED.guarantee
    assert model.classes_.tolist() == ["no", "yes"]


@pytest.mark.parametrize(
    "mechanism",
    [ldp.RandomizedResponse(3, 1.5), ldp.HadamardResponse(3, 1.5), ldp.FiniteChannel(THREE)],
    ids=lambda mechanism: type(mechanism).__name__,
)
def test_labels_of_every_mechanism_with_codes_teach_nearly_the_best_classifier(mechanism):
    x, labels = three(40_000)
    reports = mechanism.privatize(labels, rng=1)
    model = LabelClassifier(mechanism).fit(x[:30_000], reports[:30_000])
    best = LogisticRegression().fit(x[:30_000], labels[:30_000])
    accuracy = accuracy_score(labels[30_000:], model.predict(x[30_000:]))
    assert accuracy > best.score(x[30_000:], labels[30_000:]) - 0.01
    decoded = np.square(model._answers.decoding).max()  # of one hit, at most
    assert abs(model.score(x[30_000:], reports[30_000:]) - accuracy) < 4.5 * np.sqrt(decoded / 10_000)


def test_the_tools_of_scikit_learn_work():
    x, reports = binary(2000, [1.0, -0.5], FORCED)
    model = LabelClassifier(FORCED, C=0.3)
    copy = clone(model)
    assert copy.C == 0.3
    assert repr(copy.design) == repr(FORCED)
    scores = cross_val_score(make_pipeline(StandardScaler(), model), x, reports)
    assert ((scores > 0.4) & (scores < 1.1)).all()
    search = GridSearchCV(model, {"C": [1e-4, 1.0]}).fit(x, reports)
    assert search.best_params_ in ({"C": 1e-4}, {"C": 1.0})
    texts = np.array(FORCED.answers)[reports]
    frame = pd.DataFrame(x, columns=["age", "income"])
    named = LabelClassifier(FORCED).fit(frame, texts)
    assert named.feature_names_in_.tolist() == ["age", "income"]
    with pytest.raises(ValueError, match="feature names"):
        named.predict(frame.rename(columns={"age": "height"}))


def test_labels_that_a_feature_separates_have_a_fit():
    x = np.linspace(-1, 1, 200)[:, np.newaxis]
    model = LabelClassifier(PLAIN).fit(x, (x[:, 0] > 0).astype(int))
    assert model.coef_[0, 0] > 1
    assert np.isfinite(model.coef_).all()


def test_a_failed_fit_changes_nothing():
    x, reports = binary(500, [1.0, -0.5], FORCED)
    model = LabelClassifier(FORCED)
    with pytest.raises(NotFittedError):
        model.predict(x)
    before = model.fit(x, reports).predict(x)
    with pytest.raises(ValueError, match="reports must be"):
        model.fit(x[:, :1], np.full(500, 7))
    assert np.array_equal(model.predict(x), before)


@pytest.mark.parametrize("strength", [1.0, 1e4, 1e6])
def test_separated_labels_have_the_fit_of_scikit_learn(strength):
    x = np.random.default_rng(0).normal(size=(5000, 3))
    labels = (x[:, 0] > 0).astype(int)
    ours = LabelClassifier([[1, 0], [0, 1]], C=strength).fit(x, labels)
    theirs = LogisticRegression(C=strength, tol=1e-12, max_iter=100_000).fit(x, labels)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-3, atol=1e-3 * np.abs(theirs.coef_).max())


def test_the_fit_does_not_depend_on_the_units_of_features():
    x, labels = three(4000)
    reports = ldp.RandomizedResponse(3, 2.0).privatize(labels, rng=1)
    fits = [
        LabelClassifier(ldp.RandomizedResponse(3, 2.0), C=1e30).fit(x * unit, reports)
        for unit in (1.0, [1e9, 1.0, 1e-6])
    ]
    np.testing.assert_allclose(fits[1].coef_ * [1e9, 1.0, 1e-6], fits[0].coef_, rtol=1e-6)


def test_a_search_that_fails_says_so():
    x = np.random.default_rng(0).normal(size=(500, 3)) * 1e200
    with pytest.raises(RuntimeError, match="did not converge: scale the features"):
        LabelClassifier([[1, 0], [0, 1]]).fit(x, (x[:, 0] > 0).astype(int))


@pytest.mark.parametrize(
    "options, labels, message",
    [
        ({"C": 0}, [0, 1], "C must be"),
        ({"fit_intercept": 2}, [0, 1], "fit_intercept must be"),
        ({}, [0, 2], "reports must be"),
        ({}, [0, 1, 1], "inconsistent numbers of samples"),
    ],
)
def test_bad_input(options, labels, message):
    with pytest.raises((TypeError, ValueError), match=message):
        LabelClassifier(designs.warner(0.7), **options).fit([[1.0], [2.0]], labels)
