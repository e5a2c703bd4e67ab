"""Flower: a mod that privatizes the updates of a client, and a strategy that averages the reports.

See docs/federated.md. It uses the message API of Flower: `flwr.clientapp`, `flwr.serverapp`.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from ._extras import optional
from ._federated import (
    REPORT,
    ROTATION,
    ClientReports,
    ServerRound,
    guarantee_of_rounds,
    round_mechanism,
)
from .privacy import Guarantee

__all__ = ["PrivateStrategy", "PrivatizeMod"]

LOG = logging.getLogger("flwr")  # which Flower shows
STATE = "ldpfast"  # record of the context of a client
SENT = "sent"  # number of reports, in this record
NO_LEDGER = "the ledger of the client cannot be read and written"
NEEDED = (  # of the inner strategy
    "configure_train",
    "aggregate_train",
    "summary",
    "fraction_evaluate",
    "arrayrecord_key",
    "configrecord_key",
    "weighted_by_key",
)


class PrivatizeMod:
    """Client mod that sends a privatized update in the place of the trained model, and nothing else.

    The update is the trained model minus the model of the server. It is one record, with the norm of all tensors
    together. `PrivateStrategy` averages the reports on the server.

    Parameters
    ----------
    epsilon : float
        Privacy parameter of each report, > 0.
    rounds : int
        Largest number of reports, at least 1. Every further request is answered with an error, before the model is trained.
    radius : float, default 1.0
        Longer updates are shortened to this norm. An update with NaN counts as 0, and nothing tells so.
    signs : int, default 256
        Number of signs of a report, as for `RotatedSigns`.
    ledger : str or Path, optional
        File that keeps the number of reports, best with its whole path: a relative one starts at the folder where the process
        starts. Its folder must exist. Without it, the number is in the state of Flower's context, **which a server can get
        around**: another run and a restart of the SuperNode start from 0, and requests at the same time do not see each other.

    Attributes
    ----------
    guarantee : Guarantee
        Of all reports of a client together: `rounds` times that of one.

    Raises
    ------
    TypeError, ValueError
        If an argument is out of its range.

    Notes
    -----
    The server must send one `ArrayRecord`, and the app must return one with the same names and shapes. All numbers are floats:
    leave counters of a model out. The reply holds one message of 11 bytes and the report; metrics and the number of examples
    are dropped. Requests other than training are refused, because a metric on private data is not private. If the app fails,
    the server learns that it failed, but not its message.

    Privacy
    -------
    epsilon-LDP for each report, whatever the server sends: the model, the rotation and the number of the round do not change
    the coins. All parameters are fixed here. The limit of `rounds` holds against any server with a `ledger` only. Whoever
    decides which code runs on the client decides everything, however: a `ClientApp` that the server delivers must be checked
    like any other program. A crash after a report was counted and before it was sent costs a round and reveals nothing.

    Examples
    --------
    >>> from flwr.clientapp import ClientApp
    >>> from ldpfast.flower import PrivatizeMod
    >>> mod = PrivatizeMod(epsilon=8.0, rounds=10, radius=0.5)
    >>> app = ClientApp(mods=[mod])
    >>> mod.guarantee
    Guarantee(definition='local', epsilon=80.0, delta=0.0)
    """

    def __init__(
        self, epsilon: float, *, rounds: int, radius: float = 1.0, signs: int = 256, ledger: Any = None
    ) -> None:
        self._client = ClientReports(epsilon, rounds, radius, signs, ledger)

    @property
    def guarantee(self) -> Guarantee:
        """Guarantee of all reports of a client together."""
        return self._client.guarantee

    def __repr__(self) -> str:
        return f"{type(self).__name__}{self._client!r}"

    def __call__(self, message: Any, context: Any, call_next: Callable[[Any, Any], Any]) -> Any:
        """Train and return the report, or an error.

        Parameters
        ----------
        message : flwr.app.Message
            From the server.
        context : flwr.app.Context
            Of the client.
        call_next : callable
            The rest of the app.

        Returns
        -------
        reply : flwr.app.Message
        """
        flwr, category = optional("flwr.app", "flower"), message.metadata.message_type.partition(".")[0]

        def refused(reason: str) -> Any:
            code = optional("flwr.common.constant", "flower").ErrorCode.MOD_FAILED_PRECONDITION
            return flwr.Message(flwr.Error(code=code, reason=f"PrivatizeMod: {reason}"), reply_to=message)

        if category != "train":
            return refused(f"answers requests to train, got {category!r}, whose reply would not be private")
        try:
            model, sent = _arrays_of(message), _sent(context)
            begun = self._client.begin(model, _rotation_of(message), sent)
        except OSError:
            return refused(NO_LEDGER)
        except (TypeError, ValueError) as error:
            return refused(str(error))
        # Flower sends the text of an exception to the server. One of the app may have a record in it.
        try:
            vector = begun.layers.vector(_difference(model, _arrays_of(call_next(message, context))))
        except Exception:
            LOG.exception("the app gave no update, so that there is no report")
            return refused("the app gave no update")
        try:
            sent = self._client.budget.spend(sent)
        except OSError:
            LOG.exception(NO_LEDGER)
            return refused(NO_LEDGER)
        except ValueError as error:  # another process has used the last round meanwhile
            return refused(str(error))
        context.state[STATE] = flwr.ConfigRecord({SENT: sent})
        report = flwr.ConfigRecord({REPORT: begun.message(vector)})
        return flwr.Message(flwr.RecordDict({REPORT: report}), reply_to=message)


class PrivateStrategy:
    """Strategy that announces a rotation in each round, and gives the mean of the reports to another strategy.

    Parameters
    ----------
    strategy : flwr.serverapp.strategy.FedAvg
        Chooses the clients, and makes the next model from the mean of their models: `FedAvg`, or one with an optimizer, such as
        `FedAvgM` and `FedAdam`. Its `fraction_evaluate` must be 0: the metrics of clients are not private. Give `start` a
        function `evaluate_fn` instead.
    epsilon : float
        Privacy parameter of the reports of the clients.
    radius : float, default 1.0
        Radius of the clients.
    signs : int, default 256
        Number of signs of the clients.

    Raises
    ------
    TypeError, ValueError
        If an argument is not as above. Reports of clients with other parameters are refused.

    Notes
    -----
    Reports have equal weights. Reports of another rotation, damaged ones, and those of clients with other parameters are left
    out and counted, and clients that do not answer are, too: the mean is over those who did. Sums are integers, so that the
    model does not depend on the order of the reports. With no report at all the model stays.

    Examples
    --------
    >>> from flwr.serverapp.strategy import FedAvgM
    >>> from ldpfast.flower import PrivateStrategy
    >>> inner = FedAvgM(fraction_evaluate=0.0, server_learning_rate=1.0, server_momentum=0.9)
    >>> strategy = PrivateStrategy(inner, epsilon=8.0, radius=0.5)
    >>> strategy.privacy_spent()
    Guarantee(definition='local', epsilon=0.0, delta=0.0)
    """

    def __init__(self, strategy: Any, epsilon: float, *, radius: float = 1.0, signs: int = 256) -> None:
        if not all(hasattr(strategy, name) for name in NEEDED):
            raise TypeError(f"strategy must be a FedAvg of Flower, or derived from it, got {type(strategy).__name__}")
        if strategy.fraction_evaluate != 0:
            raise ValueError(
                "strategy must have fraction_evaluate=0, because metrics of clients are not private, got "
                f"{strategy.fraction_evaluate!r}"
            )
        self.strategy = strategy
        self._mechanism = round_mechanism(epsilon, radius, signs)
        self._round: ServerRound | None = None
        self._model: dict[str, Any] = {}
        self._asked: Counter[int] = Counter()

    def __repr__(self) -> str:
        used = self._mechanism
        inner = f"<{type(self.strategy).__name__}>"
        return f"{type(self).__name__}({inner}, epsilon={used.epsilon!r}, radius={used.radius!r}, signs={used.signs})"

    def privacy_spent(self, delta: float = 0.0) -> Guarantee:
        """Return the guarantee of all reports of a client so far, for the client that was asked most often.

        Parameters
        ----------
        delta : float, default 0.0
            In [0, 1). With a delta above 0, epsilon grows more slowly than the number of rounds.

        Returns
        -------
        guarantee : Guarantee
            Against a server that knows whose report is whose. Requests count, whether or not a report came back. If reports are
            shuffled, see `privacy.compose_rounds`.
        """
        return guarantee_of_rounds(self._mechanism, max(self._asked.values(), default=0), delta)

    def summary(self) -> None:
        """Log the parameters."""
        LOG.info("%r", self)
        self.strategy.summary()

    def start(self, *args: Any, **options: Any) -> Any:
        """Run all rounds: `flwr.serverapp.strategy.Strategy.start`, with its parameters and its result.

        Parameters
        ----------
        *args, **options
            As for the strategies of Flower: `grid`, `initial_arrays`, `num_rounds`, `timeout`, `train_config`, `evaluate_fn`.

        Returns
        -------
        result : flwr.serverapp.strategy.Result
        """
        return optional("flwr.serverapp.strategy", "flower").Strategy.start(self, *args, **options)

    def configure_train(self, server_round: int, arrays: Any, config: Any, grid: Any) -> Iterable[Any]:
        """Draw and announce the rotation of the round, and choose its clients.

        Parameters
        ----------
        server_round : int
            Number of the round.
        arrays : flwr.app.ArrayRecord
            Model that the clients get.
        config : flwr.app.ConfigRecord
            What they get beside it; the rotation is added.
        grid : flwr.serverapp.Grid
            Knows the clients.

        Returns
        -------
        messages : list of flwr.app.Message
        """
        self._model = _by_name(arrays)
        self._round = ServerRound(self._mechanism, self._model)
        config = optional("flwr.app", "flower").ConfigRecord({**config, ROTATION: self._round.rotation})
        messages = list(self.strategy.configure_train(server_round, arrays, config, grid))
        self._asked.update(message.metadata.dst_node_id for message in messages)
        return messages

    def aggregate_train(self, server_round: int, replies: Iterable[Any]) -> tuple[Any, Any]:
        """Give the mean of the reports to the inner strategy, as the model of one client.

        Parameters
        ----------
        server_round : int
            Number of the round.
        replies : iterable of flwr.app.Message
            From the clients.

        Returns
        -------
        arrays, metrics : flwr.app.ArrayRecord, flwr.app.MetricRecord
            The next model, and of this round the numbers of "reports", of "refused" messages and of "failures", and the
            "stderr" of a number of the mean. None and the metrics if there is no report.
        """
        flwr, replies = optional("flwr.app", "flower"), list(replies)
        if self._round is None:
            raise RuntimeError("configure_train must be called before aggregate_train")
        answered = [reply for reply in replies if not reply.has_error()]
        for reply in replies:
            if reply.has_error():
                LOG.info("node %d: %s", reply.metadata.src_node_id, reply.error.reason)
        self._round.add([_report_of(reply) for reply in answered])
        mean, stderr = self._round.conclude()
        n, refused = self._round.n, sum(self._round.refused.values())
        metrics = {"reports": n, "refused": refused, "failures": len(replies) - len(answered), "stderr": stderr}
        if not n:
            return None, flwr.MetricRecord(metrics)
        trained = {
            name: np.asarray(value + mean[name]) for name, value in self._model.items()
        }  # a sum of scalars is none
        inner = {
            self.strategy.arrayrecord_key: flwr.ArrayRecord({k: flwr.Array(v) for k, v in trained.items()}),
            "metrics": flwr.MetricRecord({self.strategy.weighted_by_key: n}),
        }
        first = next(reply for reply in answered)
        first.content = flwr.RecordDict(inner)
        arrays, _ = self.strategy.aggregate_train(server_round, [first])
        return arrays, flwr.MetricRecord(metrics)

    def configure_evaluate(self, server_round: int, arrays: Any, config: Any, grid: Any) -> Iterable[Any]:
        """Ask no client to evaluate the model. Parameters as for `configure_train`; the result is an empty list."""
        return []

    def aggregate_evaluate(self, server_round: int, replies: Iterable[Any]) -> None:
        """Return None. Parameters as for `aggregate_train`."""


def _by_name(arrays: Any) -> dict[str, Any]:
    """Return the arrays of a record by their names, as copies."""
    return {name: array.numpy() for name, array in arrays.items()}


def _arrays_of(message: Any) -> dict[str, Any]:
    """Return the arrays of the only `ArrayRecord` of a message."""
    if message.has_error():
        raise ValueError("the message must have a content, got an error")
    records = list(message.content.array_records.values())
    if len(records) != 1:
        raise ValueError(f"the message must have one ArrayRecord, got {len(records)}")
    return _by_name(records[0])


def _rotation_of(message: Any) -> Any:
    """Return the number of the rotation that the only `ConfigRecord` of a message announces."""
    records = list(message.content.config_records.values())
    if len(records) != 1 or ROTATION not in records[0]:
        raise ValueError(f"the message must have one ConfigRecord with {ROTATION!r}: use PrivateStrategy on the server")
    return records[0][ROTATION]


def _report_of(reply: Any) -> Any:
    """Return the report of a reply; None if it has none."""
    record = reply.content.config_records.get(REPORT)
    return None if record is None else record.get(REPORT)


def _sent(context: Any) -> int:
    """Return the number of reports that a client has sent in this run."""
    record = context.state.config_records.get(STATE)
    return 0 if record is None else int(record[SENT])


def _difference(model: dict[str, Any], trained: dict[str, Any]) -> dict[str, Any]:
    """Return the update of each tensor; other names or shapes are refused by `Layers`."""
    with np.errstate(all="ignore"):  # no warning may depend on a record
        return {
            name: value - model[name] if name in model and value.shape == model[name].shape else value
            for name, value in trained.items()
        }
