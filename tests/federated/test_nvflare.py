"""The filter and the aggregator for NVFlare: called as its runners call them, and in its simulator."""

from __future__ import annotations

import doctest
import itertools
import json
import os
import subprocess
import sys

import numpy as np
import pytest
from nvflare.apis.dxo import DXO, DataKind, from_shareable
from nvflare.apis.fl_constant import FilterKey, FLContextKey, ReturnCode
from nvflare.apis.fl_context import FLContext, FLContextManager
from nvflare.apis.shareable import Shareable, make_reply
from nvflare.apis.utils.task_utils import apply_filters
from nvflare.app_common.abstract.fl_model import FLModel, ParamsType
from nvflare.app_common.app_constant import AppConstants
from nvflare.app_common.app_event_type import AppEventType
from nvflare.app_common.decomposers import common_decomposers
from nvflare.app_common.utils.fl_model_utils import FLModelUtils
from nvflare.fuel.utils import fobs
from nvflare.private.privacy_manager import Scope

import ldpfast as ldp
import ldpfast.nvflare
from ldpfast.mechanisms import Layers
from ldpfast.nvflare import PrivatizeFilter, ReportAggregator
from ldpfast.privacy import Guarantee

MODEL = {"weight": np.linspace(-1, 1, 12, dtype=np.float32).reshape(3, 4), "bias": np.zeros(4)}
EPSILON = 8.0
OPTIONS = {"radius": 0.5, "signs": 64}
REPORT, ROTATION = "ldpfast-report", "ldpfast-rotation"


def update_of(site):
    rng = np.random.default_rng(site)
    return {name: rng.normal(0, 0.1, value.shape).astype(value.dtype) for name, value in reversed(MODEL.items())}


class Server:
    """The contexts of a server, which sends tasks and receives results as the controllers of NVFlare do."""

    def __init__(self, aggregator):
        self.aggregator = aggregator
        self.contexts = FLContextManager(identity_name="server", job_id="job", public_stickers={}, private_stickers={})

    def task(self, model=None):
        """Return the context with which a task is sent."""
        context = self.contexts.new_context()
        task = FLModelUtils.to_shareable(FLModel(params=dict(MODEL if model is None else model)))
        context.set_prop(AppConstants.TRAIN_SHAREABLE, task, private=True, sticky=False)
        self.aggregator.handle_event(AppEventType.BEFORE_TRAIN_TASK, context)
        return context

    def receive(self, result):
        """Add a result, which travels as bytes."""
        common_decomposers.register()
        self.aggregator.accept_model(FLModelUtils.from_shareable(fobs.loads(fobs.dumps(result))))


def context_of(server_context):
    """Return the context of a site, which gets the public properties of the server with the task."""
    public, context = FLContext(), FLContext()
    for name, value in server_context.get_all_public_props().items():
        public.set_prop(name, value, private=False, sticky=False)
    context.set_peer_context(public)
    return context


def result_of(update, kind=DataKind.WEIGHT_DIFF):
    """Return what an executor returns: the update, and more."""
    result = DXO(
        kind, data=update, meta={"NUM_STEPS_CURRENT_ROUND": 7, "initial_metrics": {"loss": 0.25}}
    ).to_shareable()
    result.set_header("of the script", "private")
    return result


def filter_of(rounds=9, **options):
    return PrivatizeFilter(EPSILON, rounds=rounds, **{**OPTIONS, **options})


@pytest.fixture
def server():
    return Server(ReportAggregator(EPSILON, **OPTIONS))


def report_of(result):
    return from_shareable(result).data[REPORT]


@pytest.mark.claim("The adapter for NVFlare gives the numbers of the library with the same keys.", "Federated learning")
def test_a_round_has_the_numbers_of_the_plain_library(server, monkeypatch):
    """Bit for bit: rotation, update, report, sum, mean."""
    plain, numbers = ldp.RotatedSigns.privatize, itertools.count(1)
    monkeypatch.setattr(
        ldp.RotatedSigns, "privatize", lambda self, x, **options: plain(self, x, **options, rng=next(numbers))
    )
    contexts = [context_of(server.task()) for _ in range(5)]
    rotations = {context.get_peer_context().get_prop(ROTATION) for context in contexts}
    assert len(rotations) == 1
    layers = Layers({name: MODEL[name] for name in sorted(MODEL)})
    mechanism = ldp.RotatedSigns(layers.dim, EPSILON, rotation=rotations.pop(), **OPTIONS)
    reports = []
    for site, context in enumerate(contexts, start=1):
        result = filter_of().process(result_of(update_of(site)), context)
        reports.append(plain(mechanism, layers.vector(update_of(site)), clip=True, rng=site))
        assert report_of(result) == mechanism.message(reports[-1])
        server.receive(result)
    model, estimate = server.aggregator.aggregate_model(), mechanism.estimate(reports)
    assert model.params_type == ParamsType.DIFF
    assert model.meta == {"reports": 5, "refused": 0, "stderr": float(estimate.stderr.max())}
    for name, value in layers.tensors(estimate.value).items():
        assert model.params[name].dtype == MODEL[name].dtype
        np.testing.assert_array_equal(model.params[name], value)
    updated = FLModelUtils.update_model(FLModel(params=dict(MODEL)), model)
    np.testing.assert_array_equal(updated.params["bias"], MODEL["bias"] + estimate.value[:4])


