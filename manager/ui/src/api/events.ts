// Follows an operation: server-sent events, read with fetch because EventSource sends no token.
import { Failure, path, send } from "./client.ts";
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

/** Follows the operation until it is done, and connects again after each loss. */
export async function follow(operation: string, follower: Follower, signal: AbortSignal): Promise<void> {
  let last = "";
  for (let failures = 0; !signal.aborted; failures += 1) {
    try {
      const headers: Record<string, string> = last === "" ? {} : { "last-event-id": last };
      const response = await send("GET", path`/operations/${operation}/events`, { headers, signal });
      follower.connected(true);
      for await (const batch of batches(response)) {
        failures = 0;
        last = batch.at(-1)?.id ?? last;
        const events = batch.map(({ event, data }) => ({ event, data: JSON.parse(data) }) as OperationEvent);
        follower.receive(events);
        if (events.some(({ event, data }) => event === "operation" && data.status === "DONE")) return;
      }
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof Failure && !error.isTemporary) return follower.fail(error);
    }
    follower.connected(false);
    await new Promise((resolve) => setTimeout(resolve, waitMs(failures)));
  }
}

async function* batches(response: Response): AsyncGenerator<Message[]> {
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
