import { expect, test } from "vitest";
import { parts } from "./growing.ts";

test("the parts are all items in their order, none longer than the size", () => {
  for (const count of [0, 1, 9, 10, 11, 300]) {
    const items = Array.from({ length: count }, (_, index) => index);
    const found = parts(items, 10);
    expect(found.flat()).toEqual(items);
    expect(found.every((part) => part.length > 0 && part.length <= 10)).toBe(true);
  }
});
