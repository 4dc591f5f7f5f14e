import { expect, test } from "vitest";
import { type Field, type Schema, fields, initial, patch } from "./schema.ts";

const schema: Schema = {
  required: ["name"],
  properties: {
    name: { type: "string", title: "The name" },
    password: { type: "string", writeOnly: true },
    size: { enum: ["S", "L"] },
    ports: { type: "array", items: { $ref: "#/definitions/port" } },
    labels: { type: "object", additionalProperties: { type: "string" } },
    inner: { type: "object", properties: { deep: { type: "boolean" } } },
    any: {},
    loop: { $ref: "#/definitions/loop" },
  },
  definitions: {
    port: { type: "object", properties: { number: { type: "integer" } } },
    loop: { type: "object", properties: { again: { $ref: "#/definitions/loop" } } },
  },
};

const value = { name: "web", ports: [{ number: 80 }], labels: { a: "b" }, inner: {} };
const by = (all: Field[], name: string) => all.find((field) => field.path[field.path.length - 1] === name);

test("each part of a schema has its control", () => {
  const all = fields(schema, value, []);
  expect(all.map(({ kind }) => kind)).toEqual(["text", "text", "choice", "list", "map", "group", "other", "group"]);
  expect(by(all, "name")).toMatchObject({ label: "The name", required: true, value: "web", secret: false });
  expect(by(all, "password")?.secret).toBe(true);
  expect(by(all, "ports")?.children[0]?.children[0]).toMatchObject({ path: ["ports", 0, "number"], kind: "number", value: 80 });
  expect(by(all, "labels")?.children[0]).toMatchObject({ path: ["labels", "a"], value: "b" });
});

test("a value that does not fit its control is shown as YAML", () => {
  const [name] = fields({ properties: { name: { type: "string" } } }, { name: ["a"] }, []);
  expect(name?.kind).toBe("other");
});

test("a schema that contains itself ends", () => {
  let depth = 0;
  for (let at = by(fields(schema, value, []), "loop"); at; at = at.children[0]) depth += 1;
  expect(depth).toBeLessThan(10);
});

test("an error stands at its field, and at the control that shows its place", () => {
  const faults = [
    { path: ["ports", 0, "number"], message: "too large" },
    { path: ["any", "deep", 3], message: "wrong" },
  ];
  const all = fields(schema, value, faults);
  expect(by(all, "ports")?.errors).toEqual([]);
  expect(by(all, "ports")?.children[0]?.children[0]?.errors).toEqual(["too large"]);
  expect(by(all, "any")?.errors).toEqual(["wrong"]);
});

test("names of objects are no properties", () => {
  const [field] = fields({ properties: { constructor: { type: "string" } } }, {}, []);
  expect(field?.value).toBeUndefined();
});

test("a patch makes the one value of the other", () => {
  expect(patch({ a: 1, b: { c: 1, d: 2 }, e: [1] }, { a: 1, b: { c: 2, d: 2 }, f: 3 })).toEqual({ b: { c: 2 }, e: null, f: 3 });
  expect(patch({ a: { b: 1 } }, { a: { b: 1 } })).toBeUndefined();
});

test("a new item begins with what its schema says", () => {
  expect(initial({ type: "integer", minimum: 1 })).toBe(1);
  expect(initial({ type: "string", default: "x" })).toBe("x");
  expect(initial(true)).toBe("");
});