def test_nothing_but_the_report_leaves_the_site(server):
    result = filter_of().process(result_of(update_of(1)), context_of(server.task()))
    assert json.dumps({**result, "DXO": None}) == json.dumps(
        {**DXO(DataKind.WEIGHT_DIFF, {}).to_shareable(), "DXO": None}
    )
    assert result["DXO"] == {"kind": DataKind.WEIGHT_DIFF, "data": {REPORT: report_of(result)}, "meta": {}}
    assert len(report_of(result)) == 11 + 16


def test_each_round_has_another_rotation(server):
    context = context_of(server.task())
    old = filter_of().process(result_of(update_of(1)), context)
    server.aggregator.reset_stats()
    again = context_of(server.task())
    assert context.get_peer_context().get_prop(ROTATION) != again.get_peer_context().get_prop(ROTATION)
    server.receive(old)
    server.receive(filter_of().process(result_of(update_of(1)), again))
    assert server.aggregator.aggregate_model().meta["reports"] == 1
    assert server.aggregator.privacy_spent() == Guarantee("local", 2 * EPSILON)
    assert server.aggregator.privacy_spent(1e-6).epsilon <= 2 * EPSILON


@pytest.mark.claim("A site of NVFlare refuses more rounds than it was configured for.", "Federated learning")
@pytest.mark.parametrize("kept", [False, True], ids=["memory", "file"])
def test_more_rounds_than_configured_are_refused(server, tmp_path, kept):
    """In memory for one process, in a file for all of them."""
    options = {"ledger": str(tmp_path / "rounds.json")} if kept else {}
    site, context = filter_of(2, **options), context_of(server.task())
    for _ in range(2):
        site.process(result_of(update_of(1)), context)
    with pytest.raises(ValueError, match="the client answers at most 2 rounds, and has answered 2"):
        site.process(result_of(update_of(1)), context)
    restarted = filter_of(2, **options)
    if kept:
        with pytest.raises(ValueError, match="the client answers at most 2 rounds"):
            restarted.process(result_of(update_of(1)), context)
    else:
        assert report_of(restarted.process(result_of(update_of(1)), context))


@pytest.mark.parametrize(
    "result, text",
    [
        (
            lambda: result_of(dict(MODEL), DataKind.WEIGHTS),
            "must be DataKind.WEIGHT_DIFF, as with TransferType.DIFF, got DataKind.WEIGHTS",
        ),
        (lambda: result_of({"accuracy": 0.5}, DataKind.METRICS), "got DataKind.METRICS"),
        (lambda: result_of({"steps": np.zeros(3, np.int64)}), "must be floats"),
        (lambda: Shareable({"private": 42}), "not a valid DXO"),
    ],
)
def test_other_results_are_errors(server, result, text):
    """Nothing passes that is no report; the runner of NVFlare sends the return code of the error only."""
    with pytest.raises((TypeError, ValueError), match=text):
        filter_of().process(result(), context_of(server.task()))


def test_a_failed_task_keeps_its_return_code_only(server):
    failed = make_reply(ReturnCode.EXECUTION_EXCEPTION, headers={"private": 42})
    failed["private"] = 42
    found = filter_of().process(failed, context_of(server.task()))
    assert found == make_reply(ReturnCode.EXECUTION_EXCEPTION)


@pytest.mark.parametrize("code", ["the record is 42", 42, ["the record is 42"]])
def test_a_return_code_tells_no_more_than_one_of_the_framework(server, code):
    """An executor may put any text there."""
    found = filter_of().process(make_reply(code), context_of(server.task()))
    assert found == make_reply(ReturnCode.EXECUTION_EXCEPTION)
    timeout = make_reply(ReturnCode.TIMEOUT)
    assert filter_of().process(make_reply(ReturnCode.TIMEOUT), context_of(server.task())) == timeout


def test_without_a_rotation_nothing_is_sent():
    for context in (FLContext(), context_of(FLContext())):
        with pytest.raises(ValueError, match="must announce a rotation: use ReportAggregator"):
            filter_of().process(result_of(update_of(1)), context)


