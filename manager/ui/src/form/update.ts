// What an update sends. A configuration of one resource is changed by its properties, so that values that are not shown stay.
import { read } from "./document.ts";
import { at, isMap, patch } from "./schema.ts";

export type Update = { properties: unknown } | { content: string };

const ONE = ["resources", 0] as const;

export function update(before: string, after: string): Update {
  const [old, next] = [read(before).value, read(after).value];
  const [was, is] = [at(old, ONE), at(next, ONE)];
  const rest = (value: unknown) => (isMap(value) ? JSON.stringify({ ...value, properties: undefined }) : "");
  const isOne = isMap(old) && isMap(next) && count(old) === 1 && count(next) === 1 && rest(was) === rest(is);
  const others = (value: unknown) => (isMap(value) ? JSON.stringify({ ...value, resources: undefined }) : "");
  if (!isOne || others(old) !== others(next)) return { content: after };
  return { properties: patch(at(was, ["properties"]) ?? {}, at(is, ["properties"]) ?? {}) ?? {} };
}

function count(configuration: Record<string, unknown>): number {
  const { resources } = configuration;
  return Array.isArray(resources) ? resources.length : 0;
}
