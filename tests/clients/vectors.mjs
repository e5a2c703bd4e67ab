// Runs the client in JavaScript on the surveys and cases of tests/support/client_vectors.py, in Node or in a browser.

const DECODERS = {
  $number: (text) => Number(text),
  $integer: (text) => BigInt(text),
  $date: (text) => new Date(text),
  $bytes: (text) => fromHex(text),
  $set: (values) => new Set(values.map(decode)),
};

function fromHex(text) {
  return Uint8Array.from(text.match(/../g) ?? [], (byte) => parseInt(byte, 16));
}

function fromBase64(text) {
  return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
}

function decode(value) {
  if (value === null || typeof value !== "object") return value;
  if (Array.isArray(value)) return value.map(decode);
  const [kind] = Object.keys(value);
  return DECODERS[kind] === undefined ? value : DECODERS[kind](value[kind]);
}

/** Returns the number of cases, those with another message, and nanoseconds per message by kind. */
export async function run(SurveyClient, surveys) {
  const wrong = [];
  const spent = { key: 0, person: 0 };
  const counts = { key: 0, person: 0 };
  for (const [i, survey] of surveys.entries()) {
    const client = await SurveyClient.open({ table: fromBase64(survey.table), maxEpsilon: survey.epsilon });
    for (const [j, { record: encoded, key: hex, person, message, id }] of survey.cases.entries()) {
      const record = Object.fromEntries(Object.entries(encoded).map(([name, value]) => [name, decode(value)]));
      const key = fromHex(hex);
      const kind = person === null ? "key" : "person";
      const start = performance.now();
      const made = person === null ? client.answerWithKey(record, key) : client.answerPerson(record, key, decode(person));
      spent[kind] += performance.now() - start;
      counts[kind] += 1;
      const report = person === null ? client.report(record) : client.reportPerson(record, key, decode(person));
      const isRight = person === null ? report.id.length === 16 : String(report.id) === String(fromHex(id));
      if (String(made) !== String(fromBase64(message)) || !isRight) wrong.push([i, j]);
    }
  }
  const nanoseconds = { key: (1e6 * spent.key) / counts.key, person: (1e6 * spent.person) / counts.person };
  return { cases: counts.key + counts.person, wrong, nanoseconds };
}
