// usage: PACKAGE=folder SURVEY=file node --test behavior.mjs. The file has tables of the surveys in
// test_js_client.py: one with a large epsilon, whose messages show the answers, and one with a small epsilon, whose messages differ.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { pathToFileURL } from "node:url";

import { watchMemory } from "./memory.mjs";

const { SurveyClient } = await import(pathToFileURL(`${process.env.PACKAGE}/index.mjs`));
const surveys = JSON.parse(readFileSync(process.env.SURVEY, "utf8"));
const tableOf = (survey) => Uint8Array.from(Buffer.from(survey.table, "base64"));
const table = tableOf(surveys.clear);
const maxEpsilon = 240; // of the clear survey
const client = await SurveyClient.open({ table, maxEpsilon });
const noisy = await SurveyClient.open({ table: tableOf(surveys.noisy), maxEpsilon: 0.5 });
const key = Uint8Array.from({ length: 32 }, (_, i) => i);
const person = (record, who = 1) => Buffer.from(client.answerPerson(record, key, who)).toString("hex");
const noise = (who) => String(noisy.answerPerson({}, key, who));
const fresh = (record) => Buffer.from(client.answerWithKey(record, key)).toString("hex");

test("messages with fresh coins are different", () => {
  const messages = new Set(Array.from({ length: 20 }, () => String(noisy.answer({ place: 40 }))));
  assert.equal(messages.size, 20);
});

test("a person gives the same message for the same answers only", () => {
  const record = { age: 40, smoker: true, region: "N", born: new Date("1999-12-31") };
  assert.equal(person(record), person({ ...record, other: 1 }));
  assert.equal(person({ age: 101 }), person({ age: 1e9 }));
  assert.equal(person({ age: -0 }), person({ age: 0 }));
  assert.notEqual(person(record), person({ ...record, smoker: false }));
  assert.equal(new Set([1, 2, "1", Uint8Array.of(49), -1n].map(noise)).size, 5);
  assert.equal(noise(7), noise(7n));
});

test("equal labels are the same answer", () => {
  for (const value of [true, 1, 1n]) assert.equal(person({ smoker: value }), person({ smoker: true }));
  for (const value of ["yes", "1", 2, NaN, {}, [], Symbol("yes"), undefined, null]) {
    assert.equal(person({ smoker: value }), person({ smoker: null }));
  }
  assert.notEqual(person({ smoker: true }), person({ smoker: false }));
  assert.equal(person({ born: new Date("1999-12-31T23:00Z") }), person({ born: { date: "1999-12-31" } }));
  assert.notEqual(person({ born: { date: "1999-12-31" } }), person({ born: "1999-12-31" }));
  assert.equal(person({ children: 2 }), person({ children: 2n }));
  for (const value of [5, -1, 1.5, "2", Infinity, [], [2], {}, new Date(2), "", () => 2]) assert.equal(person({ children: value }), person({ children: null }));
});

test("no value is refused", () => {
  const hostile = { valueOf() { throw new Error(); }, toString() { throw new Error(); }, toJSON() { throw new Error(); } };
  const loop = {};
  loop.loop = loop;
  for (const value of [hostile, loop, () => 1, 10n ** 400n, new Date(NaN), Object.create(null)]) {
    for (const name of ["age", "smoker", "region", "born", "children"]) assert.equal(fresh({ [name]: value }).length, 2 * 27);
  }
  assert.equal(fresh({}), fresh({ age: null }));
});

test("a strict client throws for what is not declared, and gives the same messages otherwise", async () => {
  const strict = await SurveyClient.open({ table, maxEpsilon, strict: true });
  const record = { age: 1e9, smoker: true, region: "N", born: new Date("1999-12-31"), children: null, other: "yes" };
  assert.deepEqual(strict.answerWithKey(record, key), client.answerWithKey(record, key));
  assert.throws(() => strict.answer({ smoker: "yes" }), /column "smoker" must have a declared value, got the text "yes"/);
  for (const wrong of [{ age: "40" }, { age: NaN }, { region: "X" }, { born: "1999-12-31" }, { children: 5 }]) {
    assert.throws(() => strict.answer({ smoker: true, ...wrong }), RangeError);
    assert.ok(client.answer({ smoker: true, ...wrong }).length > 0);
  }
  await assert.rejects(SurveyClient.open({ table, maxEpsilon, strict: 1 }), /strict must be true or false/);
});

