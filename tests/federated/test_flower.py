"""The mod and the strategy for Flower: in one process with a grid that delivers messages at once, and in its simulation."""

from __future__ import annotations

import doctest
import itertools
import json
import os
import sys
import threading
import warnings

import numpy as np
import pytest

import ldpfast as ldp
import ldpfast.flower
from ldpfast.flower import PrivateStrategy, PrivatizeMod
from ldpfast.mechanisms import Layers
from ldpfast.privacy import Guarantee, composition_epsilon

with warnings.catch_warnings(action="default"):  # of the framework
    import ray
    from flwr.app import Array, ArrayRecord, ConfigRecord, Context, Message, MetricRecord, RecordDict
    from flwr.clientapp import ClientApp
    from flwr.serverapp import ServerApp
    from flwr.serverapp.strategy import FedAdam, FedAvg, FedAvgM
    from flwr.simulation import run_simulation
    from flwr.supercore.task_identity import TaskIdentity

pytestmark = pytest.mark.filterwarnings("default")

MODEL = {"weight": np.linspace(-1, 1, 12, dtype=np.float32).reshape(3, 4), "bias": np.zeros(4)}
EPSILON, RADIUS = 8.0, 0.5
OPTIONS = {"radius": RADIUS, "signs": 64}
REPORT, ROTATION = "ldpfast-report", "ldpfast-rotation"


@pytest.fixture(autouse=True)
def _task(monkeypatch):
    """What a process of Flower knows of its task, so that messages can be made."""
    for name in ("_run_id", "_node_id", "_task_id"):
        monkeypatch.setattr(TaskIdentity, name, 1)


def record_of(arrays):
    return ArrayRecord({name: Array(value) for name, value in arrays.items()})


def update_of(node):
    """Return the update of a client: other numbers for each of them, some longer than the radius."""
    rng = np.random.default_rng(node)
    return {name: rng.normal(0, 0.05 * node, value.shape).astype(value.dtype) for name, value in MODEL.items()}


class LocalGrid:
    """Clients of an app in this process, each with a context; those in `silent` do not answer."""

    def __init__(self, app, nodes=5, silent=()):
        self.app, self.silent = app, set(silent)
        self.contexts = {
            node: Context(run_id=1, node_id=node, node_config={}, state=RecordDict(), run_config={})
            for node in range(1, nodes + 1)
        }
        self.sent, self.replies = [], []

    def get_node_ids(self):
        return list(self.contexts)

    def send_and_receive(self, messages, *, timeout=None):
        found = []
        for message in messages:
            node = message.metadata.dst_node_id
            self.sent.append(message)
            if node not in self.silent:
                found.append(self.app(message, self.contexts[node]))
        if found:
            self.replies.append([reply.content if not reply.has_error() else reply.error for reply in found])
        return found


def app_with(mod, train=None):
    """Return an app that adds the update of the client to the model, and tells more than the update."""
    app = ClientApp(mods=[mod])

    def added(message, context):
        model = {name: array.numpy() for name, array in message.content["arrays"].items()}
        update = update_of(context.node_id)
        return {name: value + update[name] for name, value in model.items()}

    @app.train()
    def _train(message, context):
        trained = (train or added)(message, context)
        metrics = MetricRecord({"num-examples": 7, "loss": 0.25})
        return Message(RecordDict({"arrays": record_of(trained), "metrics": metrics}), reply_to=message)

    @app.evaluate()
    def _evaluate(message, context):
        return Message(RecordDict({"metrics": MetricRecord({"accuracy": 0.5, "num-examples": 7})}), reply_to=message)

    return app


def inner(kind=FedAvg, nodes=1):
    return kind(fraction_evaluate=0.0, min_available_nodes=nodes, min_train_nodes=nodes)


def run(grid, rounds=1, strategy=None, **options):
    strategy = strategy or PrivateStrategy(inner(), EPSILON, **{**OPTIONS, **options})
    return strategy, strategy.start(grid=grid, initial_arrays=record_of(MODEL), num_rounds=rounds, timeout=1)


def arrays_of(result):
    return {name: array.numpy() for name, array in result.arrays.items()}


def messages_of(contents):
    return [content[REPORT][REPORT] for content in contents]


