// Values that a view loads, and loads again while its tab is visible.
import { useEffect, useState } from "preact/hooks";
import { Failure, signedIn } from "./api/client.ts";
import { waitMs } from "./api/events.ts";

export interface Loaded<T> {
  /** The last value that was loaded. It stays when a later load fails. */
  value?: T;
  /** Why the last load failed. */
  failure?: Failure;
  reload: () => void;
}

type Load<T> = (signal: AbortSignal) => Promise<T>;

/** Loads a value. A new key stands for another value. With an interval, loads it again and again. */
export function useLoaded<T>(key: string, load: Load<T>, everyMs?: number): Loaded<T> {
  const [state, setState] = useState<{ key: string; value?: T; failure?: Failure }>({ key });
  const [round, setRound] = useState(0);
  const credential = signedIn.value;
  useEffect(() => {
    const stop = new AbortController();
    void repeat(load, everyMs, stop.signal, (outcome) =>
      setState((before) => ({ ...(before.key === key ? before : {}), key, failure: undefined, ...outcome }) as typeof before),
    );
    return () => stop.abort();
  }, [key, round, credential, everyMs]);
  const reload = () => setRound((before) => before + 1);
  return state.key === key ? { ...state, reload } : { reload };
}

type Outcome<T> = { value: T } | { failure: Failure };

async function repeat<T>(
  load: Load<T>,
  everyMs: number | undefined,
  signal: AbortSignal,
  show: (outcome: Outcome<T>) => void,
): Promise<void> {
  for (let failures = 0; !signal.aborted; ) {
    const outcome = await attempt(load, signal);
    if (signal.aborted) return;
    show(outcome);
    const failed = "failure" in outcome;
    if (failed && !outcome.failure.isTemporary) return;
    if (!failed && everyMs === undefined) return;
    failures = failed ? failures + 1 : 0;
    await pause(failed ? waitMs(failures) : (everyMs ?? 0), signal);
    await visible(signal);
  }
}

async function attempt<T>(load: Load<T>, signal: AbortSignal): Promise<Outcome<T>> {
  try {
    return { value: await load(signal) };
  } catch (error) {
    if (error instanceof Failure) return { failure: error };
    return { failure: new Failure(0, { code: "INTERNAL", message: String(error), causes: [] }) };
  }
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      resolve();
    });
  });
}

/** Waits until somebody can see the tab. */
export function visible(signal: AbortSignal): Promise<void> {
  if (!document.hidden) return Promise.resolve();
  return new Promise((resolve) => {
    const look = () => {
      if (!document.hidden) resolve();
    };
    document.addEventListener("visibilitychange", look, { signal });
    signal.addEventListener("abort", () => resolve());
  });
}