test("a round needs a secret", async () => {
  const round = await SurveyClient.open({ table: tableOf(surveys.round), maxEpsilon: 2 });
  assert.throws(() => round.answer({ smoker: true }), /permanent answers depend on a secret/);
  assert.equal(round.isTurn(key, 1), true);
  assert.equal(round.answerPerson({ smoker: true }, key, 1).length, 12);
});

test("the turns of persons are those of Python", async () => {
  const wave = await SurveyClient.open({ table: tableOf(surveys.wave), maxEpsilon: 2 });
  for (const [who, message] of surveys.turns.entries()) {
    assert.equal(wave.isTurn(key, who), message !== null);
    if (message === null) assert.throws(() => wave.answerPerson({ smoker: true }, key, who), /must be the turn of the person/);
    else assert.equal(Buffer.from(wave.answerPerson({ smoker: true }, key, who)).toString("hex"), message);
  }
  assert.ok(surveys.turns.includes(null) && surveys.turns.some((message) => message !== null));
  assert.throws(() => wave.answer({ smoker: true }), /needs answerPerson/);
  assert.throws(() => wave.isTurn(key, 1.5), RangeError);
  assert.equal(client.isTurn(key, 1), true);
});

test("what is not a record is refused", () => {
  for (const record of [null, undefined, 1, "age", [1]]) assert.throws(() => client.answer(record), TypeError);
  assert.throws(() => client.answer({ Age: 4 }), /record must have at least one of the columns "age", "smoker"/);
});

test("wrong keys and persons are refused", () => {
  assert.throws(() => client.answerPerson({}, new Uint8Array(31), 1), /secret must have 32 bytes, got 31/);
  assert.throws(() => client.answerPerson({}, "secret", 1), /secret must be a Uint8Array or an ArrayBuffer/);
  assert.throws(() => client.answerWithKey({}, new Uint8Array(33)), /key must have 32 bytes, got 33/);
  for (const who of [1.5, 2 ** 53, NaN, 1n << 63n, "\ud800"]) assert.throws(() => client.answerPerson({}, key, who), RangeError);
  for (const who of [null, undefined, {}, [1]]) assert.throws(() => client.answerPerson({}, key, who), TypeError);
});

test("long identifiers have room", () => {
  assert.notEqual(noise("x".repeat(300_000)), noise("x".repeat(300_001)));
});

test("damaged tables and unknown options are refused", async () => {
  const damaged = Uint8Array.from(table);
  damaged[60] ^= 1;
  await assert.rejects(SurveyClient.open({ table: damaged, maxEpsilon }), /table must be undamaged/);
  await assert.rejects(SurveyClient.open({ table: table.slice(0, -1), maxEpsilon }), /table must be undamaged/);
  damaged[7] = 4;
  await assert.rejects(SurveyClient.open({ table: damaged, maxEpsilon }), /table must be of the version that this client knows/);
  await assert.rejects(SurveyClient.open({ table: "table", maxEpsilon }), TypeError);
  await assert.rejects(SurveyClient.open({ schema: "{}", table, maxEpsilon }), /schema must be left out: questions and labels are those of the table/);
  await assert.rejects(SurveyClient.open({ table, maxEpsilon, max_epsilon: 1 }), /options must be table, maxEpsilon, .* or ledger, got "max_epsilon"/);
});

