// The configuration as text. It is what the page keeps: the form reads it and writes into it, so comments stay.
import { type Document, LineCounter, isNode, isScalar, parse as parseValue, parseDocument, stringify } from "yaml";
import { type Path, at, isMap } from "./schema.ts";

/** Stands for a secret that the manager does not show. Sent back unchanged, the secret stays. */
export const REDACTED = "(redacted)";

/** Stands in the text for a secret that is written in the form. */
export const KEPT = "(kept in the form)";

export interface Read {
  /** Undefined if the text is no YAML. */
  value: unknown;
  problems: { line: number; message: string }[];
}

/** Aliases may repeat parts of the text only so often. */
const LIMITS = { maxAliasCount: 100 };

export function read(text: string): Read {
  const document = parseDocument(text);
  const problems = document.errors.map(({ message, linePos }) => ({ line: linePos?.[0].line ?? 1, message: message.split("\n")[0] ?? "" }));
  if (problems.length > 0) return { value: undefined, problems };
  try {
    return { value: document.toJS(LIMITS), problems };
  } catch (error) {
    return { value: undefined, problems: [{ line: 1, message: String(error) }] };
  }
}

/** One value of a field that is written as YAML. Throws if it is none. */
export function parsed(text: string): unknown {
  return parseValue(text, LIMITS) as unknown;
}

export function printed(value: unknown): string {
  return value === undefined ? "" : stringify(value).trimEnd();
}

/** The text with another value in a place. `undefined` removes it. */
export function written(text: string, path: Path, value: unknown): string {
  const document = parseDocument(text);
  if (value === undefined) document.deleteIn(path);
  else set(document, path, value);
  return document.toString({ lineWidth: 0, indentSeq: false });
}

/** Makes the maps and lists on the way that are not there yet. */
function set(document: Document, path: Path, value: unknown): void {
  for (let length = 1; length < path.length; length += 1) {
    const before = path.slice(0, length);
    const found = at(document.toJS(LIMITS), before);
    if (!isMap(found) && !Array.isArray(found)) document.setIn(before, document.createNode(typeof path[length] === "number" ? [] : {}));
    const node: unknown = document.getIn(before);
    // An empty map in one line, such as {}, would grow in that line.
    if (typeof node === "object" && node !== null && "flow" in node && "items" in node && (node.items as unknown[]).length === 0) {
      (node as { flow: boolean }).flow = false;
    }
  }
  const old: unknown = document.getIn(path, true);
  // A scalar that only changes its value keeps the comment behind it.
  if (isScalar(old) && (typeof value !== "object" || value === null)) old.value = value;
  else document.setIn(path, document.createNode(value));
}

/** The line of a value, from 1. A value that is missing has the line of what it is missing in. */
export function lineOf(text: string, path: Path): number {
  const lineCounter = new LineCounter();
  const document = parseDocument(text, { lineCounter });
  for (let length = path.length; length > 0; length -= 1) {
    const node: unknown = document.getIn(path.slice(0, length), true);
    if (isNode(node) && node.range) return lineCounter.linePos(node.range[0]).line;
  }
  return 1;
}

/** The configuration of one resource. */
export function configuration(name: string, type: string, properties: unknown): string {
  return stringify({ resources: [{ name, type, properties }] }, { lineWidth: 0, indentSeq: false });
}

/** Puts the secrets of the form where the text has marks for them. */
export function revealed(text: string, secrets: ReadonlyMap<string, string>): string {
  let result = text;
  for (const [key, secret] of secrets) {
    const path = JSON.parse(key) as Path;
    if (at(read(result).value, path) === KEPT) result = written(result, path, secret);
  }
  return result;
}