def test_results_that_are_no_reports_of_this_server_are_left_out(server, caplog):
    """Updates without the filter, other parameters, and damaged messages."""
    context = context_of(server.task())
    good = filter_of().process(result_of(update_of(1)), context)
    damaged = DXO(DataKind.WEIGHT_DIFF, data={REPORT: report_of(good)[:-1]}).to_shareable()
    other = PrivatizeFilter(1.0, rounds=5, **OPTIONS).process(result_of(update_of(1)), context)
    for result in (good, damaged, other, result_of(update_of(2))):
        server.receive(result)
    meta = server.aggregator.aggregate_model().meta
    assert (meta["reports"], meta["refused"]) == (1, 3)
    assert caplog.text.count("is left out") == 3


def test_without_reports_the_model_stays(server):
    server.task()
    model = server.aggregator.aggregate_model()
    assert model.meta["reports"] == 0
    assert all((value == 0).all() for value in model.params.values())
    with pytest.raises(RuntimeError, match="a task must be sent"):
        ReportAggregator(EPSILON).aggregate_model()


def test_scatter_and_gather_uses_the_same_aggregator(server):
    """The controller of older jobs gives results to `accept`, and takes the mean from `aggregate`."""
    context = server.task()
    result = filter_of().process(result_of(update_of(1)), context_of(context))
    assert server.aggregator.accept(result, context)
    found = from_shareable(server.aggregator.aggregate(context))
    assert found.data_kind == DataKind.WEIGHT_DIFF
    assert found.meta["reports"] == 1
    assert {name: value.shape for name, value in found.data.items()} == {
        name: value.shape for name, value in MODEL.items()
    }
    server.aggregator.reset(context)
    with pytest.raises(RuntimeError, match="a task must be sent"):
        server.aggregator.aggregate(context)


def test_updates_with_nan_give_reports(server):
    result = filter_of().process(result_of({**update_of(1), "bias": np.full(4, np.nan)}), context_of(server.task()))
    assert len(report_of(result)) == 27


def test_a_filter_of_the_site_needs_no_event(server):
    """Filters of `privacy.json` belong to a scope, and get no events."""
    scope, context = Scope(), context_of(server.task())
    scope.add_task_result_filter(filter_of(), FilterKey.OUT)
    context.set_prop(FLContextKey.SCOPE_OBJECT, scope, private=True, sticky=False)
    found = apply_filters("task_result_filters", result_of(update_of(1)), context, {}, "any task", FilterKey.OUT)
    assert len(report_of(found)) == 27


@pytest.mark.parametrize(
    "make, text",
    [
        (lambda: PrivatizeFilter(-1.0, rounds=5), "epsilon must be"),
        (lambda: PrivatizeFilter(1.0, rounds=0), "rounds must be"),
        (lambda: ReportAggregator(1.0, radius=0.0), "radius must be"),
        (lambda: ReportAggregator(1.0, signs=3), "signs must be a power of two"),
    ],
)
def test_wrong_arguments_are_refused(make, text):
    with pytest.raises(ValueError, match=text):
        make()


def test_the_examples_of_the_docstrings_run():
    result = doctest.testmod(ldpfast.nvflare)
    assert result.attempted > 6
    assert result.failed == 0


SCRIPT = """
import nvflare.client as flare

flare.init()
while flare.is_running():
    model = flare.receive().params
    trained = {name: value + 0.5 * (0.3 - value) for name, value in model.items()}
    flare.send(flare.FLModel(params=trained, metrics={"accuracy": 0.5}))
"""
JOB = """
import numpy as np
from nvflare.app_common.np.recipes.fedavg import NumpyFedAvgRecipe
from nvflare.client.config import TransferType
from nvflare.recipe.sim_env import SimEnv

from ldpfast.nvflare import PrivatizeFilter, ReportAggregator

recipe = NumpyFedAvgRecipe(
    name="job",
    model=np.zeros((2, 3)),
    min_clients=3,
    num_rounds=4,
    train_script="train.py",
    params_transfer_type=TransferType.DIFF,
    aggregator=ReportAggregator(20.0, radius=0.4),
)
recipe.add_client_output_filter(PrivatizeFilter(20.0, rounds=4, radius=0.4, ledger="rounds.json"), tasks=["train"])
recipe.execute(SimEnv(num_clients=3, workspace_root="."))
"""


def test_the_simulator_learns(tmp_path):
    """Sites in other processes; the job is written as files, from which the components are made."""
    (tmp_path / "train.py").write_text(SCRIPT)
    (tmp_path / "job.py").write_text(JOB)
    done = subprocess.run([sys.executable, "job.py"], cwd=tmp_path, env=os.environ, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    model = np.load(next(tmp_path.glob("job/server/simulate_job/models/server.npy")))
    stderr = np.sqrt(ldp.RotatedSigns(6, 20.0, rotation=1, radius=0.4).variance(np.zeros(6)).max() / 3)
    assert np.abs(model - 0.3 * (1 - 0.5**4)).max() < 6 * stderr < 0.3
    log = done.stdout + done.stderr
    assert "left out" not in log
    assert "validation metric not existing" in log  # metrics do not reach the server
    assert "validation metric 0.5" not in log
