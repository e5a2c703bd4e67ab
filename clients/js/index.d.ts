/** A label that JSON lacks, as in the table: for example { date: "2026-01-31" }. */
export type Label =
  | { date: string }
  | { datetime: string }
  | { decimal: string }
  | { bytes: string }
  | { integer: string }
  | { tuple: (number | boolean | string | null | Label)[] };

/** An answer. What is missing or unknown counts as "no answer". A Date is a day in UTC, and bytes are a text (valid UTF-8 if the question has an alphabet). */
export type Value = number | bigint | boolean | string | Uint8Array | Date | Label | Ticks | null | undefined;

/** Labels of the options that are ticked; a text of labels between semicolons is another way. */
export type Ticks = readonly (number | bigint | boolean | string | Date | Label)[] | ReadonlySet<number | bigint | boolean | string | Date | Label>;

export interface SurveyOptions {
  /** The bytes of `survey.client_table()`, wherever they come from. */
  table: Uint8Array | ArrayBuffer;
  /** Largest loss of a person that the application accepts: a table with a larger loss is refused. */
  maxEpsilon: number;
  /** SHA-256 of the table as 64 hexadecimal digits, or of several tables: any other is refused. */
  fingerprint?: string | readonly string[];
  /** A compiled module or its bytes, in the place of ldpfast_client.wasm beside index.mjs. */
  wasm?: WebAssembly.Module | BufferSource;
  /** For development only: a value that is not declared throws, instead of counting as "no answer". */
  strict?: boolean;
  /** Keeps what the person has answered in the series of surveys, for example localStorage. */
  ledger?: Pick<Storage, "getItem" | "setItem">;
}

export interface SendOptions {
  /** Keeps reports until they are confirmed, for example localStorage. */
  storage: Pick<Storage, "getItem" | "setItem">;
  /** Token for writing, if the server needs one. */
  token?: string;
}

/** A message, and the id by which a server finds out that it was sent again. */
export interface Report {
  id: Uint8Array;
  message: Uint8Array;
}

/** When waves open and close: the numbers of `Calendar.to_dict()` in Python. */
export interface Calendar {
  /** When wave 1 opens, in seconds since the epoch. */
  start: number;
  /** Length of a wave in seconds. */
  every: number;
  /** Number of waves; null in a series that goes on. */
  waves?: number | null;
}

/**
 * Returns the wave of a calendar that is open now, in seconds since the epoch: Date.now() / 1000. Null before the first and after the last
 * wave. The calendar comes with your application, and not from a server.
 */
export function waveAt(calendar: Calendar, now: number): number | null;

/** A client for one survey. */
export class SurveyClient {
  private constructor();

  /** Largest loss of a person, computed from the coins of the table and rounded up: that of all turns if there are waves. */
  readonly epsilon: number;

  /** The SHA-256 of the table, as 64 hexadecimal digits. */
  readonly fingerprint: string;

  /** Opens the client of a survey. Rejects if the table is damaged, its loss is larger than `maxEpsilon`, or it has another fingerprint. */
  static open(options: SurveyOptions): Promise<SurveyClient>;

  /**
   * Returns the message of a person, with fresh coins. A second call is a second report, and the losses add up. With a ledger, the
   * message is stored before it is returned, and a second call returns the same message.
   */
  answer(record: Record<string, Value>): Uint8Array;

  /** Returns the message for a key of 32 random bytes, which must not be used again: for tests, and for other generators. */
  answerWithKey(record: Record<string, Value>, key: Uint8Array | ArrayBuffer): Uint8Array;

  /**
   * Returns the message of `answer` with an id of 16 bytes, by which a server finds out that the report was sent again. Without a ledger
   * the id is random: keep both until the server has confirmed them, and send the same again.
   */
  report(record: Record<string, Value>): Report;

  /**
   * Sends the report of a person to a server of ldpfast, and returns "stored" or "refused: reason". It waits in the storage
   * until the server has confirmed it. Rejects if the server cannot be reached.
   */
  send(url: string, record: Record<string, Value>, options: SendOptions & { group?: string }): Promise<string>;

  /** Sends the reports that wait in a storage, and returns what became of them by their ids. */
  sendWaiting(url: string, options: SendOptions): Promise<Map<string, string>>;

  /** Returns the message of `answerPerson` with an id, which is the same for a person in one wave or round. */
  reportPerson(
    record: Record<string, Value>,
    secret: Uint8Array | ArrayBuffer,
    person: number | bigint | string | Uint8Array,
  ): Report;

  /** Returns whether it is the turn of the person of the ledger in the wave of the survey: always, if the survey has no waves. */
  isTurn(): boolean;

  /** Returns whether it is the turn of a person in the wave of the survey: always, if the survey has no waves. */
  isTurn(secret: Uint8Array | ArrayBuffer, person: number | bigint | string | Uint8Array): boolean;

  /** Returns the message whose coins belong to the person and the answers: the same record gives the same message. */
  answerPerson(
    record: Record<string, Value>,
    secret: Uint8Array | ArrayBuffer,
    person: number | bigint | string | Uint8Array,
  ): Uint8Array;
}
