// Logs of a deployment's pods: a stream of lines.
import { path, send } from "./client.ts";
import { batches } from "./events.ts";
import type { ErrorBody, LogLine, LogNotice } from "./types.ts";

export type LogItem = { event: "line"; data: LogLine } | { event: "notice"; data: LogNotice } | { event: "error"; data: ErrorBody | { error: ErrorBody } };

export interface LogQuery {
  resource?: string;
  container?: string;
  previous?: boolean;
  follow?: boolean;
  tail?: number;
}

/** Reads logs until they end or the signal ends them. */
export async function readLogs(deployment: string, query: LogQuery, receive: (items: LogItem[]) => void, signal: AbortSignal): Promise<void> {
  const answer = await send("GET", path`/deployments/${deployment}/logs`, { query: { ...query }, signal });
  for await (const messages of batches(answer)) {
    receive(messages.map(({ event, data }) => ({ event, data: JSON.parse(data) as unknown }) as LogItem));
  }
}
