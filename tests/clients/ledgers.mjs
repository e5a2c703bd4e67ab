// usage: PACKAGE=folder CASES=file node --test ledgers.mjs. The file has the ledgers and steps of test_ledgers.py.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { pathToFileURL } from "node:url";

import { watchMemory } from "./memory.mjs";

const { SurveyClient } = await import(pathToFileURL(`${process.env.PACKAGE}/index.mjs`));
const cases = JSON.parse(readFileSync(process.env.CASES, "utf8"));
const hex = (bytes) => Buffer.from(bytes).toString("hex");

class Storage {
  entries = new Map();
  getItem(name) { return this.entries.get(name) ?? null; }
  setItem(name, text) { this.entries.set(name, text); }
}

const open = ({ table }, ledger) => SurveyClient.open({ table: Uint8Array.from(Buffer.from(table, "base64")), maxEpsilon: 30, ledger });

test("messages and refusals are those of Python", async () => {
  for (const { ledger, steps } of cases) {
    const storage = new Storage();
    await open(steps[0], storage); // makes a ledger, which is replaced
    const [[name]] = storage.entries;
    assert.match(name, /^ldpfast-[0-9a-f]{16}$/);
    assert.equal(storage.getItem(name).length, ledger.length);
    storage.setItem(name, ledger);
    for (const step of steps) {
      const client = await open(step, storage);
      const before = storage.getItem(name);
      if (step.message === null) {
        assert.throws(() => client.answer(step.record), /must be the turn|exceed the promise of the series/);
        assert.equal(storage.getItem(name), before);
      } else {
        assert.equal(client.isTurn(), true);
        assert.equal(hex(client.answer(step.record)), step.message);
        const report = client.report(step.record);
        assert.deepEqual([hex(report.id), hex(report.message)], [step.id, step.message]);
      }
    }
    assert.equal(storage.entries.size, 1);
  }
});

const first = cases.at(-1).steps[0];

test("a message is stored before it is returned", async () => {
  const storage = new Storage();
  const client = await open(first, storage);
  const [[name, empty]] = storage.entries;
  storage.setItem = () => { throw new Error("the storage is full"); };
  assert.throws(() => client.answer(first.record), /the storage is full/);
  assert.equal(storage.getItem(name), empty);
});

test("secrets are new, and are not taken from the caller", async () => {
  const texts = new Set();
  for (let i = 0; i < 5; i += 1) {
    const storage = new Storage();
    const client = await open(first, storage);
    texts.add([...storage.entries.values()][0]);
    assert.throws(() => client.answerPerson(first.record, new Uint8Array(32), 1), /must be left out with a ledger/);
    assert.throws(() => client.answerWithKey(first.record, new Uint8Array(32)), /must be left out with a ledger/);
    assert.throws(() => client.isTurn(new Uint8Array(32), 1), /must be left out with a ledger/);
  }
  assert.equal(texts.size, 5);
});

test("a ledger that is damaged, lost, or no storage is refused", async () => {
  const storage = new Storage();
  const client = await open(first, storage);
  const [[name, text]] = storage.entries;
  for (const wrong of ["", "x", text.slice(2), `${text.slice(0, 40)}00${text.slice(42)}`]) {
    storage.setItem(name, wrong);
    assert.throws(() => client.answer(first.record), /ledger must be undamaged/);
    await assert.rejects(open(first, storage), /ledger must be undamaged/);
  }
  storage.entries.clear();
  assert.throws(() => client.answer(first.record), /got an empty storage/);
  for (const wrong of [{}, 3, "ledger", new Map()]) await assert.rejects(open(first, wrong), /ledger must be a storage/);
});

test("a record that is refused changes nothing", async () => {
  const storage = new Storage();
  const client = await open(first, storage);
  const before = [...storage.entries];
  assert.throws(() => client.answer([1]), TypeError);
  assert.deepEqual([...storage.entries], before);
});

test("secrets and answers are erased from the memory of the module", async () => {
  const storage = new Storage();
  const { client, isThere } = await watchMemory(() => open(first, storage));
  const message = client.answer(first.record);
  const ledger = Buffer.from([...storage.entries.values()][0], "hex");
  assert.equal(isThere(ledger.subarray(44, 76)), false);
  assert.equal(isThere(ledger.subarray(44, 60)), false);
  assert.equal(isThere(message), false);
});
