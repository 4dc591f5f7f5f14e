// Server-sent events, read with fetch, because EventSource sends no token and says no reason.
import type { Failure } from "./client.ts";
import type { Operation, ResourceReport } from "./types.ts";

export type OperationEvent =
  | { event: "operation"; data: Operation }
  | { event: "resource"; data: ResourceReport };

interface Message {
  id: string;
  event: string;
  data: string;
}

/** The whole messages at the start of a text, and the rest of it. */
export function messages(text: string): [Message[], string] {
  const blocks = text.split("\n\n");
  const rest = blocks.pop() ?? "";
  return [blocks.map(message).filter((found) => found.data !== ""), rest];
}

function message(block: string): Message {
  const found: Message = { id: "", event: "", data: "" };
  for (const line of block.split("\n")) {
    const [, field, value] = /^(id|event|data): ?(.*)$/.exec(line) ?? [];
    if (field !== undefined) found[field as keyof Message] = value ?? "";
  }
  return found;
}

const FIRST_WAIT_MS = 1000;
const LONGEST_WAIT_MS = 30_000;

/** The time until the next try: it doubles with each failure, and differs between tabs. */
export function waitMs(failures: number): number {
  return Math.min(FIRST_WAIT_MS * 2 ** failures, LONGEST_WAIT_MS) * (0.5 + Math.random() / 2);
}

export interface Follower {
  /** All events that arrived together. */
  receive: (events: OperationEvent[]) => void;
  /** Whether the stream is open. */
  connected: (isOpen: boolean) => void;
  /** The stream cannot be followed any more. */
  fail: (failure: Failure) => void;
}

export async function* batches(response: Response): AsyncGenerator<Message[]> {
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  for (;;) {
    const { done, value } = (await reader?.read()) ?? { done: true, value: undefined };
    if (done) return;
    const [found, rest] = messages(text + value);
    text = rest;
    if (found.length > 0) yield found;
  }
}
