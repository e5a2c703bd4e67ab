// usage: PACKAGE=folder SERVER=url NOWHERE=url node --test send.mjs
import assert from "node:assert/strict";
import { test } from "node:test";
import { pathToFileURL } from "node:url";

const { SurveyClient } = await import(pathToFileURL(`${process.env.PACKAGE}/index.mjs`));
const { SERVER, NOWHERE } = process.env;

class Storage {
  entries = new Map();
  getItem(name) { return this.entries.get(name) ?? null; }
  setItem(name, text) { this.entries.set(name, text); }
}

const { schema, table } = await (await fetch(`${SERVER}/survey`)).json();
const open = (ledger = null) => SurveyClient.open({ schema, table: Uint8Array.from(Buffer.from(table, "base64")), ledger });
const waiting = (storage, url) => Object.keys(JSON.parse(storage.getItem(`ldpfast-queue-${url}`) ?? "{}")).length;

test("a report is stored, and does not wait any longer", async () => {
  const storage = new Storage();
  assert.equal(await (await open()).send(`${SERVER}/`, { smokes: true }, { storage }), "stored");
  assert.equal(waiting(storage, SERVER), 0);
});

test("a report waits until the server can be reached, and is counted once", async () => {
  const storage = new Storage();
  const client = await open();
  await assert.rejects(client.send(NOWHERE, { smokes: true }, { storage }));
  assert.equal(waiting(storage, NOWHERE), 1);
  const name = `ldpfast-queue-${SERVER}`;
  storage.setItem(name, storage.getItem(`ldpfast-queue-${NOWHERE}`));
  const before = storage.getItem(name);
  assert.deepEqual([...(await SurveyClient.sendWaiting(SERVER, { storage })).values()], ["stored"]);
  storage.setItem(name, before); // the answer was lost
  assert.deepEqual([...(await SurveyClient.sendWaiting(SERVER, { storage })).values()], ["stored"]);
  assert.equal(waiting(storage, SERVER), 0);
});

test("with a ledger a second call sends the same report", async () => {
  const [storage, ledger] = [new Storage(), new Storage()];
  assert.equal(await (await open(ledger)).send(SERVER, { smokes: true }, { storage }), "stored");
  assert.equal(await (await open(ledger)).send(SERVER, { smokes: false }, { storage }), "stored");
});

test("a refused report says why", async () => {
  const storage = new Storage();
  const client = await open();
  assert.equal(await client.send(SERVER, { smokes: true }, { storage, group: "DE" }), "refused: group");
  assert.equal(waiting(storage, SERVER), 0);
  await assert.rejects(client.send(SERVER, { smokes: true }), TypeError);
});
