import { expect, test } from "vitest";
import { between, columns, drawn, places } from "./layering.ts";

test("a node stands after all that it waits for", () => {
  const edges = [
    { from: 1, to: 0 },
    { from: 2, to: 1 },
    { from: 2, to: 0 },
  ];
  expect(columns(4, edges)).toEqual([0, 1, 2, 0]);
});

test("no two nodes have one place, and a circle does not hang", () => {
  const edges = Array.from({ length: 400 }, (_, index) => ({ from: (index * 7) % 100, to: (index * 13) % 100 }));
  const found = places(100, edges).map(({ column, row }) => `${column} ${row}`);
  expect(new Set(found).size).toBe(100);
});

test("neighbours stand beside each other", () => {
  const edges = [
    { from: 2, to: 1 },
    { from: 3, to: 0 },
  ];
  const [a, b, c, d] = places(4, edges);
  expect([d?.row === a?.row, c?.row === b?.row]).toEqual([true, true]);
});

test("of many nodes the worst are drawn, with the edges between them", () => {
  const nodes = drawn([0, 4, 1, 4, 0], 3);
  expect(nodes).toEqual([1, 2, 3]);
  expect(between(nodes, [{ from: 3, to: 1 }, { from: 4, to: 1 }])).toEqual([{ from: 2, to: 0 }]);
});
