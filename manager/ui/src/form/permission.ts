// Whether the caller may deploy into a namespace, asked before somebody fills in a form.
import { useEffect, useState } from "preact/hooks";
import { get } from "../api/client.ts";
import type { Permission, Whoami } from "../api/types.ts";

/** After this pause in typing, the server is asked. */
const PAUSE_MS = 300;

/** Undefined while it is not known, such as for a text that is no name: then the write itself says it. */
export function useMayCreate(namespace: string): Permission | undefined {
  const [answer, setAnswer] = useState<{ namespace: string; create?: Permission }>();
  useEffect(() => {
    const stop = new AbortController();
    const ask = async () => {
      const caller = await get<Whoami>("/whoami", { namespace }, stop.signal).catch(() => undefined);
      if (!stop.signal.aborted) setAnswer({ namespace, ...(caller?.may && { create: caller.may.create }) });
    };
    const timer = setTimeout(() => void ask(), PAUSE_MS);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [namespace]);
  return answer?.namespace === namespace ? answer.create : undefined;
}
