/* The order of search results. Sphinx puts this file before its own search, calls `score` for each result, and then removes
   results that are equal in everything but their score. */
"use strict";

const REFERENCE = "reference/generated/";
// Pages that mention nearly every word.
const LAST = /^(changelog|contributing|security|versioning|benchmarks|genindex|proofs\/|README)/;

// Give all results for one object the same title and address, so that it is listed once: a class is found by its title, by its
// name, and by the text of its page.
function uniteResults(item) {
  const [page, , anchor, , , , kind] = item;
  const name = page.slice(REFERENCE.length);
  const id = anchor.slice(1);
  const isPage = kind === "title" || kind === "text" || id === "" || id === name || id === `module-${name}`;
  item[1] = isPage ? name : id;
  item[2] = isPage ? "" : anchor;
  item[3] = null;
}

// Name the section that an entry of the index leads to. The title of a page has no anchor, so that it is listed once.
function nameSection(item) {
  const [page, title, anchor] = item;
  const { alltitles, docnames, titles } = Search._index;
  const isPlace = ([file, id]) => docnames[file] === page && `#${id}` === anchor;
  const section = Object.keys(alltitles).find((name) => alltitles[name].some(isPlace));
  if (section === undefined || titles[docnames.indexOf(page)] === section) item[2] = "";
  else item[1] = `${title} > ${section}`;
}

var Scorer = {
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,

  // Words of the index of the guides first, then an object whose name was typed, titles of guides, text of guides, pages of the
  // reference by task and the gallery, and the rest.
  score: (item) => {
    const [page, , anchor, , score, , kind] = item;
    const query = (new URLSearchParams(window.location.search).get("q") || "").trim();
    if (page.startsWith(REFERENCE)) {
      const isExact = kind === "object" && score >= Scorer.objNameMatch + Scorer.objPrio[1];
      const isPage = anchor.slice(1) === page.slice(REFERENCE.length);
      uniteResults(item);
      const looksLikeCode = /[A-Z_.]/.test(query.slice(1)) && !/[\s/]/.test(query);
      if (isExact) return looksLikeCode ? 200 + score + isPage : isPage ? 40 : 20;
      return Math.min(score, 15);
    }
    if (kind === "index") {
      nameSection(item);
      return 100 + score;
    }
    if (LAST.test(page)) return Math.min(score, 15);
    if (page.startsWith("gallery/") || page.startsWith("reference/")) return 18 + score / 2;
    return score >= Scorer.title || kind === "title" ? 45 + score : 20 + score;
  },
};
