import { expect, test } from "vitest";
import type { Layout } from "../api/types.ts";
import type { Tone } from "../parts/tone.ts";
import { type Toggled, flatten, rows, spread, toggledOf, written } from "./tree.ts";

const leaf = (name: string) => ({ name, type: "Service" });
const layout: Layout = {
  resources: [
    { name: "web", type: "web:v1", resources: [leaf("a"), { name: "inner", type: "in.py", resources: [leaf("b")] }] },
    leaf("c"),
  ],
};
const closed = { toggled: { own: new Map() } as Toggled, filter: "", trouble: false };

function names(tones: Tone[], choice: Partial<typeof closed>): string[] {
  const nodes = flatten(layout);
  const leaves = (index: number) => tones[index] ?? "good";
  return rows(nodes, spread(nodes, leaves), { ...closed, ...choice }).map((index) => nodes[index]?.node.name ?? "");
}

test("every node has the path that the API gives it, and leaves have the order of the graph", () => {
  const nodes = flatten(layout);
  expect(nodes.map(({ path, leaf: number, level }) => [path, number, level])).toEqual([
    ["$.resources[0]", -1, 1],
    ["$.resources[0].resources[0]", 0, 2],
    ["$.resources[0].resources[1]", -1, 2],
    ["$.resources[0].resources[1].resources[0]", 1, 3],
    ["$.resources[1]", 2, 1],
  ]);
});

test("a template that made nothing is no object, and the objects after it keep their places", () => {
  const objects = ["b", "c"].map((name) => ({ name, type: "Service", object: { apiVersion: "v1", kind: "Service", name } }));
  const leaves = flatten(layout, objects).map(({ node, leaf: number }) => [node.name, number]);
  expect(leaves).toEqual([["web", -1], ["a", -1], ["inner", -1], ["b", 0], ["c", 1]]);
});

test("a template has the worst tone of all below it", () => {
  const nodes = flatten(layout);
  const tones = spread(nodes, (index) => (["good", "bad", "busy"] as const)[index] ?? "unknown");
  expect(tones).toEqual(["bad", "good", "bad", "bad", "busy"]);
});

test("a closed template hides all below it", () => {
  expect(names([], {})).toEqual(["web", "a", "inner", "b", "c"]);
  expect(names([], { toggled: toggledOf("-0") })).toEqual(["web", "c"]);
});

test("a filter shows what fits, with the templates above it", () => {
  expect(names([], { filter: "B" })).toEqual(["web", "inner", "b"]);
  expect(names(["good", "bad", "good"], { trouble: true })).toEqual(["web", "inner", "b"]);
  expect(names([], { filter: "nothing" })).toEqual([]);
});

test("5,000 resources are rows within a frame or two", () => {
  const many: Layout = { resources: Array.from({ length: 50 }, (_, at) => ({ name: `t${at}`, type: "t", resources: Array.from({ length: 100 }, (_, of) => leaf(`r${of}`)) })) };
  const nodes = flatten(many);
  expect(nodes).toHaveLength(5050);
  const tones = spread(nodes, (index) => (index === 4999 ? "bad" : "good"));
  const shown = rows(nodes, tones, closed);
  // Only the branch with trouble is open at first.
  expect(shown).toHaveLength(150);
});

test("the address says what is open, and reads back the same", () => {
  for (const text of ["", "all", "none,0.1", "-0,0.1.2"]) expect(written(toggledOf(text))).toBe(text);
  expect(toggledOf("all,x,-,0..1,none!")).toEqual({ all: true, own: new Map() });
  expect(names([], { toggled: toggledOf("none") })).toEqual(["web", "c"]);
  expect(names([], { toggled: toggledOf("none,0") })).toEqual(["web", "a", "inner", "c"]);
});
