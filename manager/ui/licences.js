// Checks the licences in the lock file: those of packages in the page are the ones that deny.toml allows, those of tools are free.
import { readFileSync } from "node:fs";

const read = (name) => readFileSync(new URL(name, import.meta.url), "utf8");
const list = read("../../deny.toml").match(/^allow = \[([^\]]*)\]/ms)?.[1] ?? "";
const shipped = new Set([...list.matchAll(/"([^"]+)"/g)].map((match) => match[1]));
const tools = new Set([...shipped, "0BSD", "BlueOak-1.0.0", "BSD-2-Clause", "CC0-1.0", "CC-BY-4.0", "ISC", "MPL-2.0", "Python-2.0"]);

/** Whether one choice of an expression such as `(MIT OR CC0-1.0)` is allowed, with all of its parts. */
const permits = (allowed, expression) =>
  expression
    .replace(/[()]/g, "")
    .split(" OR ")
    .some((choice) => choice.split(" AND ").every((name) => allowed.has(name)));

const { packages } = JSON.parse(read("package-lock.json"));
const wrong = Object.entries(packages)
  .filter(([path]) => path !== "")
  .filter(([, { dev, devOptional, license = "none" }]) => !permits(dev || devOptional ? tools : shipped, license))
  .map(([path, { license }]) => `${path}: ${license}`);
if (wrong.length > 0) {
  console.error(`licences that are not allowed:\n${wrong.join("\n")}`);
  process.exit(1);
}
console.log(`${Object.keys(packages).length - 1} packages have licences that are allowed`);
