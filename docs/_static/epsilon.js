// The picture of the page "Local differential privacy in ten minutes". The formulas are those of the page.
"use strict";

const SHARE = 0.3; // true share of "yes"
const PRIOR = 0.01; // probability that somebody assigned to an answer before the report
const LEFT = -0.2, RIGHT = 0.8; // ends of the axis of estimates

/** Return the numbers of the picture for epsilon and n people. */
function numbers(epsilon, n) {
  const odds = Math.exp(epsilon);
  const sampling = SHARE * (1 - SHARE) / n;
  return {
    truth: odds / (1 + odds),
    odds: odds,
    posterior: PRIOR * odds / (PRIOR * odds + 1 - PRIOR),
    plain: Math.sqrt(sampling),
    spread: Math.sqrt(sampling + odds / Math.expm1(epsilon) ** 2 / n),
  };
}

/** Return a number with two significant digits, but all digits before the decimal point. */
function rounded(x) {
  const digits = Math.max(0, 1 - Math.floor(Math.log10(Math.abs(x))));
  return x.toLocaleString("en-US", { maximumFractionDigits: digits, minimumFractionDigits: x < 10 ? digits : 0 });
}

function percent(x) {
  return (x > 0.99 ? (100 * x).toFixed(2) : rounded(100 * x)) + " %";
}

/** Return the place of an estimate on the axis. */
function place(estimate) {
  return 640 * (estimate - LEFT) / (RIGHT - LEFT);
}

/** Return the path of a normal curve around the true share. */
function curve(spread) {
  const points = [];
  for (let i = 0; i <= 640; i++) {
    const z = (LEFT + (RIGHT - LEFT) * i / 640 - SHARE) / spread;
    points.push(`${i},${(180 - 145 * Math.exp(-z * z / 2)).toFixed(2)}`);
  }
  // The maximum is at the true share, between two points of a narrow curve.
  points.splice(Math.ceil(place(SHARE)), 0, `${place(SHARE)},35`);
  return "M" + points.join("L");
}

function set(id, attributes, text) {
  const element = document.getElementById(id);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  if (text !== undefined) element.textContent = text;
}

function draw() {
  const epsilon = 10 ** Number(document.getElementById("epsilon-slider").value);
  const people = 10 ** Number(document.getElementById("people-slider").value);
  const n = people < 1000 ? Math.round(people) : Number(people.toPrecision(2));
  const found = numbers(epsilon, n);
  set("epsilon-value", {}, rounded(epsilon));
  set("people-value", {}, n.toLocaleString("en-US"));
  set("epsilon-slider", { "aria-valuetext": `epsilon ${rounded(epsilon)}` });
  set("people-slider", { "aria-valuetext": `${n.toLocaleString("en-US")} people` });
  set("truth-bar", { width: 640 * found.truth });
  set("truth-text", {}, `truth ${percent(found.truth)}`);
  set("lie-text", {}, found.truth < 0.88 ? `lie ${percent(1 - found.truth)}` : "");
  set("epsilon-words", {},
    `A report is true with probability ${percent(found.truth)} and a lie with probability ${percent(1 - found.truth)}. ` +
    `It changes the odds between two answers by a factor of at most ${rounded(found.odds)}: an answer that ` +
    `had a probability of 1 % before has one of at most ${percent(found.posterior)} afterwards.`);
  set("private-curve", { d: curve(found.spread) });
  set("plain-curve", { d: curve(found.plain) });
  const low = Math.max(0, place(SHARE - 1.96 * found.spread)), high = Math.min(640, place(SHARE + 1.96 * found.spread));
  set("spread-interval", { x: low, width: high - low });
  set("spread-words", {},
    `With ${n.toLocaleString("en-US")} people the estimate of a share of 30 % has a standard error of ` +
    `${rounded(100 * found.spread)} percentage points: in 95 % of studies it is within ${rounded(196 * found.spread)} ` +
    `points of the truth. Without privacy it would be within ${rounded(196 * found.plain)} points.`);
}

/** Draw the parts of the axes that do not change, and connect the sliders. */
function start() {
  const ticks = document.getElementById("spread-ticks");
  for (let tick = LEFT; tick < RIGHT + 0.01; tick += 0.2) {
    const text = document.createElementNS("http://www.w3.org/2000/svg", "text");
    text.setAttribute("x", place(tick));
    text.setAttribute("y", 202);
    text.setAttribute("text-anchor", tick < LEFT + 0.01 ? "start" : tick > RIGHT - 0.01 ? "end" : "middle");
    text.textContent = `${Math.round(100 * tick)} %`;
    ticks.append(text);
  }
  set("true-share", { x1: place(SHARE), x2: place(SHARE) });
  const wanted = new URLSearchParams(location.hash.slice(1)); // ten_minutes.html#epsilon=2&n=10000
  if (wanted.has("epsilon")) document.getElementById("epsilon-slider").value = Math.log10(Number(wanted.get("epsilon")));
  if (wanted.has("n")) document.getElementById("people-slider").value = Math.log10(Number(wanted.get("n")));
  for (const id of ["epsilon-slider", "people-slider"]) document.getElementById(id).addEventListener("input", draw);
  draw();
}

start();
