// Counts of messages, and estimates from them, for questions that are answered by randomized response and may be left out.

const HEAD = 9; // bytes before the number of the question: version and fingerprint

export class Count {
  /** `questions` are those of survey.json. */
  constructor(questions) {
    this.questions = questions;
    this.counts = questions.map(({ weights }) => new Array(weights[0].length).fill(0));
  }

  /** Number of answers to a question. */
  answers(place) {
    return this.counts[place].reduce((sum, count) => sum + count, 0);
  }

  /** Number of messages. */
  get n() {
    return this.counts.reduce((sum, _, place) => sum + this.answers(place), 0);
  }

  /** Counts a message with one answer: head, number of the question in two bytes, reported symbol. */
  add(message) {
    this.counts[message[HEAD] + 256 * message[HEAD + 1]][message[HEAD + 2]] += 1;
  }

  /** Returns the estimates of a question among the people who answered it: `value` and `stderr` for each label. */
  estimates(place) {
    const { own, other, weights } = this.questions[place];
    const counts = this.counts[place];
    const n = this.answers(place);
    // The unbiased estimate of a sum of weights from a report r: (weight of r - other * all weights) / (own - other).
    const decoded = (row) => {
      const all = row.reduce((sum, weight) => sum + weight, 0);
      return row.map((weight) => (weight - other * all) / (own - other));
    };
    const mean = (row) => row.reduce((sum, weight, symbol) => sum + weight * counts[symbol], 0) / n;
    const answered = decoded(counts.map((_, symbol) => Number(symbol < counts.length - 1)));
    return weights.map((row) => {
      const sums = decoded(row);
      const value = mean(sums) / mean(answered);
      const squares = sums.map((sum, symbol) => (sum - value * answered[symbol]) ** 2);
      return { value, stderr: Math.sqrt(mean(squares) / n) / mean(answered) };
    });
  }
}