@pytest.fixture
def keys(monkeypatch):
    """Give the reports of clients keys 1, 2, 3, ... in their order."""
    plain, numbers = ldp.RotatedSigns.privatize, itertools.count(1)
    monkeypatch.setattr(
        ldp.RotatedSigns, "privatize", lambda self, x, **options: plain(self, x, **options, rng=next(numbers))
    )
    return plain


@pytest.mark.claim("The adapter for Flower gives the numbers of the library with the same keys.", "Federated learning")
def test_a_round_has_the_numbers_of_the_plain_library(keys):
    """Bit for bit: rotation, update, report, sum, mean."""
    grid = LocalGrid(app_with(PrivatizeMod(EPSILON, rounds=1, **OPTIONS)))
    _, result = run(grid)
    rotation = grid.sent[0].content["config"][ROTATION]
    layers = Layers({name: MODEL[name] for name in sorted(MODEL)})
    mechanism = ldp.RotatedSigns(layers.dim, EPSILON, rotation=rotation, **OPTIONS)
    reports = []
    for key, node in enumerate((message.metadata.dst_node_id for message in grid.sent), start=1):
        update = {name: (value + update_of(node)[name]) - value for name, value in MODEL.items()}
        reports.append(keys(mechanism, layers.vector(update), clip=True, rng=key))
    assert messages_of(grid.replies[0]) == [mechanism.message(report) for report in reports]
    estimate = mechanism.estimate(reports)
    mean = layers.tensors(estimate.value)
    for name, value in arrays_of(result).items():
        assert value.dtype == MODEL[name].dtype
        np.testing.assert_array_equal(value, MODEL[name] + mean[name])
    assert result.train_metrics_clientapp[1] == MetricRecord(
        {"reports": 5, "refused": 0, "failures": 0, "stderr": float(estimate.stderr.max())}
    )


def test_a_parameter_that_is_one_number_keeps_its_shape():
    """NumPy makes the sum of two arrays without dimensions a scalar, which is no array for Flower."""
    model = {"scale": np.array(1.0, np.float32), "bias": np.zeros(3)}

    def train(message, context):
        return {name: np.asarray(array.numpy() + 0.1) for name, array in message.content["arrays"].items()}

    grid = LocalGrid(app_with(PrivatizeMod(EPSILON, rounds=1, **OPTIONS), train))
    strategy = PrivateStrategy(inner(), EPSILON, **OPTIONS)
    result = strategy.start(grid=grid, initial_arrays=record_of(model), num_rounds=1, timeout=1)
    assert result.train_metrics_clientapp[1]["reports"] == 5
    found = arrays_of(result)
    assert (found["scale"].shape, found["scale"].dtype) == ((), np.float32)
    assert found["scale"] != 1


def test_only_the_report_leaves_the_client():
    grid = LocalGrid(app_with(PrivatizeMod(EPSILON, rounds=1, **OPTIONS)))
    run(grid)
    for content in grid.replies[0]:
        assert list(content) == [REPORT]
        assert list(content[REPORT]) == [REPORT]
        assert len(content[REPORT][REPORT]) == 11 + 16


def test_each_round_has_another_rotation_and_names_decide():
    """A client that returns the tensors in another order sends the same update."""

    def reversed_order(message, context):
        model = {name: array.numpy() for name, array in message.content["arrays"].items()}
        return {name: model[name] + 10.0 * (name == "bias") for name in reversed(model)}

    grid = LocalGrid(app_with(PrivatizeMod(30.0, rounds=9, radius=20.0), reversed_order), nodes=200)
    strategy = PrivateStrategy(inner(), 30.0, radius=20.0)
    _, result = run(grid, 2, strategy)
    rotations = [message.content["config"][ROTATION] for message in grid.sent]
    assert len(set(rotations)) == 2
    stderr = result.train_metrics_clientapp[2]["stderr"]
    found = arrays_of(result)
    assert np.abs(found["bias"] - 20).max() < 12 * stderr < 5
    assert np.abs(found["weight"] - MODEL["weight"]).max() < 12 * stderr


def failing(message, context):
    raise ValueError(f"the record of node {context.node_id} is 42")


