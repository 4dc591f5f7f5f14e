// Where an error of the server belongs: to a field of the form, to a line of the text, or to all of it.
import type { ErrorBody } from "../api/types.ts";
import type { Fault, Path } from "./schema.ts";

export interface Sorted {
  /** Of properties of the resource. */
  faults: Fault[];
  /** Of lines of the configuration, from 1. */
  lines: { line: number; message: string }[];
  /** Errors that belong to no field. */
  rest: ErrorBody[];
}

const PLACE = /^\$\.resources\[0\]\.properties(.*)$/;
const STEP = /\.([^.[\]]+)|\[(\d+)\]|\['((?:[^'\\]|\\.)*)'\]/g;
const REQUIRED = /^(?:(.*): )?"([^"]+)" is a required property/;
/** The name of the text that the page sends. */
const OWN_FILE = "config.yaml";

/** Takes an error with its causes apart. */
export function sorted(error: ErrorBody): Sorted {
  const found: Sorted = { faults: [], lines: [], rest: [] };
  const add = (body: ErrorBody) => {
    const causes = body.causes ?? [];
    if (causes.length > 0) return causes.forEach(add);
    const { path, line, file } = body.location ?? {};
    const place = fieldOf(path ?? "", body.message);
    if (place) found.faults.push({ path: place, message: body.message });
    else found.rest.push(body);
    if (line && (!file || file === OWN_FILE)) found.lines.push({ line, message: body.message });
  };
  add(error);
  return found;
}

function fieldOf(path: string, message: string): Path | undefined {
  const inside = PLACE.exec(path)?.[1];
  const steps = [...(inside ?? "").matchAll(STEP)].map(([, name, index, quoted]) => name ?? (index === undefined ? (quoted ?? "") : Number(index)));
  const missing = path.startsWith("$.resources[0]") ? REQUIRED.exec(message)?.[2] : undefined;
  if (missing !== undefined) return [...steps, missing];
  return steps.length > 0 ? steps : undefined;
}
