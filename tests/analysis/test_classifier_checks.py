"""The checks of scikit-learn on the classifier for randomized labels, and what it cannot do as they ask."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest
from sklearn.exceptions import DataConversionWarning
from sklearn.utils.estimator_checks import check_estimator

import ldpfast as ldp
from ldpfast import designs
from ldpfast.analysis import LabelClassifier

from .populations import FORCED, PLAIN_THREE, binary

CLASSES = "the classes are those of the design, and the check wants those of y"
CODES = "reports are codes of the design, 0 and 1, and the check has others"
TEXTS = "the classes of a design are texts, and the check compares predictions as numbers or with codes"

WANTED_CLASSES = {
    "check_classifiers_classes": CLASSES,
    "check_classifiers_train": CLASSES,
    "check_decision_proba_consistency": CLASSES,
    "check_dtype_object": CLASSES,
}
WANTED_CODES = {
    "check_classifiers_classes": CLASSES,
    "check_classifier_not_supporting_multiclass": CODES,
    "check_classifier_data_not_an_array": CODES,
    "check_estimators_dtypes": CODES,
    "check_fit2d_1feature": CODES,
    "check_sample_weights_not_an_array": CODES,
    "check_sample_weights_not_overwritten": CODES,
    "check_sample_weights_pandas_series": CODES,
    "check_sample_weights_shape": CODES,
}
WANTED_NUMBERS = {
    "check_classifiers_train": TEXTS,
    "check_estimators_pickle": TEXTS,
    "check_fit_idempotent": TEXTS,
    "check_methods_sample_order_invariance": TEXTS,
    "check_methods_subset_invariance": TEXTS,
    "check_sample_weight_equivalence_on_dense_data": TEXTS,
    "check_supervised_y_2d": TEXTS,
}
# Each estimator with the checks that it is expected to fail, as for `expected_failed_checks` of scikit-learn.
ESTIMATORS = {
    "three classes": (LabelClassifier(PLAIN_THREE), WANTED_CLASSES),
    "RandomizedResponse": (LabelClassifier(ldp.RandomizedResponse(3, 3.0)), WANTED_CLASSES),
    "two classes": (LabelClassifier([[1, 0], [0, 1]]), WANTED_CODES),
    "Design": (LabelClassifier(designs.warner(0.7)), WANTED_CODES | WANTED_NUMBERS),
}


@pytest.mark.long
@pytest.mark.parametrize("name", ESTIMATORS)
def test_all_checks_of_scikit_learn_pass_but_those_that_contradict_a_design(name):
    estimator, expected = ESTIMATORS[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        results = check_estimator(estimator, expected_failed_checks=expected, on_fail=None, on_skip=None)
    assert len(results) > 55
    assert [(result["check_name"], result["exception"]) for result in results if result["status"] == "failed"] == []
    assert {result["check_name"] for result in results if result["status"] == "xfail"} == set(expected)


def test_the_page_names_every_check_that_is_expected_to_fail():
    page = (Path(__file__).parents[2] / "docs" / "audit.md").read_text()
    assert [check for _, expected in ESTIMATORS.values() for check in expected if f"`{check}`" not in page] == []


def test_the_number_of_classes_is_a_tag():
    assert LabelClassifier(PLAIN_THREE).__sklearn_tags__().classifier_tags.multi_class
    assert not LabelClassifier(FORCED).__sklearn_tags__().classifier_tags.multi_class


def test_labels_of_a_column_are_taken_with_a_warning():
    x, reports = binary(500, [1.0, -0.5], FORCED)
    with pytest.warns(DataConversionWarning):
        model = LabelClassifier(FORCED).fit(x, reports[:, np.newaxis])
    assert np.array_equal(model.coef_, LabelClassifier(FORCED).fit(x, reports).coef_)


@pytest.mark.parametrize(
    "y, weights, message",
    [
        (None, None, "requires y to be passed, but the target y is None"),
        ([0.5, 1.0], None, "Unknown label type: continuous"),
        ([0.0, np.nan], None, "Input y contains NaN"),
        ([0, 1], [0, 0], "^sample_weight must be >= 0 with a positive sum, got only zeros$"),
        ([0, 1], [1, -1], "^sample_weight must be >= 0 with a positive sum, got -1$"),
        ([1, 1], None, "^y must have reports of more than one class, got one class"),
        ([0, 1], [0, 2], "^y must have reports of more than one class, got one class"),
    ],
)
def test_bad_reports_and_weights(y, weights, message):
    with pytest.raises(ValueError, match=message):
        LabelClassifier(designs.warner(0.7)).fit([[1.0], [2.0]], y, sample_weight=weights)


def test_score_checks_the_features_and_reports_as_fit_does():
    x, reports = binary(500, [1.0, -0.5], FORCED)
    model = LabelClassifier(FORCED).fit(x, reports)
    assert model.n_features_in_ == 2
    with pytest.raises(ValueError, match="X has 1 features, but LabelClassifier is expecting 2 features"):
        model.score(x[:, :1], y=reports)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        model.score(x, y=reports[:-1])
