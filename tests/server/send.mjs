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

const { table, fingerprint } = await (await fetch(`${SERVER}/survey`)).json();
const open = (ledger = null) => SurveyClient.open({ table: Uint8Array.from(Buffer.from(table, "base64")), maxEpsilon: 4, ledger });
const name = `ldpfast-queue-${fingerprint}`;
const waiting = (storage) => Object.keys(JSON.parse(storage.getItem(name) ?? "{}")).length;

test("a report is stored, and does not wait any longer", async () => {
  const storage = new Storage();
  assert.equal(await (await open()).send(`${SERVER}/`, { smokes: true }, { storage }), "stored");
  assert.equal(waiting(storage), 0);
});

test("a report waits until the server can be reached, at another address, and is counted once", async () => {
  const storage = new Storage();
  const client = await open();
  await assert.rejects(client.send(NOWHERE, { smokes: true }, { storage }));
  assert.equal(waiting(storage), 1);
  assert.deepEqual([...storage.entries.keys()], [name]);
  const before = storage.getItem(name);
  assert.deepEqual([...(await client.sendWaiting(SERVER, { storage })).values()], ["stored"]);
  storage.setItem(name, before); // the answer was lost
  assert.deepEqual([...(await client.sendWaiting(SERVER, { storage })).values()], ["stored"]);
  assert.equal(waiting(storage), 0);
});

test("reports to all waves of a series wait together", async () => {
  const storage = new Storage();
  const clients = [];
  for (const table of JSON.parse(process.env.WAVES).map((wave) => wave.table)) {
    const bytes = Uint8Array.from(Buffer.from(table, "base64"));
    clients.push(await SurveyClient.open({ table: bytes, maxEpsilon: 4, ledger: new Storage() }));
  }
  for (const client of clients) await assert.rejects(client.send(NOWHERE, { smokes: true }, { storage }));
  assert.equal(storage.entries.size, 1);
  assert.equal(Object.keys(JSON.parse([...storage.entries.values()][0])).length, clients.length);
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
  assert.equal(waiting(storage), 0);
  await assert.rejects(client.send(SERVER, { smokes: true }), TypeError);
});
