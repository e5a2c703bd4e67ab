// The page "Answer a survey in your browser": the client of the library, simulated other people, and estimates.
import { SurveyClient } from "./client/index.mjs";
import { Count } from "./estimate.mjs";

const AT_A_TIME = 2000; // people between two pictures
const Z = 1.96; // standard errors of a 95 % interval
// What is true of the simulated people. Nobody's device tells it: the page knows it because it made them up.
const TRUTH = { coffee: [0.62], way: [0.45, 0.3, 0.25], sleep: [6.9] };
const NO_ANSWER = 0.05;

const element = (id) => document.getElementById(id);
const text = (number) => number.toLocaleString("en-US");

const described = await (await fetch(new URL("./survey.json", import.meta.url))).json();
const table = Uint8Array.from(atob(described.table), (character) => character.charCodeAt(0));
const client = await SurveyClient.open({ table, maxEpsilon: 2 });
const count = new Count(described.questions);
const labels = described.questions.map(({ labels }) => labels);
let answered = 0;

/** Returns a category with given shares. */
function drawn(shares) {
  let rest = Math.random();
  return shares.findIndex((share) => (rest -= share) < 0);
}

/** Returns the record of a simulated person. */
function person() {
  const record = {};
  if (Math.random() > NO_ANSWER) record.coffee = Math.random() < TRUTH.coffee[0];
  if (Math.random() > NO_ANSWER) record.way = labels[1][Math.max(0, drawn(TRUTH.way))];
  if (Math.random() > NO_ANSWER) record.sleep = TRUTH.sleep[0] + 3 * (Math.random() + Math.random() - 1);
  return record;
}

/** Shows the bytes of a message. */
function show(message) {
  const hex = [...message].map((byte) => byte.toString(16).padStart(2, "0"));
  const parts = [hex.slice(0, 1), hex.slice(1, 9), hex.slice(9, 11), hex.slice(11)].map((bytes) => {
    const part = document.createElement("span");
    part.textContent = bytes.join(" ");
    return part;
  });
  element("try-bytes").replaceChildren(...parts);
  const { name, own, other, symbols } = described.questions[message[9] + 256 * message[10]];
  const percent = (chance) => `${(100 * chance).toFixed(1)} %`;
  element("try-meaning").textContent =
    `Version, fingerprint of the survey, number of the question (${name}), and the reported symbol: ${symbols[message[11]]}. ` +
    (name === "sleep" ? "Hours become one of two ends first, at random with the right mean. " : "") +
    `The device reports the symbol of your answer with probability ${percent(own)}, and each of the ${symbols.length - 1} others ` +
    `with ${percent(other)}. Whoever reads the report cannot tell which it was.`;
}

/** Shows estimates and intervals. */
function draw() {
  element("try-n").textContent = `${text(count.n)} reports${answered ? `, ${answered === 1 ? "one" : text(answered)} of them yours` : ""}`;
  described.questions.forEach(({ name, weights }, place) => {
    const top = Math.max(...weights.flat());
    const found = count.answers(place) >= 100 ? count.estimates(place) : [];
    weights.forEach((_, row) => {
      const id = `try-${name}-${row}`;
      const bar = element(id);
      const at = (value) => `${Math.min(100, Math.max(0, (100 * value) / top))}%`;
      bar.querySelector(".try-truth").style.left = at(TRUTH[name][row]);
      if (!found.length) return;
      const { value, stderr } = found[row];
      const [low, high] = [value - Z * stderr, value + Z * stderr];
      bar.querySelector(".try-interval").style.left = at(low);
      bar.querySelector(".try-interval").style.right = `calc(100% - ${at(high)})`;
      bar.querySelector(".try-value").style.left = at(value);
      const unit = top === 1 ? [100, " %"] : [1, " h"];
      element(`${id}-text`).textContent = `${(unit[0] * value).toFixed(1)}${unit[1]} ± ${(unit[0] * Z * stderr).toFixed(1)}`;
    });
  });
}

/** Adds the reports of simulated people, some at a time. */
function add(people) {
  for (const button of document.querySelectorAll(".try-add")) button.disabled = people > 0;
  if (!people) return;
  const now = Math.min(people, AT_A_TIME);
  for (let i = 0; i < now; i++) count.add(client.answer(person()));
  draw();
  setTimeout(add, 0, people - now);
}

element("try-form").addEventListener("submit", (event) => {
  event.preventDefault();
  const given = new FormData(event.target);
  const record = {};
  if (given.get("coffee")) record.coffee = given.get("coffee") === "yes";
  if (given.get("way")) record.way = given.get("way");
  if (given.get("sleep")) record.sleep = Number(given.get("sleep"));
  const message = client.answer(record);
  count.add(message);
  answered += 1;
  element("try-loss").textContent =
    answered === 1 ? "Your loss is at most epsilon = 2." : `Your loss is at most epsilon = ${2 * answered}: each report adds 2.`;
  show(message);
  draw();
});
element("try-make").disabled = false; // until here a click would be one of the browser, with the answers in the address
for (const button of document.querySelectorAll(".try-add")) {
  button.addEventListener("click", () => add(Number(button.dataset.people)));
  button.disabled = false;
}
draw();
const people = Number(new URLSearchParams(location.hash.slice(1)).get("people"));
if (people > 0) add(Math.min(people, 1e6));