def request(config=None, arrays=None, kind="train", node=1):
    content = {"arrays": record_of(MODEL if arrays is None else arrays), "config": ConfigRecord(config or {})}
    return Message(RecordDict(content), dst_node_id=node, message_type=kind)


def reply_to(message, mod, train=None):
    return app_with(mod, train)(message, Context(1, 1, {}, RecordDict(), {}))


def mod_of(rounds=9, **options):
    return PrivatizeMod(EPSILON, rounds=rounds, **{**OPTIONS, **options})


# A client answers requests to train, and no more of them than it was configured for.


@pytest.mark.claim("A client of Flower refuses more rounds than it was configured for.", "Federated learning")
def test_more_rounds_than_configured_are_refused_before_training():
    trained = []

    def train(message, context):
        trained.append(context.node_id)
        return MODEL

    grid = LocalGrid(app_with(mod_of(2), train), nodes=3)
    strategy, result = run(grid, 4)
    assert len(trained) == 2 * 3
    assert [type(reply).__name__ for reply in grid.replies[2]] == ["Error"] * 3
    assert grid.replies[2][0].reason == "PrivatizeMod: the client answers at most 2 rounds, and has answered 2"
    assert result.train_metrics_clientapp[3]["failures"] == 3
    assert result.train_metrics_clientapp[3]["reports"] == 0
    assert strategy.privacy_spent().epsilon == 4 * EPSILON  # requests count


def test_a_server_cannot_change_epsilon_radius_or_rounds():
    """Whatever is in the configuration of a round, the message is that of the parameters of the client."""
    mod = mod_of(1)
    config = {ROTATION: 5, "epsilon": 99.0, "radius": 99.0, "signs": 2, "rounds": 99, "server-round": 77}
    message = reply_to(request(config), mod).content[REPORT][REPORT]
    mechanism = ldp.RotatedSigns(16, EPSILON, rotation=5, **OPTIONS)
    assert mechanism.aggregator().update([message]).n == 1


@pytest.mark.parametrize("kind", ["evaluate", "query", "evaluate.other"])
def test_other_requests_than_to_train_are_refused(kind):
    reply = mod_of()(request({ROTATION: 5}, kind=kind), None, failing)
    assert reply.error.reason == (
        f"PrivatizeMod: answers requests to train, got {kind.partition('.')[0]!r}, whose reply would not be private"
    )


@pytest.mark.parametrize(
    "config, arrays, text",
    [
        ({}, None, "'ldpfast-rotation'"),
        ({ROTATION: -1}, None, "rotation must be"),
        ({ROTATION: 5}, {"steps": np.zeros(3, np.int64)}, "must be floats"),
        ({ROTATION: 5}, {}, "at least one tensor"),
    ],
)
def test_a_wrong_request_gets_an_error_that_names_it(config, arrays, text):
    assert text in reply_to(request(config, arrays), mod_of()).error.reason


@pytest.mark.parametrize(
    "train",
    [
        failing,
        lambda message, context: {"weight": MODEL["weight"]},
        lambda message, context: {**MODEL, "bias": np.zeros(5)},
        lambda message, context: {**MODEL, "other": np.zeros(1)},
    ],
)
def test_what_is_wrong_with_the_app_is_not_told(train):
    reply = reply_to(request({ROTATION: 5}), mod_of(), train)
    assert reply.error.reason == "PrivatizeMod: the app gave no update"


def test_updates_with_nan_and_infinities_give_reports():
    """An error would tell something about them."""
    for value in (np.nan, np.inf, -np.inf, 1e300):
        reply = reply_to(
            request({ROTATION: 5}), mod_of(), lambda message, context, v=value: {**MODEL, "bias": np.full(4, v)}
        )
        assert len(reply.content[REPORT][REPORT]) == 27


# A file keeps the number of reports over runs.


def test_another_run_continues_with_the_number_of_the_file(tmp_path):
    ledger = tmp_path / "rounds.json"
    for _ in range(2):
        reply = reply_to(request({ROTATION: 5}), mod_of(2, ledger=ledger))
        assert reply.has_content()
    assert json.loads(ledger.read_text()) == {"ldpfast_rounds": 1, "epsilon": EPSILON, "sent": 2}
    assert ledger.stat().st_mode & 0o777 == 0o600
    refused = reply_to(request({ROTATION: 5}), mod_of(2, ledger=ledger))
    assert refused.error.reason == "PrivatizeMod: the client answers at most 2 rounds, and has answered 2"
    assert reply_to(request({ROTATION: 5}), mod_of(2)).has_content()  # without a file each run starts from 0


