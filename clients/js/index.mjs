// Client of a survey of ldpfast: turns a record into a message, by the client in C compiled to WebAssembly. docs/clients.md.

const KEY_BYTES = 32;
const ID_BYTES = 16;
const TOGETHER = 1000; // reports in one request
const VALUE_BYTES = 24; // a number in 8 bytes, a category, the address of a text and its number of bytes in 4 each, and padding
const TEXT_BYTES = 1024; // room for a text: 255 characters of up to 4 bytes
const NO_CATEGORY = 0xffffffff;
const TICKS = 0xfffffffe; // in the place of the category
const DELIMITER = ";"; // of ticks in a text
const DAY = 86_400_000; // milliseconds
const FINGERPRINT_BYTES = 32;
const PARTS_AT = 88; // in the table: the declared questions, and the places of their numbers, columns and labels
const PART_BYTES = 32;
const [SYMBOLS_AT, NUMBERS_AT, TEXT_AT] = [4, 8, 24];
const [SYMBOL, STRING, SET, PAIRS] = [0, 4, 5, 6]; // encodings
const SERIES_DIGITS = 16; // of the name of a ledger
const SURVEY_AT = 16; // in the table: the start of the digest of the survey, which is in every message
const SURVEY_BYTES = 8;
// White space at the ends of a text, as in Python.
const SPACE = /^[\t-\r\x1c-\x20\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+|[\t-\r\x1c-\x20\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+$/g;
const REFUSALS = ["", "be undamaged", "be of the version that this client knows"];
const OPTIONS = "table, maxEpsilon, fingerprint, wasm, strict or ledger";
const LAST_WAVE = 0xffffffff; // of a series that goes on
const TURN = 6; // statuses of the client in C
const LEDGER = 7;

/**
 * Returns the wave of a calendar that is open now, from 1 on; null before the first and after the last one.
 *
 * `calendar` has the numbers of `Calendar.to_dict()` in Python: `start` in seconds since the epoch, `every` in seconds, and `waves`, null in a
 * series that goes on. It comes with your application, and not from a server. `now` is in seconds since the epoch, as Date.now() / 1000.
 */
export function waveAt({ start, every, waves }, now) {
  const last = waves ?? LAST_WAVE;
  if (![start, every, last].every(Number.isSafeInteger) || every < 1 || last < 1 || last > LAST_WAVE) {
    throw new TypeError("a calendar must have integers start, every >= 1 and waves >= 1, which is null in a series that goes on");
  }
  const elapsed = typeof now === "number" ? Math.floor(now) - start : NaN;
  if (!Number.isSafeInteger(elapsed)) throw new TypeError("now must be a finite number of seconds");
  const wave = (elapsed - (elapsed % every)) / every + 1;
  return elapsed >= 0 && wave <= last ? wave : null;
}

/** A client for the survey of a table. `SurveyClient.open` makes one. */
export class SurveyClient {
  /** Largest loss of a person, computed from the coins of the table and rounded up. */
  epsilon;
  /** The SHA-256 of the table, as 64 hexadecimal digits. */
  fingerprint;
  #exports;
  #columns; // of the declared questions: name, and the function that writes a value
  #layout;
  #strict;
  #ledger;
  #queue; // name of the reports that wait: of the series if there are waves or rounds, otherwise of the survey

  constructor(exports, questions, tableEnd, survey, fingerprint, strict, storage) {
    this.#exports = exports;
    this.epsilon = exports.epsilon();
    this.fingerprint = fingerprint;
    Object.freeze(this);
    this.#strict = strict;
    this.#columns = questions.map((question) => ({ name: question.column, value: reader(question), room: roomOf(question) }));
    const values = align(tableEnd);
    const texts = values + VALUE_BYTES * this.#columns.length;
    const key = texts + questions.reduce((sum, question) => sum + roomOf(question), 0);
    const message = key + KEY_BYTES;
    const capacity = Math.max(exports.messageBytes(), ID_BYTES);
    this.#layout = { values, texts, key, message, capacity, person: message + capacity };
    const series = toHex(this.#newLedger()).slice(24, 24 + SERIES_DIGITS);
    this.#queue = `ldpfast-queue-${exports.waves() > 0 || exports.rounds() > 0 ? series : survey}`;
    if (storage !== null) {
      this.#ledger = new Ledger(storage, `ldpfast-${series}`);
      if (this.#ledger.read() === null) this.#ledger.write(this.#newLedger());
      this.isTurn(); // refuses a ledger that is damaged or of another series
    }
  }

  /**
   * Opens the client of a survey.
   *
   * `table` is the result of `survey.client_table()`, wherever it comes from. `maxEpsilon` is the largest loss of a person
   * that your application accepts: a table with a larger loss is refused. `fingerprint`, 64 hexadecimal digits or an array of
   * such texts, has the SHA-256 of the tables that your application knows, and any other table is refused: without it, whoever
   * delivers the table determines what is asked. `wasm`, a compiled module or its bytes, replaces ldpfast_client.wasm beside this file.
   *
   * `strict` is for development: a value that is not declared then throws, instead of counting as "no answer". It must not be
   * used with answers of people, because an error that depends on an answer reveals it.
   *
   * `ledger`, a storage such as `localStorage`, keeps what the person has answered in the series of surveys.
   */
  static async open({ table, maxEpsilon, fingerprint, wasm, strict = false, ledger = null, ...others }) {
    const unknown = Object.keys(others)[0];
    if (unknown === "schema") throw new TypeError("schema must be left out: questions and labels are those of the table");
    if (unknown !== undefined) throw new TypeError(`options must be ${OPTIONS}, got ${JSON.stringify(unknown)}`);
    if (typeof maxEpsilon !== "number" || !(maxEpsilon > 0)) {
      const given = typeof maxEpsilon === "number" ? maxEpsilon : typeof maxEpsilon;
      throw new TypeError(`maxEpsilon must be a number > 0, the largest loss of a person that the application accepts, got ${given}`);
    }
    const expected = fingerprints(fingerprint);
    if (typeof strict !== "boolean") throw new TypeError("strict must be true or false");
    if (ledger !== null && !isStorage(ledger)) {
      throw new TypeError("ledger must be a storage with getItem and setItem, such as localStorage");
    }
    const bytes = new Uint8Array(asBytes("table", table)); // a copy, which nobody changes while the module is compiled
    const module = await compiled(wasm);
    const { exports } = await WebAssembly.instantiate(module, {});
    const at = align(exports.__heap_base.value);
    const end = at + bytes.length;
    reserve(exports.memory, end + FINGERPRINT_BYTES);
    view(exports, at, bytes.length).set(bytes);
    exports.fingerprint(at, bytes.length, end);
    const found = toHex(view(exports, end, FINGERPRINT_BYTES));
    view(exports, end, FINGERPRINT_BYTES).fill(0);
    if (expected !== null && !expected.includes(found)) {
      throw new RangeError(`table must have the fingerprint ${expected.join(" or ")}, got ${found}`);
    }
    const status = exports.open(at, bytes.length, Infinity);
    if (status !== 0) throw new RangeError(`table must ${REFUSALS[status]}`);
    const loss = exports.epsilon();
    if (exports.open(at, bytes.length, maxEpsilon) !== 0) {
      throw new RangeError(`table must have a loss of at most maxEpsilon = ${maxEpsilon}, got ${loss}`);
    }
    const survey = toHex(bytes.subarray(SURVEY_AT, SURVEY_AT + SURVEY_BYTES));
    return new SurveyClient(exports, questionsOf(bytes, exports.values()), end, survey, found, strict, ledger);
  }

  /**
   * Returns the message of a person, with fresh coins. A second call is a second report, and the losses add up. With a ledger, the
   * message is stored before it is returned, and a second call returns the same message, whatever the record is then.
   *
   * `record` has values by the names of the columns. No value is refused: what is missing or unknown counts as "no answer", and
   * numbers out of range count as the nearest end.
   */
  answer(record) {
    if (this.#ledger !== undefined) return this.#answerOnce(record);
    const key = crypto.getRandomValues(new Uint8Array(KEY_BYTES));
    try {
      return this.answerWithKey(record, key);
    } finally {
      key.fill(0);
    }
  }

  /** Returns the message for a key of 32 random bytes, which must not be used again: for tests, and for other generators. */
  answerWithKey(record, key) {
    this.#refuseLedger();
    if (this.#exports.waves() > 0) throw new RangeError("a survey with waves needs answerPerson: a secret decides the turns");
    if (this.#exports.rounds() > 0) throw new RangeError("a round needs answerPerson: permanent answers depend on a secret");
    const { values, message, capacity, person } = this.#layout;
    const at = this.#prepare(record, "key", key, 0);
    return this.#finish(person, () => this.#exports.answer(values, at, message, capacity));
  }

  /**
   * Returns the message of a person whose coins belong to the person and the answers: the same record gives the same message.
   *
   * `secret` has 32 random bytes that only this person has. `person` is an integer (a number or a bigint), a text, or bytes.
   */
  answerPerson(record, secret, person) {
    this.#refuseLedger();
    const { values, message, capacity, person: to } = this.#layout;
    if (this.#exports.waves() > 0 && !this.isTurn(secret, person)) throw new RangeError("it must be the turn of the person, see isTurn");
    const { kind, integer, data } = identifier(person);
    const at = this.#prepare(record, "secret", secret, data.length);
    view(this.#exports, to, data.length).set(data);
    return this.#finish(to + data.length, () =>
      this.#exports.answerPerson(values, at, kind, integer, to, data.length, message, capacity),
    );
  }

  /**
   * Returns whether it is the turn of a person in the wave of the survey: always, if the survey has no waves. With a ledger, leave
   * secret and person out.
   */
  isTurn(secret, person) {
    if (this.#ledger !== undefined && secret === undefined && person === undefined) {
      return this.#withLedger(0, (at, bytes) => this.#exports.ledgerIsTurn(at, bytes)) === 1;
    }
    this.#refuseLedger();
    const { values, person: to } = this.#layout;
    const { kind, integer, data } = identifier(person);
    const at = this.#prepare({}, "secret", secret, data.length);
    view(this.#exports, to, data.length).set(data);
    try {
      return this.#exports.isTurn(at, kind, integer, to, data.length) === 1;
    } finally {
      view(this.#exports, values, to + data.length - values).fill(0);
    }
  }

  /**
   * Returns the message of `answer` with an id of 16 bytes, by which a server finds out that the report was sent again. Without a ledger
   * the id is random: keep both until the server has confirmed them, and send the same again. `send` does so.
   */
  report(record) {
    const message = this.answer(record);
    if (this.#ledger === undefined) return { id: crypto.getRandomValues(new Uint8Array(ID_BYTES)), message };
    const { message: at } = this.#layout; // which has room for an id, and is erased
    let id;
    this.#withLedger(0, (ledger, bytes) => {
      const status = this.#exports.ledgerReportId(ledger, bytes, at);
      id = view(this.#exports, at, ID_BYTES).slice();
      return status;
    });
    return { id, message };
  }

  /** Returns the message of `answerPerson` with an id, which is the same for a person in one wave or round. */
  reportPerson(record, secret, person) {
    const message = this.answerPerson(record, secret, person);
    const { message: at, person: to } = this.#layout;
    const { kind, integer, data } = identifier(person);
    const key = this.#prepare({}, "secret", secret, data.length);
    view(this.#exports, to, data.length).set(data);
    const id = this.#finish(to + data.length, () => {
      this.#exports.reportId(key, kind, integer, to, data.length, at);
      return ID_BYTES;
    });
    return { id, message };
  }

  /**
   * Sends the report of a person to a server of ldpfast, and returns what became of it: "stored", or "refused: reason".
   *
   * The report waits in a storage such as `localStorage` until the server has confirmed it, so that it is sent again, with the same bytes,
   * by the next call of `send` or `sendWaiting` after a failure, also to another address. With a ledger a second call sends the same
   * report. Rejects if the server cannot be reached.
   */
  async send(url, record, { storage, group, token } = {}) {
    const queue = new Queue(storage, this.#queue, url);
    const { id, message } = this.report(record);
    queue.add(toHex(id), { id: toHex(id), message: toBase64(message), ...(group === undefined ? {} : { group }) });
    return (await queue.send(token)).get(toHex(id));
  }

  /**
   * Sends the reports that wait in a storage, and returns what became of them by their ids. They are those to this survey, or to all
   * waves and rounds of its series.
   */
  async sendWaiting(url, { storage, token } = {}) {
    return new Queue(storage, this.#queue, url).send(token);
  }

  #refuseLedger() {
    if (this.#ledger !== undefined) throw new RangeError("secret, person and key must be left out with a ledger, which has its own secret");
  }

  /** Returns an empty ledger with a new secret. */
  #newLedger() {
    const { key, message, person: at } = this.#layout;
    const bytes = this.#exports.newLedgerBytes();
    reserve(this.#exports.memory, at + bytes);
    crypto.getRandomValues(view(this.#exports, key, KEY_BYTES));
    this.#exports.newLedger(key, at);
    const ledger = view(this.#exports, at, bytes).slice();
    view(this.#exports, key, at + bytes - key).fill(0);
    return ledger;
  }

  /** Calls a function with the address and the number of bytes of the ledger in the memory of the module, and returns its result. */
  #withLedger(room, call) {
    const { values, person: at } = this.#layout;
    const ledger = this.#ledger.read();
    if (ledger === null) throw new RangeError("ledger must be the one that the client was opened with, got an empty storage");
    const end = at + ledger.length + room;
    reserve(this.#exports.memory, end);
    view(this.#exports, at, ledger.length).set(ledger);
    try {
      const result = call(at, ledger.length);
      if (Math.abs(result) === LEDGER) throw new RangeError("ledger must be undamaged and of the series of the survey");
      return result;
    } finally {
      view(this.#exports, values, end - values).fill(0);
    }
  }

  #answerOnce(record) {
    const { values, message, capacity } = this.#layout;
    const room = this.#exports.ledgerRoom();
    let made;
    const status = this.#withLedger(room, (at, bytes) => {
      this.#prepare(record, "key", new Uint8Array(KEY_BYTES), at + bytes + room - this.#layout.person);
      const status = this.#exports.answerOnce(values, at, bytes + room, bytes, message, capacity);
      if (status === 0) {
        made = view(this.#exports, message, this.#exports.lengthOnce()).slice();
        this.#ledger.write(view(this.#exports, at, this.#exports.ledgerBytes()).slice());
      }
      return status;
    });
    if (status === TURN) throw new RangeError("it must be the turn of the person, see isTurn");
    if (status !== 0) {
      throw new RangeError("another version was answered in this wave or round, or the answer would exceed the promise of the series");
    }
    return made;
  }

  /** Writes the values and a key to the memory of the module, and returns the address of the key. */
  #prepare(record, name, key, more) {
    if (record === null || typeof record !== "object" || Array.isArray(record)) {
      throw new TypeError("record must be an object of values by the names of columns");
    }
    const has = (column) => Object.prototype.hasOwnProperty.call(record, column);
    if (Object.keys(record).length > 0 && !this.#columns.some((column) => has(column.name))) {
      const names = this.#columns.map((column) => JSON.stringify(column.name)).join(", ");
      throw new RangeError(`record must have at least one of the columns ${names}`);
    }
    const bytes = asBytes(name, key);
    if (bytes.length !== KEY_BYTES) throw new RangeError(`${name} must have ${KEY_BYTES} bytes, got ${bytes.length}`);
    const { values, texts, key: at, person } = this.#layout;
    reserve(this.#exports.memory, person + more);
    const out = new DataView(this.#exports.memory.buffer, values, VALUE_BYTES * this.#columns.length);
    const read = this.#columns.map((column) => column.value(has(column.name) ? record[column.name] : null));
    if (this.#strict) {
      this.#columns.forEach(({ name }, i) => {
        const isMissing = !has(name) || record[name] === null || record[name] === undefined;
        if (!isMissing && !isDeclared(read[i])) {
          throw new RangeError(`column ${JSON.stringify(name)} must have a declared value, got ${shown(record[name])}`);
        }
      });
    }
    let text = texts;
    read.forEach(({ number, category, bytes }, i) => {
      out.setFloat64(VALUE_BYTES * i, number, true);
      out.setUint32(VALUE_BYTES * i + 8, category, true);
      if (bytes === undefined) return;
      const kept = bytes.subarray(0, this.#columns[i].room);
      view(this.#exports, text, kept.length).set(kept);
      out.setUint32(VALUE_BYTES * i + 12, text, true);
      out.setUint32(VALUE_BYTES * i + 16, kept.length, true);
      text += this.#columns[i].room;
    });
    view(this.#exports, at, KEY_BYTES).set(bytes);
    return at;
  }

  /** Returns a copy of the message, and overwrites what #prepare has written. */
  #finish(end, call) {
    const { values, message } = this.#layout;
    try {
      const length = call();
      if (length === 0) throw new Error("the client gave no message");
      return view(this.#exports, message, length).slice();
    } finally {
      view(this.#exports, values, end - values).fill(0);
    }
  }
}

/** What a person has answered, as hexadecimal digits in a storage. */
class Ledger {
  #storage;
  #name;

  constructor(storage, name) {
    this.#storage = storage;
    this.#name = name;
  }

  read() {
    const text = this.#storage.getItem(this.#name);
    return text === null || text === undefined ? null : fromHex(text);
  }

  write(bytes) {
    this.#storage.setItem(this.#name, toHex(bytes));
  }
}

/** Reports that wait until a server has confirmed them. */
class Queue {
  #storage;
  #url;
  #name;

  constructor(storage, name, url) {
    if (!isStorage(storage)) {
      throw new TypeError("storage must have getItem and setItem, such as localStorage");
    }
    this.#storage = storage;
    this.#url = String(url).replace(/\/+$/, "");
    this.#name = name;
  }

  #read() {
    return JSON.parse(this.#storage.getItem(this.#name) ?? "{}");
  }

  add(id, report) {
    this.#storage.setItem(this.#name, JSON.stringify({ ...this.#read(), [id]: report }));
  }

  async send(token) {
    const waiting = Object.entries(this.#read());
    const found = new Map();
    for (let start = 0; start < waiting.length; start += TOGETHER) {
      const part = waiting.slice(start, start + TOGETHER);
      const response = await fetch(`${this.#url}/reports`, {
        method: "POST",
        headers: { "content-type": "application/x-ndjson", ...(token === undefined ? {} : { authorization: `Bearer ${token}` }) },
        body: part.map(([, report]) => JSON.stringify(report)).join("\n"),
        credentials: "omit",
        redirect: "error",
        referrerPolicy: "no-referrer",
      });
      if (!response.ok) throw new Error(`the server has not stored the reports: ${response.status}`);
      const { accepted, duplicate, refused } = await response.json();
      if (accepted + duplicate + refused.length !== part.length) throw new Error("the answer is not that of a server of ldpfast");
      const reasons = new Map(refused.map(({ index, reason }) => [index, reason]));
      part.forEach(([id], i) => found.set(id, reasons.has(i) ? `refused: ${reasons.get(i)}` : "stored"));
      const rest = Object.entries(this.#read()).filter(([id]) => !part.some(([sent]) => sent === id));
      this.#storage.setItem(this.#name, JSON.stringify(Object.fromEntries(rest)));
    }
    return found;
  }
}

// Values ----------------------------------------------------------------------------------------------------------------

/** Returns the declared questions of a table that the module has checked: column, labels, encoding, and alphabet of a text. */
function questionsOf(table, count) {
  const numbers = new DataView(table.buffer, table.byteOffset, table.byteLength);
  const u32 = (at) => numbers.getUint32(at, true);
  return Array.from({ length: count }, (_, i) => {
    const at = PARTS_AT + PART_BYTES * i;
    const [encoding, most] = [u32(at), u32(at + SYMBOLS_AT)];
    const text = table.subarray(u32(at + TEXT_AT), u32(at + TEXT_AT) + u32(at + TEXT_AT + 4));
    const { column, labels, texts = labels } = described(text);
    const size = Array.isArray(labels) ? labels.length : labels;
    const isSet = encoding === SET || encoding === PAIRS;
    const expected = encoding === SYMBOL ? most - 1 : isSet ? u32(at + NUMBERS_AT) : undefined;
    if (typeof column !== "string" || column === "" || size !== expected || (isSet && Array.isArray(labels) && ![0, size].includes(texts.length))) {
      throw new RangeError("table must have a column and a label of each category for every question");
    }
    if (isSet) return { column, labels, texts, encoding, options: size, most: u32(at + NUMBERS_AT + 4) };
    if (encoding !== STRING) return { column, labels, encoding };
    const [from, characters] = [u32(at + NUMBERS_AT), u32(at + NUMBERS_AT + 4)];
    const alphabet = Array.from({ length: characters }, (_, j) => u32(from + 4 * j));
    return { column, encoding, most, alphabet: characters === 0 ? null : alphabet };
  });
}

function described(text) {
  try {
    return Object(JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(text)));
  } catch {
    return {};
  }
}

/** Returns the bytes for the text or the ticks of a question. */
function roomOf({ encoding, options }) {
  return encoding === STRING ? TEXT_BYTES : options === undefined ? 0 : options;
}

/** Returns the function from a value to the number, the category, the text or the ticks of a question. It never throws. */
function reader(question) {
  if (question.encoding === STRING) return textOf(question);
  if (question.options !== undefined) return ticksOf(question);
  const read = question.encoding === SYMBOL ? categoryOf(question) : numberOf;
  return (value) => {
    try {
      return read(value);
    } catch {
      return { number: NaN, category: NO_CATEGORY };
    }
  };
}

function isDeclared({ number, category, isWhole }) {
  return isWhole ?? (!Number.isNaN(number) || category !== NO_CATEGORY);
}

/** Texts are sent as UTF-8. What is neither a text nor bytes is "no answer". */
function textOf({ most, alphabet }) {
  const known = alphabet === null ? null : new Set(alphabet);
  return (value) => {
    const isText = typeof value === "string" || value instanceof Uint8Array;
    const bytes = typeof value === "string" ? new TextEncoder().encode(value) : isText ? value : new Uint8Array(0);
    const symbols = known === null ? [...bytes] : [...new TextDecoder().decode(bytes)];
    const isKnown = (symbol) => (known === null ? symbol !== 0 : known.has(symbol.codePointAt(0)));
    return { number: NaN, category: NO_CATEGORY, bytes, isWhole: isText && symbols.length <= most && symbols.every(isKnown) };
  };
}

/**
 * Ticks are an array or a Set of labels, or a text of labels between semicolons. Their order does not matter, nor do repeated ones. Unknown
 * labels, or too many, make all of them "no answer".
 */
function ticksOf({ labels, texts, options, most }) {
  const find = categoryOf({ labels });
  const listed = Array.isArray(texts) ? texts : Array.from({ length: options }, (_, i) => `${i}`);
  const byText = new Map(listed.map((text, i) => [text, i]));
  const known = (value) => {
    if (typeof value === "string") {
      if (byText.size === 0) return [NO_CATEGORY]; // texts cannot name all options
      const parts = value.split(DELIMITER).map((part) => part.replace(SPACE, "")).filter((part) => part !== "");
      return parts.map((part) => byText.get(part) ?? NO_CATEGORY);
    }
    return Array.isArray(value) || value instanceof Set ? [...value].map((label) => find(label).category) : [NO_CATEGORY];
  };
  return (value) => {
    const bytes = new Uint8Array(options);
    let isWhole = false;
    try {
      const ticked = known(value);
      ticked.filter((option) => option < options).forEach((option) => (bytes[option] = 1));
      isWhole = ticked.every((option) => option < options);
    } catch {
      // of the methods of the value
    }
    if (!isWhole) bytes.fill(2); // which is "no answer"
    isWhole &&= bytes.reduce((sum, tick) => sum + tick, 0) <= most;
    return { number: NaN, category: TICKS, bytes, isWhole };
  };
}

/** Returns NaN for what is not a number. Texts are not. */
function plainNumber(value) {
  return ["number", "bigint", "boolean"].includes(typeof value) ? Number(value) : NaN;
}

/** Dates count as days since 1970-01-01. */
function numberOf(value) {
  const number = value instanceof Date ? Math.floor(value.getTime() / DAY) : plainNumber(value);
  return { number, category: NO_CATEGORY };
}

/** Labels are found by value: 1, 1n and true are the same, "1" is another. */
function categoryOf({ labels }) {
  if (typeof labels === "number") {
    return (value) => {
      const number = plainNumber(value);
      return { number: NaN, category: Number.isInteger(number) && number >= 0 && number < labels ? number : NO_CATEGORY };
    };
  }
  const categories = new Map(labels.map((label, i) => [labelKey(label), i]));
  return (value) => ({ number: NaN, category: categories.get(labelKey(value)) ?? NO_CATEGORY });
}

/** Returns a text that is the same for equal labels. Labels that JSON lacks are objects of their type and text, as in the schema. */
function labelKey(label) {
  if (typeof label === "boolean") return `${Number(label)}`;
  if (typeof label === "number") return Number.isInteger(label) ? `${BigInt(label)}` : `${label}`;
  if (typeof label === "bigint") return `${label}`;
  if (label instanceof Date) return labelKey({ date: label.toISOString().slice(0, 10) });
  if (label !== null && typeof label === "object" && typeof label.integer === "string") return `${hexadecimal(label.integer)}`;
  return canonical(label);
}

/** Returns a value with its type, for errors of strict clients. */
function shown(value) {
  return typeof value === "string" ? `the text ${JSON.stringify(value)}` : `${typeof value} ${String(value)}`;
}

function hexadecimal(text) {
  return text.startsWith("-") ? -BigInt(text.slice(1)) : BigInt(text);
}

function identifier(person) {
  const none = new Uint8Array(0);
  if (typeof person === "number" || typeof person === "bigint") {
    if (typeof person === "number" && !Number.isSafeInteger(person)) throw new RangeError("person must be a safe integer");
    const integer = BigInt(person);
    if (integer !== BigInt.asIntN(64, integer)) throw new RangeError("person must be in [-2^63, 2^63)");
    return { kind: 16, integer, data: none };
  }
  if (typeof person === "string") {
    if (/[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/.test(person)) {
      throw new RangeError("person must be valid Unicode text");
    }
    return { kind: 17, integer: 0n, data: new TextEncoder().encode(person) };
  }
  if (person instanceof Uint8Array) return { kind: 18, integer: 0n, data: person };
  throw new TypeError("person must be an integer, a text or bytes");
}

/** Returns canonical JSON (RFC 8785). */
function canonical(value) {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (value === null || typeof value !== "object") return JSON.stringify(value) ?? "undefined";
  const keys = Object.keys(value).sort();
  return `{${keys.map((key) => `${JSON.stringify(key)}:${canonical(value[key])}`).join(",")}}`;
}

// Memory ----------------------------------------------------------------------------------------------------------------

function asBytes(name, bytes) {
  if (bytes instanceof ArrayBuffer) return new Uint8Array(bytes);
  if (bytes instanceof Uint8Array) return bytes;
  throw new TypeError(`${name} must be a Uint8Array or an ArrayBuffer`);
}

/** Returns the fingerprints that are allowed, in lower case; null if all are. */
function fingerprints(given) {
  if (given === undefined) return null;
  const listed = Array.isArray(given) ? given : [given];
  if (listed.length === 0 || !listed.every((one) => typeof one === "string" && /^[0-9a-f]{64}$/i.test(one))) {
    throw new TypeError("fingerprint must have 64 hexadecimal digits, the SHA-256 of a table, or be an array of such texts");
  }
  return listed.map((one) => one.toLowerCase());
}

function isStorage(value) {
  return ["getItem", "setItem"].every((name) => typeof value?.[name] === "function");
}

function toHex(bytes) {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

function toBase64(bytes) {
  return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
}

function fromHex(text) {
  return Uint8Array.from(String(text).match(/../g) ?? [], (digits) => parseInt(digits, 16));
}

function align(address) {
  return Math.ceil(address / 16) * 16;
}

function view(exports, at, length) {
  return new Uint8Array(exports.memory.buffer, at, length);
}

function reserve(memory, end) {
  const missing = end - memory.buffer.byteLength;
  if (missing > 0) memory.grow(Math.ceil(missing / 65536));
}

let ours; // promise of the module beside this file

async function compiled(wasm) {
  if (wasm instanceof WebAssembly.Module) return wasm;
  if (wasm !== undefined) return WebAssembly.compile(wasm);
  ours ??= load(new URL("ldpfast_client.wasm", import.meta.url)).then((bytes) => WebAssembly.compile(bytes));
  return ours;
}

async function load(url) {
  if (url.protocol === "file:") return (await import("node:fs/promises")).readFile(url);
  const response = await fetch(url);
  if (!response.ok) throw new Error(`${url} cannot be read: ${response.status}`);
  return response.arrayBuffer();
}
