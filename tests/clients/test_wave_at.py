"""The wave of a moment: JavaScript computes the same from a calendar as Python. For C see test_c_client.py."""

from __future__ import annotations

import json
import shutil
import subprocess

import pytest

from ..support.calendars import cases
from ..support.process import ROOT

SCRIPT = """
const { waveAt } = await import(process.argv[1]);
const cases = JSON.parse(await new Response((await import("node:stream")).Readable.toWeb(process.stdin)).text());
const fails = (calendar, now) => {
  try { waveAt(calendar, now); return false; } catch (error) { return error instanceof TypeError; }
};
const calendar = { start: 0, every: 60, waves: 2 };
const bad = [{ every: 0 }, { every: 1.5 }, { start: "0" }, { waves: 2 ** 32 }].map((change) => ({ ...calendar, ...change }));
const moments = [NaN, Infinity, undefined, null, "5", new Date(5)];
console.log(JSON.stringify({
  waves: cases.map(({ calendar, now }) => waveAt(calendar, now)),
  fraction: waveAt(calendar, 59.999),
  refused: [...bad.map((one) => fails(one, 0)), ...moments.map((now) => fails(calendar, now))],
}));
"""


@pytest.mark.claim("The client in JavaScript computes the same wave from a calendar as Python.", "Clients")
@pytest.mark.skipif(shutil.which("node") is None, reason="needs Node")
def test_the_wave_in_javascript_is_that_of_python():
    given = json.dumps([{"calendar": calendar.to_dict(), "now": now} for calendar, now, _ in cases()])
    command = ["node", "--input-type=module", "--eval", SCRIPT, (ROOT / "clients/js/index.mjs").as_uri()]
    done = subprocess.run(command, input=given, capture_output=True, text=True, check=True, timeout=60)
    found = json.loads(done.stdout)
    assert found["waves"] == [wave for *_, wave in cases()]
    assert found["fraction"] == 1
    assert found["refused"] == [True] * 10