def test_the_number_is_written_before_the_report_is_made(tmp_path, monkeypatch):
    ledger = tmp_path / "rounds.json"

    def crash(self, x, **options):
        assert json.loads(ledger.read_text())["sent"] == 1
        raise KeyboardInterrupt

    monkeypatch.setattr(ldp.RotatedSigns, "privatize", crash)
    with pytest.raises(KeyboardInterrupt):
        reply_to(request({ROTATION: 5}), mod_of(2, ledger=ledger))


@pytest.mark.parametrize("kept", [False, True], ids=["context", "file"])
def test_only_a_file_counts_requests_at_the_same_time(tmp_path, kept):
    """Flower gives each of them a copy of the same context, whatever the others send."""
    options = {"ledger": tmp_path / "rounds.json"} if kept else {}
    copies = [Context(1, 1, {}, RecordDict(), {}) for _ in range(3)]
    app = app_with(mod_of(1, **options), lambda message, context: MODEL)
    replies = [app(request({ROTATION: 5}), context) for context in copies]
    assert [reply.has_content() for reply in replies] == ([True, False, False] if kept else [True] * 3)


def test_clients_that_train_at_a_time_share_the_rounds_of_a_file(tmp_path):
    """Ten threads, each with its own mod, start when three rounds are left, and three of them send."""
    ledger, barrier, replies = tmp_path / "rounds.json", threading.Barrier(10), []

    def train(message, context):
        barrier.wait()
        return MODEL

    def work():
        replies.append(reply_to(request({ROTATION: 5}), mod_of(3, ledger=ledger), train))

    threads = [threading.Thread(target=work) for _ in range(10)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(reply.has_content() for reply in replies) == 3
    assert json.loads(ledger.read_text())["sent"] == 3


def test_the_file_is_kept_where_folders_cannot_be_opened(tmp_path, monkeypatch):
    """As on Windows, which has no `fcntl` either."""
    plain = os.open

    def files_only(path, *args, **options):
        if os.path.isdir(path):
            raise PermissionError(path)
        return plain(path, *args, **options)

    monkeypatch.setattr("ldpfast._durable_file.fcntl", None)
    monkeypatch.setattr(os, "open", files_only)
    assert reply_to(request({ROTATION: 5}), mod_of(1, ledger=tmp_path / "rounds.json")).has_content()
    assert json.loads((tmp_path / "rounds.json").read_text())["sent"] == 1


def test_a_file_that_cannot_be_read_is_not_a_missing_one(tmp_path, monkeypatch):
    """From Python 3.14 on, `Path.exists` is False after any error of the disk: the client would start from 0."""
    ledger = tmp_path / "rounds.json"
    reply_to(request({ROTATION: 5}), mod_of(1, ledger=ledger))

    def unreadable(self, *args, **options):
        raise OSError("the disk")

    for name in ("read_bytes", "stat"):
        monkeypatch.setattr(type(ledger), name, unreadable)
    monkeypatch.setattr(type(ledger), "exists", lambda self: False)
    reply = reply_to(request({ROTATION: 5}), mod_of(1, ledger=ledger))
    assert reply.error.reason == "PrivatizeMod: the ledger of the client cannot be read and written"


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"ldpfast_rounds": 2, "epsilon": 8.0, "sent": 0}', '{"sent": -1}'])
def test_a_damaged_file_is_refused(tmp_path, text):
    (tmp_path / "rounds.json").write_text(text)
    reply = reply_to(request({ROTATION: 5}), mod_of(ledger=tmp_path / "rounds.json"))
    assert "ledger must hold the rounds of a client" in reply.error.reason


def test_the_file_of_another_epsilon_is_refused(tmp_path):
    ledger = tmp_path / "rounds.json"
    reply_to(request({ROTATION: 5}), PrivatizeMod(1.0, rounds=5, ledger=ledger))
    assert "epsilon=8.0, got epsilon=1.0" in reply_to(request({ROTATION: 5}), mod_of(ledger=ledger)).error.reason


