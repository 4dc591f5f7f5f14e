import { expect, test } from "vitest";
import { csv } from "../parts/csv.ts";
import { Wishes, tagged } from "./shared.ts";

test("a stream follows what all tabs want, until a tab is forgotten", () => {
  const wishes = new Wishes();
  expect(wishes.say("one", ["b", "a"], 0)).toBe(true);
  expect(wishes.say("two", ["b"], 100_000)).toBe(true);
  expect(wishes.say("two", ["b"], 100_001)).toBe(false);
  expect(wishes.all(100_001)).toEqual(["a", "b"]);
  expect(wishes.all(160_000)).toEqual(["b"]);
  wishes.say("two", [], 160_001);
  expect(wishes.all(160_001)).toEqual([]);
});

test("each event says which operation it is of", () => {
  expect(tagged("operation", { id: "op-1" })).toMatchObject({ of: "op-1", event: "operation" });
  expect(tagged("resource", { operation: "op-2", report: { name: "a" } })).toMatchObject({ of: "op-2", data: { name: "a" } });
  expect(tagged("refused", { operation: "op-3" })).toEqual({ refused: { operation: "op-3" } });
});

test("a cell that a spreadsheet would compute is a text", () => {
  const text = csv(["name"], [{ name: "=1+1" }, { name: 'a "b"' }, { name: "-x" }]);
  expect(text).toBe('"name"\r\n"\'=1+1"\r\n"a ""b"""\r\n"\'-x"\r\n');
});
