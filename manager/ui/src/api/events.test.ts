import { expect, test } from "vitest";
import { messages, waitMs } from "./events.ts";

const stream = 'id: r-0\nevent: operation\ndata: {"a":1}\n\n:\n\nid: r-1\nevent: resource\ndata: {"b": "c: d"}\n\n';

test("a stream gives the same messages wherever it is cut", () => {
  const expected = [
    { id: "r-0", event: "operation", data: '{"a":1}' },
    { id: "r-1", event: "resource", data: '{"b": "c: d"}' },
  ];
  for (let cut = 0; cut <= stream.length; cut += 1) {
    const [first, rest] = messages(stream.slice(0, cut));
    const [second, end] = messages(rest + stream.slice(cut));
    expect([...first, ...second], `cut at ${cut}`).toEqual(expected);
    expect(end).toBe("");
  }
});

test("tries become rarer, and never rarer than every 30 seconds", () => {
  expect(waitMs(0)).toBeLessThanOrEqual(1000);
  expect(waitMs(4)).toBeGreaterThanOrEqual(8000);
  expect(waitMs(100)).toBeLessThanOrEqual(30_000);
});