def test_a_ledger_that_cannot_be_written_stops_the_client(tmp_path):
    """The server does not learn where it is."""
    reply = reply_to(request({ROTATION: 5}), mod_of(ledger=tmp_path / "missing" / "rounds.json"))
    assert reply.error.reason == "PrivatizeMod: the ledger of the client cannot be read and written"


def test_a_name_is_required():
    with pytest.raises(TypeError, match="ledger must be the name of a file, got int"):
        mod_of(ledger=5)


# The strategy adds up what is a report of the round.


def test_clients_that_do_not_answer_are_left_out():
    grid = LocalGrid(app_with(mod_of()), nodes=6, silent=[2, 5])
    _, result = run(grid)
    assert result.train_metrics_clientapp[1]["reports"] == 4
    mechanism = ldp.RotatedSigns(16, EPSILON, rotation=grid.sent[0].content["config"][ROTATION], **OPTIONS)
    expected = mechanism.aggregator().update(messages_of(grid.replies[0])).estimate()
    np.testing.assert_array_equal(arrays_of(result)["bias"], MODEL["bias"] + expected.value[:4])


@pytest.mark.parametrize("kind", [FedAvg, FedAvgM, FedAdam])
def test_the_order_of_replies_does_not_matter(kind):
    """Bit for bit, with every strategy inside. The strategies get the mean as the model of one client."""
    grid, found = LocalGrid(app_with(mod_of())), []
    for turn in (1, -1):
        strategy = PrivateStrategy(inner(kind), EPSILON, **OPTIONS)
        messages = strategy.configure_train(1, record_of(MODEL), ConfigRecord(), grid)
        if turn == 1:
            first, replies = strategy, grid.send_and_receive(messages)
            contents = [reply.content for reply in replies]
        else:
            strategy._round = type(first._round)(first._round.mechanism, MODEL)
            strategy._round.mechanism = first._round.mechanism
            strategy._round._aggregator = first._round.mechanism.aggregator()
            for reply, content in zip(replies, contents, strict=True):
                reply.content = content
        arrays, metrics = strategy.aggregate_train(1, replies[::turn])
        assert metrics["reports"] == 5
        found.append({name: array.numpy() for name, array in arrays.items()})
    for name in MODEL:
        np.testing.assert_array_equal(found[0][name], found[1][name])
        assert np.mean(found[0][name] != MODEL[name]) > 0.5


def test_reports_of_another_rotation_and_of_other_clients_are_refused():
    strategy = PrivateStrategy(inner(), EPSILON, **OPTIONS)
    grid = LocalGrid(app_with(mod_of()), nodes=8)
    old = grid.send_and_receive(strategy.configure_train(1, record_of(MODEL), ConfigRecord(), grid))
    messages = list(strategy.configure_train(2, record_of(MODEL), ConfigRecord(), grid))
    others = [
        PrivatizeMod(EPSILON / 2, rounds=9, **OPTIONS),
        mod_of(radius=2 * RADIUS),
        mod_of(signs=128),
    ]
    replies = [app_with(mod)(m, grid.contexts[i]) for i, (mod, m) in enumerate(zip(others, messages, strict=False), 1)]
    good = [grid.app(message, grid.contexts[node]) for node, message in enumerate(messages[3:5], 4)]
    damaged = grid.app(messages[5], grid.contexts[6])
    damaged.content[REPORT][REPORT] = damaged.content[REPORT][REPORT][:-1]
    empty = Message(RecordDict({}), reply_to=messages[6])
    expected = strategy._round.mechanism.aggregator().update(messages_of(reply.content for reply in good)).estimate()
    arrays, metrics = strategy.aggregate_train(2, [*old, *replies, damaged, *good, empty])
    assert (metrics["reports"], metrics["refused"], metrics["failures"]) == (2, 8 + 3 + 2, 0)
    np.testing.assert_array_equal(arrays["bias"].numpy(), MODEL["bias"] + expected.value[:4])


def test_without_reports_the_model_stays():
    grid = LocalGrid(app_with(mod_of(), failing))
    _, result = run(grid, 2)
    assert not result.arrays
    assert result.train_metrics_clientapp[2]["failures"] == 5
    assert result.train_metrics_clientapp[2]["stderr"] == np.inf


