import { expect, test } from "vitest";
import type { ErrorBody } from "../api/types.ts";
import { KEPT, configuration, lineOf, parsed, read, revealed, written } from "./document.ts";
import { sorted } from "./faults.ts";
import { update } from "./update.ts";

const text = "# mine\nresources:\n- name: web\n  type: web:v1\n  properties:\n    size: 3 # why\n";

test("a change of the form keeps the comments of the text", () => {
  const next = written(text, ["resources", 0, "properties", "size"], 4);
  expect(next).toBe(text.replace("3", "4"));
  const deep = written(next, ["resources", 0, "properties", "ports", 0, "number"], 80);
  expect(read(deep).value).toMatchObject({ resources: [{ properties: { size: 4, ports: [{ number: 80 }] } }] });
  expect(read(written(deep, ["resources", 0, "properties", "ports"], undefined)).value).toEqual(read(next).value);
});

test("a text that is no YAML says where", () => {
  const { value, problems } = read("a: [1\nb: 2");
  expect(value).toBeUndefined();
  expect(problems[0]?.line).toBeGreaterThan(0);
});

test("aliases that grow without end are refused", () => {
  const rows = ["a: &a [x,x,x,x,x,x,x,x,x]", ...["b", "c", "d", "e", "f"].map((name, index) => `${name}: &${name} [${Array(9).fill(`*${"abcde"[index]}`).join(",")}]`)];
  expect(read(rows.join("\n")).problems).toHaveLength(1);
});

test("secrets of the form are in what is sent and not in the text", () => {
  const path = ["resources", 0, "properties", "password"];
  const kept = written(configuration("web", "web:v1", {}), path, KEPT);
  const secrets = new Map([[JSON.stringify(path), "hunter2"]]);
  expect(kept).not.toContain("hunter2");
  expect(read(revealed(kept, secrets)).value).toMatchObject({ resources: [{ properties: { password: "hunter2" } }] });
  // A person who writes another value into the text means it.
  expect(revealed(written(kept, path, "other"), secrets)).toContain("other");
});

test("an update of one resource sends what changed, and everything else all of it", () => {
  expect(update(text, text.replace("3", "4"))).toEqual({ properties: { size: 4 } });
  const more = `${text}- name: b\n  type: Service\n`;
  expect(update(text, more)).toEqual({ content: more });
  const renamed = text.replace("name: web", "name: other");
  expect(update(text, renamed)).toEqual({ content: renamed });
});

test("errors of the server find their fields and lines", () => {
  const cause = (message: string, path: string): ErrorBody => ({ code: "INVALID_PROPERTIES", message, causes: [], location: { file: "config.yaml", line: 4, path } });
  const error: ErrorBody = {
    code: "INVALID_PROPERTIES",
    message: "all",
    causes: [
      cause('n: "x" is not of type "integer"', "$.resources[0].properties.n"),
      cause("0: wrong", "$.resources[0].properties.list[2].a"),
      cause('"m" is a required property', "$.resources[0]"),
      cause("another", "$.resources[1].properties.n"),
    ],
  };
  const { faults, lines, rest } = sorted(error);
  expect(faults.map(({ path }) => path)).toEqual([["n"], ["list", 2, "a"], ["m"]]);
  expect(lines).toHaveLength(4);
  expect(rest.map(({ message }) => message)).toEqual(["another"]);
});

test("a part is read as YAML", () => {
  expect(parsed("[1, a]")).toEqual([1, "a"]);
  expect(() => parsed("[1")).toThrow();
});

test("a fault has the line of its value, or of what its value is missing in", () => {
  const text = "resources:\n- name: web\n  type: app:v1\n  properties:\n    replicas: many\n    ports:\n    - 80\n    - high\n";
  const properties = ["resources", 0, "properties"];
  expect(lineOf(text, [...properties, "replicas"])).toBe(5);
  expect(lineOf(text, [...properties, "ports", 1])).toBe(8);
  expect(lineOf(text, [...properties, "image"])).toBe(5);
  expect(lineOf("resources: [{name: web, properties: {replicas: many}}]", [...properties, "replicas"])).toBe(1);
  expect(lineOf("", properties)).toBe(1);
});
