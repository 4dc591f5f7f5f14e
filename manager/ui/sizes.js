// What the page may weigh, compressed, in bytes. A build that weighs more fails.
import { readFileSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";

const FIRST_LOAD = 80_000;
const EDITOR = 160_000;

function weight(folder, files) {
  return files.reduce((sum, file) => sum + statSync(join(folder, `${file}.gz`)).size, 0);
}

/** What a browser loads before it shows anything: the start page, and all files that are named in it. */
function firstLoad(folder) {
  const text = readFileSync(join(folder, "index.html"), "utf8");
  return ["index.html", ...[...text.matchAll(/(?:src|href)="\/ui\/([^"]+)"/g)].map(([, file]) => file)];
}

function within(what, bytes, most) {
  const said = `${what}: ${(bytes / 1000).toFixed(1)} KB of ${most / 1000} KB`;
  if (bytes > most) throw new Error(`${said}. Load more of it later, or leave something out.`);
  return said;
}

/** Returns what the parts weigh. */
export function checked(folder) {
  const first = firstLoad(folder);
  // The editor, and the form with the reader of YAML that loads it.
  const editor = readdirSync(join(folder, "assets"))
    .filter((name) => /^(editor|deploy)-.*\.js$/.test(name))
    .map((name) => `assets/${name}`);
  if (editor.length !== 2 || editor.some((file) => first.includes(file))) throw new Error("The editor and its form are to be files that only their views load.");
  return [within("first load", weight(folder, first), FIRST_LOAD), within("editor", weight(folder, editor), EDITOR)];
}
