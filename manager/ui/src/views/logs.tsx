// The logs of a deployment. Only the last lines are kept, so that a container that writes without end does no harm.
import { useEffect, useRef, useState } from "preact/hooks";
import { type LogItem, readLogs } from "../api/activity.ts";
import { Failure } from "../api/client.ts";
import type { ErrorBody } from "../api/types.ts";
import { ErrorText } from "../parts/failed.tsx";
import { plain } from "../parts/text.ts";
import { change, parameter } from "../router.ts";

const KEPT = 2000;
const TAIL = 200;

interface Seen {
  lines: { from: string; text: string; isNotice: boolean }[];
  error?: ErrorBody;
  isOver: boolean;
}

const NOTHING: Seen = { lines: [], isOver: false };

interface Properties {
  deployment: string;
  resource: string;
  container: string;
}

export function Logs({ deployment, resource, container }: Properties) {
  const [previous, follow] = [parameter("previous") !== "", parameter("follow") !== ""];
  const [seen, setSeen] = useState<Seen>(NOTHING);
  const [round, setRound] = useState(0);
  const box = useRef<HTMLPreElement>(null);
  useEffect(() => {
    const stop = new AbortController();
    const tell = collector(setSeen, stop.signal);
    setSeen(NOTHING);
    const ended = (error?: ErrorBody) => !stop.signal.aborted && setSeen((before) => ({ ...before, isOver: true, ...(error && { error }) }));
    readLogs(deployment, { resource, container, previous, follow, tail: TAIL }, tell, stop.signal).then(
      () => ended(),
      (error: unknown) => ended(error instanceof Failure ? error.body : { code: "INTERNAL", message: String(error), causes: [] }),
    );
    return () => stop.abort();
  }, [deployment, resource, container, previous, follow, round]);
  useEffect(() => {
    if (follow && box.current) box.current.scrollTop = box.current.scrollHeight;
  }, [seen, follow]);
  return (
    <section aria-label="Logs">
      <h2>Logs</h2>
      <div class="filters">
        <Check name="follow" label="Follow" />
        <Check name="previous" label="Before the last restart" />
        <button type="button" onClick={() => setRound((before) => before + 1)}>
          Read again
        </button>
        <span class="quiet" role="status">
          {seen.isOver ? `${seen.lines.length} ${seen.lines.length === 1 ? "line" : "lines"}` : follow ? "● live" : "Loading…"}
        </span>
      </div>
      {seen.error && (
        <section class="notice bad" role="alert">
          <ErrorText error={seen.error} />
        </section>
      )}
      {seen.isOver && seen.lines.length === 0 && !seen.error && <p class="notice">Its containers wrote nothing, or it has no pods.</p>}
      {seen.lines.length > 0 && (
        <pre ref={box} tabIndex={0} class="log" aria-label="Lines of the logs">
          {seen.lines.map((line, index) => (
            <div key={index} class={line.isNotice ? "quiet" : ""}>
              <span class="quiet">{plain(line.from)} </span>
              {plain(line.text)}
            </div>
          ))}
        </pre>
      )}
    </section>
  );
}

function Check({ name, label }: { name: string; label: string }) {
  return (
    <label class="check">
      <input type="checkbox" checked={parameter(name) !== ""} onChange={(event) => change({ [name]: event.currentTarget.checked ? "1" : "" })} />
      {label}
    </label>
  );
}

/** Shows what arrived once a frame. */
function collector(setSeen: (change: (before: Seen) => Seen) => void, signal: AbortSignal): (items: LogItem[]) => void {
  let waiting: LogItem[] = [];
  const show = () => {
    const items = waiting;
    waiting = [];
    if (!signal.aborted) setSeen((before) => items.reduce(added, { ...before, lines: before.lines.slice() }));
  };
  return (items) => {
    if (waiting.length === 0) setTimeout(show, 50);
    waiting.push(...items);
    if (waiting.length > KEPT) waiting = waiting.slice(-KEPT);
  };
}

function added(seen: Seen, item: LogItem): Seen {
  if (item.event === "error") return { ...seen, error: "error" in item.data ? item.data.error : item.data };
  const { pod = "", container = "" } = item.data;
  const isNotice = item.event === "notice";
  const text = item.event === "notice" ? item.data.message : item.data.text;
  seen.lines.push({ from: [pod, container].filter(Boolean).join("/"), text, isNotice });
  if (seen.lines.length > KEPT) seen.lines.splice(0, seen.lines.length - KEPT);
  return seen;
}
