"""The requests that arrive together are checked and stored together, and each has its own answer."""

from __future__ import annotations

import asyncio
import random

import pytest

from ldpfast.reports import recipe_of

from ..support.internals.server import Outcome, Receiver, ServerPlan, Store, UnavailableError, server_receiver, wire
from ..support.server import SURVEY, frame_of, reports_of

GROUPS = ["DE", "FR"]


@pytest.fixture
def receiver(tmp_path):
    receiver = Receiver(Store(ServerPlan.of(SURVEY, None, GROUPS), f"sqlite:///{tmp_path}/reports.db"), folds=False)
    yield receiver
    receiver.close()
    receiver.store.close()


@pytest.fixture
def sizes(monkeypatch):
    """Numbers of reports that were checked together."""
    found, check = [], Receiver.check

    def watched(self, incoming):
        found.append(len(incoming))
        return check(self, incoming)

    monkeypatch.setattr(Receiver, "check", watched)
    return found


def bodies_of(rng, count):
    """Bodies of valid reports and of all kinds of others; no id is used in two bodies."""
    bodies = []
    for _ in range(count):
        reports = reports_of(SURVEY, rng.randrange(6))
        reports += reports[: rng.randrange(2)]  # duplicates
        if reports and rng.random() < 0.3:
            reports.append(reports[0]._replace(message=reports[-1].message))  # a conflict, or a duplicate
        frames = [frame_of(report, rng.choice([b"DE", b"FR"])) for report in reports]
        for bad in reports_of(SURVEY, rng.randrange(3)):
            wrong = bytes([bad.message[0], bad.message[1] ^ 1, *bad.message[2:]])
            unreadable = b"\5\0\0\0short"
            others = [frame_of(bad, b"XX"), frame_of(bad._replace(message=wrong), b"DE"), unreadable]
            others.append(frame_of(bad._replace(message=bad.message + b"\0"), b"FR"))
            frames.append(rng.choice(others))
        rng.shuffle(frames)
        bodies.append(b"".join(frames))
    return bodies


def test_requests_that_arrive_together_are_answered_as_one_by_one(receiver, tmp_path_factory, sizes):
    bodies = bodies_of(random.Random(5), 300)
    path = tmp_path_factory.mktemp("twin") / "reports.db"
    twin = Receiver(Store(ServerPlan.of(SURVEY, None, GROUPS), f"sqlite:///{path}"), folds=False)

    async def together():
        return await asyncio.gather(*(receiver.receive(wire.read_frames(body, 100)) for body in bodies))

    async def one_by_one():
        return [await twin.receive(wire.read_frames(body, 100)) for body in bodies]

    found = asyncio.run(together())
    assert len(sizes) == 1
    assert found == asyncio.run(one_by_one())
    assert len(sizes) == 1 + len(bodies)
    reasons = {reason for outcome in found for reason in outcome.refused.values()}
    assert reasons >= {"group", "fingerprint", "length", "line", "conflict"}
    assert sum(outcome.duplicate for outcome in found) > 50
    assert Outcome(0, 0, {}) in found  # an empty body among others
    fingerprint = recipe_of(SURVEY).head[1:]
    assert receiver.store.counts(fingerprint) == twin.store.counts(fingerprint)
    assert receiver.store.summary() == twin.store.summary()
    assert receiver.waiting == twin.waiting == 0
    twin.close()
    twin.store.close()


def test_a_body_after_another_keeps_the_places_of_its_faults():
    parts = [wire.read_frames(b"\0\0\0\0" * n, 9) for n in (2, 0, 1)]
    parts[2].add(b"id", b"message", b"label")
    joined = wire.Incoming.joined(parts)
    assert joined == wire.Incoming(
        [b"", b"", b"", b"id"], [b""] * 3 + [b"message"], [b""] * 3 + [b"label"], dict.fromkeys(range(3), "line")
    )


def test_an_error_in_a_check_reaches_every_request_and_nothing_waits(receiver, monkeypatch):
    incoming = [wire.read_frames(frame_of(report, b"DE"), 9) for report in reports_of(SURVEY, 3)]

    async def together():
        return await asyncio.gather(*map(receiver.receive, incoming), return_exceptions=True)

    with monkeypatch.context() as patch:
        patch.setattr(server_receiver, "faults_of", lambda *_: 1 / 0)
        assert [type(error) for error in asyncio.run(together())] == [ZeroDivisionError] * 3
    assert receiver.waiting == 0
    with monkeypatch.context() as patch:
        patch.setattr(receiver.store, "add", lambda *_: 1 / 0)
        found = asyncio.run(together())
    assert [(type(error), str(error)) for error in found] == [(UnavailableError, "ZeroDivisionError")] * 3
    assert asyncio.run(together()) == [Outcome(1, 0, {})] * 3
    assert receiver.waiting == 0


def test_others_are_answered_when_a_client_has_gone(receiver):
    incoming = [wire.read_frames(frame_of(report, b"DE"), 9) for report in reports_of(SURVEY, 3)]

    async def run():
        tasks = [asyncio.create_task(receiver.receive(one)) for one in incoming]
        await asyncio.sleep(0)  # all have arrived
        tasks[1].cancel()
        return await asyncio.gather(*tasks, return_exceptions=True)

    first, gone, last = asyncio.run(run())
    assert first == last == Outcome(1, 0, {})
    assert isinstance(gone, asyncio.CancelledError)
    assert receiver.store.summary().pending == 3
    assert receiver.waiting == 0


def test_a_request_that_arrives_while_the_receiver_closes_is_sent_away(receiver):
    async def run():
        task = asyncio.create_task(receiver.receive(wire.read_frames(frame_of(reports_of(SURVEY, 1)[0], b"DE"), 9)))
        await asyncio.sleep(0)  # it has arrived
        receiver.close()
        return await asyncio.wait_for(task, 10)

    with pytest.raises(UnavailableError, match="does not store reports any more"):
        asyncio.run(run())
    assert receiver.waiting == receiver.store.summary().pending == 0


def test_event_loops_do_not_wait_for_each_other(receiver):
    """One loop ends between the arrival of its request and its check."""
    first, second, third = (wire.read_frames(frame_of(report, b"DE"), 9) for report in reports_of(SURVEY, 3))

    async def run(incoming):
        return await asyncio.wait_for(receiver.receive(incoming), 10)

    ended = asyncio.new_event_loop()
    arriving = receiver.receive(first)
    ended.call_soon(lambda: (arriving.send(None), ended.stop()))
    ended.run_forever()
    assert [asyncio.run(run(second)), asyncio.run(run(third))] == [Outcome(1, 0, {})] * 2
    arriving.close()
    ended.close()


def test_a_round_is_stored_in_parts_of_a_transaction(receiver, sizes, monkeypatch):
    monkeypatch.setattr(server_receiver, "TOGETHER", 10)
    counts = [1, 9, 1, 12, 0, 3, 7, 1]
    bodies = [b"".join(frame_of(report, b"DE") for report in reports_of(SURVEY, count)) for count in counts]

    async def together():
        return await asyncio.gather(*(receiver.receive(wire.read_frames(body, 100)) for body in bodies))

    assert asyncio.run(together()) == [Outcome(count, 0, {}) for count in counts]
    assert sizes == [10, 1, 12, 10, 1]
    assert receiver.waiting == 0