test("a table that loses more than the limit is refused, whatever schema it claims to have", async () => {
  const forged = tableOf(surveys.forged); // of epsilon 30, with the digest and the names of a survey of epsilon 2
  await assert.rejects(SurveyClient.open({ table: forged, maxEpsilon: 2 }), /table must have a loss of at most maxEpsilon = 2, got 29\.99/);
  const honest = await SurveyClient.open({ table: tableOf(surveys.honest), maxEpsilon: 2 });
  assert.ok(honest.epsilon > 1.99 && honest.epsilon <= 2);
  const { epsilon } = await SurveyClient.open({ table: forged, maxEpsilon: 30 });
  assert.equal((await SurveyClient.open({ table: forged, maxEpsilon: epsilon })).epsilon, epsilon);
  await assert.rejects(SurveyClient.open({ table: forged, maxEpsilon: epsilon * (1 - Number.EPSILON) }), RangeError);
  for (const [wrong, given] of [[undefined, "undefined"], [null, "object"], ["2", "string"], [NaN, "NaN"], [0, "0"], [-1, "-1"], [2n, "bigint"]]) {
    await assert.rejects(SurveyClient.open({ table: forged, maxEpsilon: wrong }), new RegExp(`maxEpsilon must be a number > 0, .*, got ${given}$`));
  }
  assert.throws(() => { honest.epsilon = 0; }, TypeError);
});

test("another table than that of the fingerprint is refused", async () => {
  const [own, other] = [tableOf(surveys.honest), tableOf(surveys.forged)];
  const digest = createHash("sha256").update(own).digest("hex");
  const open = (table, fingerprint) => SurveyClient.open({ table, maxEpsilon: 30, fingerprint });
  assert.equal((await open(own, digest.toUpperCase())).fingerprint, digest);
  assert.equal((await open(own, ["0".repeat(64), digest])).fingerprint, digest);
  await assert.rejects(open(other, digest), new RegExp(`table must have the fingerprint ${digest}, got [0-9a-f]{64}`));
  await assert.rejects(open(own.slice(0, -1), digest), /table must have the fingerprint/); // before anything else of it is read
  for (const wrong of [null, "", digest.slice(1), `${digest.slice(1)}g`, [], [digest, 1], digest.slice(0, 16)]) {
    await assert.rejects(open(own, wrong), /fingerprint must have 64 hexadecimal digits/);
  }
});

test("columns and labels are those of the table", async () => {
  for (const wrong of surveys.mislabeled) {
    await assert.rejects(SurveyClient.open({ table: tableOf({ table: wrong }), maxEpsilon }), /table must have a column and a label of each category/);
  }
  const relabeled = await SurveyClient.open({ table: tableOf(surveys.relabeled), maxEpsilon });
  const same = (one, other) => assert.deepEqual(relabeled.answerWithKey(one, key), client.answerWithKey(other, key));
  same({ region: "S" }, { region: "S" });
  same({ region: "X" }, { region: "N" });
  same({ region: "N" }, { region: null });
});

test("a buffer and a module are taken", async () => {
  const wasm = readFileSync(`${process.env.PACKAGE}/ldpfast_client.wasm`);
  const changed = Buffer.from(table);
  const opening = SurveyClient.open({ table: changed, maxEpsilon });
  changed.fill(0); // after the call, which has a copy
  assert.equal((await opening).fingerprint, client.fingerprint);
  const same = await SurveyClient.open({ table: table.buffer, maxEpsilon, wasm: new WebAssembly.Module(wasm) });
  assert.equal(String(same.answerWithKey({ age: 9 }, key)), String(client.answerWithKey({ age: 9 }, key)));
});

test("keys and answers are erased from the memory of the module", async () => {
  const { client: watched, isThere } = await watchMemory(() => SurveyClient.open({ table, maxEpsilon }));
  const secret = Uint8Array.from({ length: 32 }, (_, i) => 200 - 3 * i);
  watched.answerWithKey({ age: 61.123456789 }, secret);
  watched.answerPerson({ age: 61.123456789 }, secret, "a person with a long name");
  assert.equal(isThere(secret), false);
  assert.equal(isThere(secret.slice(0, 16)), false);
  assert.equal(isThere(new Uint8Array(Float64Array.of(61.123456789).buffer)), false);
  assert.equal(isThere(Buffer.from("a person with a long name")), false);
  assert.equal(isThere(table.slice(16, 48)), true);
});
