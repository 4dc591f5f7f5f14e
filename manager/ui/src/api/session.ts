// How people sign in here, and who did.
import { signal } from "@preact/signals";
import { send } from "./client.ts";
import type { Whoami } from "./types.ts";

export interface Ways {
  /** Whether callers are authenticated at all. */
  required: boolean;
  /** Whether an issuer signs people in. */
  issuer: boolean;
  /** Whether this browser has a session. */
  session: boolean;
}

export const ways = signal<Ways | undefined>(undefined);

/** Who is signed in. It stays when the session ends by itself. */
export const person = signal<string | undefined>(undefined);

/** Counts the changes of the person: what was shown to one is not shown to the next. */
export const persons = signal(0);

function become(user: string | undefined): void {
  if (person.value !== undefined && person.value !== user) persons.value += 1;
  person.value = user;
}

export async function ask(): Promise<void> {
  const answer = await send("GET", "/ui/session").catch(() => undefined);
  if (!answer) return;
  ways.value = (await answer.json()) as Ways;
  if (!ways.value.required) return;
  const caller = await send("GET", "/whoami").catch(() => undefined);
  if (caller) become(((await caller.json()) as Whoami).user);
}

/** Ends the session of this browser. */
export async function end(): Promise<void> {
  await send("DELETE", "/ui/session");
  ways.value = undefined;
  become(undefined);
}
