"""NVIDIA FLARE: a filter that privatizes the updates of a site, and an aggregator that averages the reports.

See docs/federated.md. Both are components of a job: configuration files name them by their path and their arguments.
"""

from __future__ import annotations

import logging
import threading
from typing import Any

from ._extras import base_class, optional
from ._federated import REPORT, ROTATION, ClientReports, ServerRound, guarantee_of_rounds, round_mechanism
from .privacy import Guarantee

__all__ = ["PrivatizeFilter", "ReportAggregator"]

LOG = logging.getLogger(__name__)
Filter = base_class("nvflare.apis.filter", "Filter")
ModelAggregator = base_class("nvflare.app_common.aggregators.model_aggregator", "ModelAggregator")


class PrivatizeFilter(Filter):  # type: ignore[misc, valid-type]
    """Filter of the results of a site that sends a privatized update in the place of the update, and nothing else.

    The update is one record, with the norm of all tensors together. `ReportAggregator` averages the reports on the server.

    Parameters
    ----------
    epsilon : float
        Privacy parameter of each report, > 0.
    rounds : int
        Largest number of reports, at least 1. The result of every further task is an error of the filter.
    radius : float, default 1.0
        Longer updates are shortened to this norm. An update with NaN counts as 0, and nothing tells so.
    signs : int, default 256
        Number of signs of a report, as for `RotatedSigns`.
    ledger : str, optional
        File that keeps the number of reports, best with its whole path: a relative one starts at the folder where the process
        starts. Its folder must exist. Without it, the number is in the memory of the process: **another job, or the same after
        a restart of the site, starts from 0**.

    Attributes
    ----------
    guarantee : Guarantee
        Of all reports of a site together: `rounds` times that of one.

    Raises
    ------
    TypeError, ValueError
        If an argument is out of its range.

    Notes
    -----
    It belongs to the results of tasks: ``task_result_filters`` of a job, or of the site's own ``privacy.json``, which no job
    can change. The executor must return differences (`DataKind.WEIGHT_DIFF`; with the client API ``TransferType.DIFF``), with
    the names and shapes of the model of the task. All numbers are floats: leave counters of a model out. The result holds one
    message of 11 bytes and the report; metrics, the number of steps and all other properties are dropped. Results of failed
    tasks keep their return code only, or "EXECUTION_EXCEPTION" for a code that NVFlare does not have. Any other result is an
    error of the filter, and nothing of it is sent. Use the filter for all tasks.

    No filter sees what a script logs for the server, such as curves of its loss, and the logs of the site, which it streams to
    the server unless its ``resources.json`` has ``"allow_log_streaming": false``: errors of a script are in them.

    Privacy
    -------
    epsilon-LDP for each report, whatever the server sends: the model, the rotation and the number of the round do not change
    the coins. Put the filter into ``privacy.json`` of the site: a filter of the job is as trustworthy as who wrote the job. A
    crash after a report was counted and before it was sent costs a round and reveals nothing.

    Examples
    --------
    >>> from ldpfast.nvflare import PrivatizeFilter
    >>> site = PrivatizeFilter(epsilon=8.0, rounds=10, radius=0.5)
    >>> site.guarantee
    Guarantee(definition='local', epsilon=80.0, delta=0.0)
    """

    def __init__(
        self,
        epsilon: float,
        *,
        rounds: int,
        radius: float = 1.0,
        signs: int = 256,
        ledger: str | None = None,
    ) -> None:
        super().__init__()
        self._client = ClientReports(epsilon, rounds, radius, signs, ledger)
        # NVFlare reads arguments from attributes of their names when it writes a job.
        self.epsilon, self.rounds = epsilon, rounds
        self.radius, self.signs = radius, signs
        self.ledger = ledger
        self._lock = threading.Lock()
        self._sent = 0

    @property
    def guarantee(self) -> Guarantee:
        """Guarantee of all reports of a site together."""
        return self._client.guarantee

    def __repr__(self) -> str:
        return f"{type(self).__name__}{self._client!r}"

    def process(self, shareable: Any, fl_ctx: Any) -> Any:
        """Return the report in the place of a result.

        Parameters
        ----------
        shareable : nvflare.apis.shareable.Shareable
            Result of a task.
        fl_ctx : nvflare.apis.fl_context.FLContext
            Context of the task, with the public properties of the server.

        Returns
        -------
        result : nvflare.apis.shareable.Shareable

        Raises
        ------
        TypeError, ValueError
            If the result is no difference of weights, the server has announced no rotation, or all rounds are used.
        """
        dxo, shareables = optional("nvflare.apis.dxo", "nvflare"), optional("nvflare.apis.shareable", "nvflare")
        code, codes = shareable.get_return_code(), optional("nvflare.apis.fl_constant", "nvflare").ReturnCode
        if code != codes.OK:
            known = [value for name, value in vars(codes).items() if not name.startswith("_")]
            return shareables.make_reply(code if code in known else codes.EXECUTION_EXCEPTION)  # any text may be a code
        result, server = dxo.from_shareable(shareable), fl_ctx.get_peer_context()
        if result.data_kind != dxo.DataKind.WEIGHT_DIFF:
            raise ValueError(
                f"the result of the task must be {dxo.DataKind.WEIGHT_DIFF}, as with TransferType.DIFF, got {result.data_kind}"
            )
        rotation = None if server is None else server.get_prop(ROTATION)
        if rotation is None:
            raise ValueError("the server must announce a rotation: use ReportAggregator there")
        with self._lock:
            begun = self._client.begin(result.data, rotation, self._sent)
            vector = begun.layers.vector(result.data)
            self._sent = self._client.budget.spend(self._sent)
        return dxo.DXO(dxo.DataKind.WEIGHT_DIFF, data={REPORT: begun.message(vector)}).to_shareable()


