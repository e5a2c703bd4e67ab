// usage: node node.mjs PACKAGE VECTORS. Prints the result of vectors.mjs.
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

import { run } from "./vectors.mjs";

const [folder, path] = process.argv.slice(2);
const { SurveyClient } = await import(pathToFileURL(`${folder}/index.mjs`));
console.log(JSON.stringify(await run(SurveyClient, JSON.parse(readFileSync(path, "utf8")))));
