// One stream of events for all tabs: a browser opens only six connections to a server over HTTP/1.1. The tab that holds a lock
// has the stream, and says to the others what arrives.
import { Failure, send, signedIn } from "./client.ts";
import { type Follower, type OperationEvent, batches, waitMs } from "./events.ts";
import type { ErrorBody, OperationRefusal, OperationReport } from "./types.ts";

/** What tabs say to each other. */
export type Message =
  | { kind: "want"; tab: string; operations: string[] }
  | { kind: "who" }
  | { kind: "events"; batch: Tagged[] }
  | { kind: "connected"; isOpen: boolean }
  | { kind: "failed"; operation: string; status: number; error: ErrorBody };

/** An event with the operation that it belongs to. */
export type Tagged = OperationEvent & { of: string };

const NAME = "dm-events";
const SAY_AGAIN_MS = 20_000;
/** Timers of hidden tabs run once a minute. */
const FORGET_MS = 150_000;

/** What each tab wants, with the time when it last said so. Pure, for tests. */
export class Wishes {
  private readonly tabs = new Map<string, { operations: string[]; at: number }>();

  /** Returns whether the tab wants an operation that it did not want before, and so has to hear it from the start. */
  say(tab: string, operations: string[], now: number): boolean {
    const before = this.tabs.get(tab)?.operations ?? [];
    if (operations.length === 0) this.tabs.delete(tab);
    else this.tabs.set(tab, { operations, at: now });
    return operations.some((operation) => !before.includes(operation));
  }

  all(now: number): string[] {
    for (const [tab, { at }] of this.tabs) if (now - at > FORGET_MS) this.tabs.delete(tab);
    return [...new Set([...this.tabs.values()].flatMap(({ operations }) => operations))].sort();
  }
}

/** The events of the stream in the form of one operation's own stream. */
export function tagged(event: string, data: unknown): Tagged | { refused: OperationRefusal } {
  if (event === "refused") return { refused: data as OperationRefusal };
  if (event === "resource") {
    const { operation, report } = data as OperationReport;
    return { event: "resource", data: report, of: operation };
  }
  const operation = data as { id: string };
  return { event: "operation", data, of: operation.id } as Tagged;
}

const tab = Math.random().toString(36).slice(2);
const watched = new Map<Follower, string[]>();
const wishes = new Wishes();
let channel: BroadcastChannel | undefined;
let restart: ((isNeeded: boolean) => void) | undefined;

/** Follows operations until the returned function is called. */
export function watchOperations(operations: string[], follower: Follower): () => void {
  watched.set(follower, operations);
  open();
  announce();
  return () => {
    watched.delete(follower);
    announce();
  };
}

function open(): void {
  if (channel) return;
  channel = new BroadcastChannel(NAME);
  channel.onmessage = ({ data }: MessageEvent<Message>) => heard(data);
  say({ kind: "who" });
  setInterval(announce, SAY_AGAIN_MS);
  addEventListener("pagehide", () => say({ kind: "want", tab, operations: [] }));
  void lead();
}

function say(message: Message): void {
  channel?.postMessage(message);
  heard(message);
}

function announce(): void {
  say({ kind: "want", tab, operations: [...new Set([...watched.values()].flat())] });
}

function heard(message: Message): void {
  switch (message.kind) {
    case "want":
      if (wishes.say(message.tab, message.operations, Date.now())) restart?.(true);
      else restart?.(false);
      break;
    case "who":
      if (watched.size > 0) channel?.postMessage({ kind: "want", tab, operations: [...watched.values()].flat() } satisfies Message);
      break;
    case "events":
      for (const [follower, operations] of watched) {
        const own = message.batch.filter(({ of }) => operations.includes(of));
        if (own.length > 0) follower.receive(own);
      }
      break;
    case "connected":
      for (const follower of watched.keys()) follower.connected(message.isOpen);
      break;
    case "failed":
      for (const [follower, operations] of watched) {
        if (message.operation === "" || operations.includes(message.operation)) follower.fail(new Failure(message.status, message.error));
      }
  }
}

/** Waits until no other tab leads, and then leads until this tab is closed. */
async function lead(): Promise<void> {
  // Without locks, as on a plain address of another host, each tab has a stream of its own.
  if (!("locks" in navigator)) return stream();
  await navigator.locks.request(NAME, stream);
}

async function stream(): Promise<never> {
  for (;;) {
    const wanted = wishes.all(Date.now());
    const stop = new AbortController();
    restart = (isNeeded) => {
      if (isNeeded || wishes.all(Date.now()).join() !== wanted.join()) stop.abort();
    };
    await Promise.race([wanted.length === 0 ? never() : follow(wanted, stop.signal), aborted(stop.signal)]);
    if (!stop.signal.aborted) await aborted(stop.signal);
  }
}

function never(): Promise<never> {
  return new Promise(() => undefined);
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    signal.addEventListener("abort", () => resolve());
  });
}

/** Follows a set of operations until all are done or the signal ends it, and connects again after each loss. */
async function follow(operations: string[], signal: AbortSignal): Promise<void> {
  let last = "";
  for (let failures = 0; !signal.aborted; failures += 1) {
    try {
      const headers: Record<string, string> = last === "" ? {} : { "last-event-id": last };
      const answer = await send("GET", "/events", { query: { operations: operations.join(",") }, headers, signal });
      say({ kind: "connected", isOpen: true });
      for await (const messages of batches(answer)) {
        failures = 0;
        last = messages.at(-1)?.id ?? last;
        publish(messages.map(({ event, data }) => tagged(event, JSON.parse(data))));
      }
      // The stream ends by itself when all operations are done.
      return;
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof Failure && !error.isTemporary) return failed(error);
    }
    say({ kind: "connected", isOpen: false });
    await Promise.race([new Promise((resolve) => setTimeout(resolve, waitMs(failures))), aborted(signal)]);
  }
}

function publish(events: ReturnType<typeof tagged>[]): void {
  const batch = events.filter((event): event is Tagged => "of" in event);
  if (batch.length > 0) say({ kind: "events", batch });
  for (const event of events) {
    if (!("refused" in event)) continue;
    const { operation, error } = event.refused;
    say({ kind: "failed", operation, status: 404, error });
  }
}

/** Other tabs may have a token that is accepted, and lead next. */
function failed(failure: Failure): void {
  say({ kind: "failed", operation: "", status: failure.status, error: failure.body });
}

// A new session is a reason to try again.
signedIn.subscribe(() => restart?.(true));
