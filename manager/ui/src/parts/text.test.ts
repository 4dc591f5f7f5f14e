import { expect, test } from "vitest";
import { relative } from "./ago.tsx";
import { plain, shown } from "./text.ts";

test("characters that hide or reorder text are shown", () => {
  expect(plain("a\u202Eb")).toBe("a‹U+202E›b");
  expect(plain("\u001B[31mred")).toBe("‹U+001B›[31mred");
  expect(plain("pay\u200Bpal")).toBe("pay‹U+200B›pal");
  expect(plain("<b>two\nlines</b>")).toBe("<b>two\nlines</b>");
});

test("values are texts or JSON", () => {
  expect(shown("a")).toBe("a");
  expect(shown(80)).toBe("80");
  expect(shown({ a: [1] })).toBe('{\n  "a": [\n    1\n  ]\n}');
  expect(shown(undefined)).toBe("");
});

test("times are relative to now", () => {
  const now = Date.parse("2026-01-02T00:00:00Z");
  expect(relative(now - 5000, now)).toBe("just now");
  expect(relative(now - 61_000, now)).toBe("1 minute ago");
  expect(relative(now - 86_400_000, now)).toBe("yesterday");
});