def test_the_loss_so_far_is_that_of_the_client_that_was_asked_most_often():
    strategy, epsilon = PrivateStrategy(inner(), 0.25), ldp.RotatedSigns(1, 0.25, rotation=0).epsilon_realized
    assert strategy.privacy_spent() == Guarantee("local", 0.0)
    grid = LocalGrid(app_with(PrivatizeMod(0.25, rounds=100)), nodes=3)
    for number in range(60):
        grid.contexts.pop(3, None) if number == 7 else None
        list(strategy.configure_train(number, record_of(MODEL), ConfigRecord(), grid))
    assert 14.999 < strategy.privacy_spent().epsilon <= 15.0
    assert strategy.privacy_spent(1e-6) == Guarantee("approximate", composition_epsilon([epsilon] * 60, 1e-6), 1e-6)
    assert strategy.privacy_spent(1e-6).epsilon < 11.5


@pytest.mark.parametrize(
    "make, error, text",
    [
        (lambda: PrivateStrategy(FedAvg(), 1.0), ValueError, "fraction_evaluate=0, because"),
        (lambda: PrivateStrategy(None, 1.0), TypeError, "must be a FedAvg of Flower, .* got NoneType"),
        (lambda: PrivateStrategy(inner(), -1.0), ValueError, "epsilon must be"),
        (lambda: PrivateStrategy(inner(), 1.0, radius=0.0), ValueError, "radius must be"),
        (lambda: PrivateStrategy(inner(), 1.0, signs=3), ValueError, "signs must be a power of two"),
        (lambda: PrivatizeMod(1.0, rounds=0), ValueError, "rounds must be"),
        (
            lambda: PrivateStrategy(inner(), 1.0).aggregate_train(1, []),
            RuntimeError,
            "configure_train must be called",
        ),
    ],
)
def test_wrong_arguments_are_refused(make, error, text):
    with pytest.raises(error, match=text):
        make()


def test_clients_are_not_asked_to_evaluate():
    strategy = PrivateStrategy(inner(), 1.0)
    assert strategy.configure_evaluate(1, record_of(MODEL), ConfigRecord(), None) == []
    assert strategy.aggregate_evaluate(1, []) is None


def test_the_examples_of_the_docstrings_run():
    result = doctest.testmod(ldpfast.flower)
    assert result.attempted > 6
    assert result.failed == 0


def test_a_simulation_learns_and_stops_at_the_budget(capfd, tmp_path, monkeypatch):
    """With Ray: clients in other processes, messages in bytes, and contexts that Flower keeps between the rounds."""
    monkeypatch.chdir(tmp_path)  # where Ray looks for modules first: the package is the installed one
    ray.cloudpickle.register_pickle_by_value(sys.modules[__name__])
    target = {"weight": np.full((2, 5), 0.3, np.float32), "bias": np.full(5, -0.3)}
    found = {}

    def train(message, context):
        model = {name: array.numpy() for name, array in message.content["arrays"].items()}
        return {name: value + 0.5 * (target[name] - value) for name, value in model.items()}

    app = app_with(PrivatizeMod(12.0, rounds=4, radius=0.6), train)
    server = ServerApp()

    @server.main()
    def main(grid, context):
        strategy = PrivateStrategy(inner(nodes=40), 12.0, radius=0.6)
        start = record_of({name: np.zeros_like(value) for name, value in target.items()})
        found["result"] = strategy.start(grid=grid, initial_arrays=start, num_rounds=5)

    resources = {"client_resources": {"num_cpus": 1}, "init_args": {"num_cpus": 2, "include_dashboard": False}}
    run_simulation(server, app, num_supernodes=40, backend_config=resources)
    capfd.readouterr()
    metrics = found["result"].train_metrics_clientapp
    assert [metrics[number]["reports"] for number in range(1, 6)] == [40, 40, 40, 40, 0]
    assert metrics[5]["failures"] == 40
    # A coordinate has the variance of the last means, of which each is halved in the next round.
    margin = 6 * metrics[4]["stderr"]
    for name, array in found["result"].arrays.items():
        assert np.abs(array.numpy() - target[name] * (1 - 0.5**4)).max() < margin < 0.2