class ReportAggregator(ModelAggregator):  # type: ignore[misc, valid-type]
    """Aggregator that announces a rotation in each round, and returns the mean of the reports.

    For the controllers `FedAvg`, with its argument `aggregator`, and `ScatterAndGather`, as a component.

    Parameters
    ----------
    epsilon : float
        Privacy parameter of the reports of the sites.
    radius : float, default 1.0
        Radius of the sites.
    signs : int, default 256
        Number of signs of the sites.

    Raises
    ------
    TypeError, ValueError
        If an argument is out of its range. Reports of sites with other parameters are refused.

    Notes
    -----
    The rotation is a public property of the server's context, which NVFlare sends with every task. Reports have equal weights.
    Reports of another rotation, damaged ones, and those of sites with other parameters are left out and counted; the mean is
    that of the sites that answered. Sums are integers, so that the model does not depend on the order of the reports. With no
    report at all the model stays. The meta data of the result have the numbers of "reports" and of "refused" messages, and the
    "stderr" of a number of the mean.

    Examples
    --------
    >>> from nvflare.app_common.workflows.fedavg import FedAvg
    >>> from ldpfast.nvflare import ReportAggregator
    >>> aggregator = ReportAggregator(epsilon=8.0, radius=0.5)
    >>> controller = FedAvg(num_clients=100, num_rounds=10, aggregator=aggregator)
    >>> aggregator.privacy_spent()
    Guarantee(definition='local', epsilon=0.0, delta=0.0)
    """

    def __init__(self, epsilon: float, *, radius: float = 1.0, signs: int = 256) -> None:
        super().__init__()
        self._mechanism = round_mechanism(epsilon, radius, signs)
        # NVFlare reads arguments from attributes of their names when it writes a job.
        self.epsilon, self.radius = epsilon, radius
        self.signs = signs
        self._lock = threading.Lock()
        self._round: ServerRound | None = None
        self._rounds = 0

    def __repr__(self) -> str:
        used = self._mechanism
        return f"{type(self).__name__}(epsilon={used.epsilon!r}, radius={used.radius!r}, signs={used.signs})"

    def privacy_spent(self, delta: float = 0.0) -> Guarantee:
        """Return the guarantee of all reports of a site so far, if it was asked in every round.

        Parameters
        ----------
        delta : float, default 0.0
            In [0, 1). With a delta above 0, epsilon grows more slowly than the number of rounds.

        Returns
        -------
        guarantee : Guarantee
            Against a server that knows whose report is whose.
        """
        return guarantee_of_rounds(self._mechanism, self._rounds, delta)

    def handle_event(self, event_type: str, fl_ctx: Any) -> None:
        """Announce the rotation of the round before a task is sent; the first task of a round draws it.

        Parameters
        ----------
        event_type : str
            Name of the event.
        fl_ctx : nvflare.apis.fl_context.FLContext
            Context of the server.
        """
        events = optional("nvflare.app_common.app_event_type", "nvflare").AppEventType
        super().handle_event(event_type, fl_ctx)
        if event_type != events.BEFORE_TRAIN_TASK:
            return
        constants = optional("nvflare.app_common.app_constant", "nvflare").AppConstants
        task = optional("nvflare.apis.dxo", "nvflare").from_shareable(fl_ctx.get_prop(constants.TRAIN_SHAREABLE))
        with self._lock:
            if self._round is None:
                self._round = ServerRound(self._mechanism, task.data)
                self._rounds += 1
            fl_ctx.set_prop(ROTATION, self._round.rotation, private=False, sticky=True)

    def accept_model(self, model: Any) -> None:
        """Add the report of a site.

        Parameters
        ----------
        model : nvflare.app_common.abstract.fl_model.FLModel
            Result of a site. What is no report of this round is refused and counted.
        """
        with self._lock:
            if self._round is None or not self._round.add([(model.params or {}).get(REPORT)]):
                LOG.warning("a result is no report of this round, with the parameters of this server: it is left out")

    def aggregate_model(self) -> Any:
        """Return the mean of the reports.

        Returns
        -------
        model : nvflare.app_common.abstract.fl_model.FLModel
            The mean update, as a difference.
        """
        models = optional("nvflare.app_common.abstract.fl_model", "nvflare")
        with self._lock:
            if self._round is None:
                raise RuntimeError("a task must be sent before its results are aggregated")
            mean, stderr = self._round.conclude()
            n, refused = self._round.n, sum(self._round.refused.values())
        meta = {"reports": n, "refused": refused, "stderr": stderr}
        return models.FLModel(params=mean, params_type=models.ParamsType.DIFF, meta=meta)

    def reset_stats(self) -> None:
        """Close the round: the next task draws another rotation."""
        with self._lock:
            self._round = None
