// usage: PACKAGE=folder SERVER=url PEOPLE=file FINGERPRINT=digits SECRET=digits node questionnaire.mjs
// Answers the survey of a server for people with personal keys, sends the first reports twice, and prints what the server says.
import { readFile } from "node:fs/promises";
import { pathToFileURL } from "node:url";

const { PACKAGE, SERVER, PEOPLE, FINGERPRINT, SECRET } = process.env;
const AGAIN = 10;
const { SurveyClient } = await import(pathToFileURL(`${PACKAGE}/index.mjs`));

const secret = Uint8Array.from(Buffer.from(SECRET, "hex"));
const { table } = await (await fetch(`${SERVER}/survey`)).json();
const bytes = Uint8Array.from(Buffer.from(table, "base64"));
const client = await SurveyClient.open({ table: bytes, maxEpsilon: 12, fingerprint: FINGERPRINT });
const lines = [];
for (const [person, record] of Object.entries(JSON.parse(await readFile(PEOPLE, "utf-8")))) {
  if (!client.isTurn(secret, person)) continue;
  const { id, message } = client.reportPerson(record, secret, person);
  lines.push(JSON.stringify({ id: Buffer.from(id).toString("hex"), message: Buffer.from(message).toString("base64") }));
}
const found = [];
for (const part of [lines, lines.slice(0, AGAIN)]) {
  const headers = { "content-type": "application/x-ndjson" };
  const response = await fetch(`${SERVER}/reports`, { method: "POST", headers, body: part.join("\n") });
  found.push(await response.json());
}
console.log(JSON.stringify(found));
