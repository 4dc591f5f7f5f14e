// How people sign in here.
import { signal } from "@preact/signals";
import { send } from "./client.ts";

export interface Ways {
  /** Whether callers are authenticated at all. */
  required: boolean;
  /** Whether an issuer signs people in. */
  issuer: boolean;
  /** Whether this browser has a session. */
  session: boolean;
}

export const ways = signal<Ways | undefined>(undefined);

export async function ask(): Promise<void> {
  const answer = await send("GET", "/ui/session").catch(() => undefined);
  if (answer) ways.value = (await answer.json()) as Ways;
}
