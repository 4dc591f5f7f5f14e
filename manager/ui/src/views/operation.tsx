// An operation, live: its progress and each resource as it changes.
import { useEffect, useId, useState } from "preact/hooks";
import { Failure, get, path, send } from "../api/client.ts";
import type { OperationEvent } from "../api/events.ts";
import { watchOperations } from "../api/shared.ts";
import type { Deployment, Operation, ResourceReport } from "../api/types.ts";
import { useLoaded } from "../loaded.ts";
import { Ago, duration } from "../parts/ago.tsx";
import { ErrorText, Failed } from "../parts/failed.tsx";
import { Heading } from "../parts/heading.tsx";
import { Link } from "../parts/link.tsx";
import { Refused } from "../parts/refused.tsx";
import { State } from "../parts/state.tsx";
import { plain } from "../parts/text.ts";
import { operationMark } from "../parts/tone.ts";
import { changesAddress, deploymentAddress } from "../router.ts";
import { Reports } from "./reports.tsx";

interface Seen {
  operation?: Operation;
  reports: ReadonlyMap<string, ResourceReport>;
  isLive: boolean;
  failure?: Failure;
}

const NOTHING: Seen = { reports: new Map(), isLive: false };
/** How often a hidden tab shows what arrived. */
const HIDDEN_MS = 1000;

/** What is known after more events. A stream that begins again tells old states once more: an end stays an end. */
export function fold(before: Seen, events: OperationEvent[]): Seen {
  const reports = new Map(before.reports);
  let { operation } = before;
  for (const event of events) {
    if (event.event === "operation" && operation?.status !== "DONE") operation = event.data;
    if (event.event === "resource") reports.set(reportKey(event.data), event.data);
  }
  return { ...before, reports, ...(operation && { operation }) };
}

/** Names are unique within one template only. */
function reportKey({ name, type, object }: ResourceReport): string {
  return JSON.stringify([name, type, object?.namespace, object?.name]);
}

/** Follows the operation, in the stream that all tabs share. An empty id stands for none. */
export function useOperation(id: string): Seen & { again: () => void } {
  const [seen, setSeen] = useState<Seen>(NOTHING);
  const [round, setRound] = useState(0);
  useEffect(() => {
    let waiting: OperationEvent[] = [];
    let isOver = false;
    const show = () => {
      const events = waiting;
      waiting = [];
      if (!isOver) setSeen((before) => fold(before, events));
    };
    const follower = {
      receive: (events: OperationEvent[]) => {
        // A hidden tab has no frames.
        if (waiting.length === 0 && document.hidden) setTimeout(show, HIDDEN_MS);
        else if (waiting.length === 0) requestAnimationFrame(show);
        waiting.push(...events);
      },
      connected: (isLive: boolean) => setSeen(({ operation, reports }) => ({ reports, isLive, ...(operation && { operation }) })),
      fail: (failure: Failure) => setSeen((before) => ({ ...before, failure, isLive: false })),
    };
    setSeen(NOTHING);
    const stop = id === "" ? undefined : watchOperations([id], follower);
    return () => {
      isOver = true;
      stop?.();
    };
  }, [id, round]);
  return { ...seen, again: () => setRound((before) => before + 1) };
}

export function OperationView({ deployment, id }: { deployment: string; id: string }) {
  const { operation, reports, isLive, failure, again } = useOperation(id);
  const title = `${operation?.type.toLowerCase() ?? "operation"} ${deployment}`;
  return (
    <>
      <p class="quiet">
        <Link to="/ui/">Deployments</Link> / <Link to={deploymentAddress(deployment)}>{plain(deployment)}</Link>
      </p>
      <Heading title={title}>
        {plain(title)} {operation && <State {...operationMark(operation)} />}
      </Heading>
      {failure && <Failed failure={failure} reload={again} stale={operation !== undefined} />}
      {operation ? <Parts operation={operation} reports={[...reports.values()]} isLive={isLive} /> : !failure && <p class="loading">Loading…</p>}
    </>
  );
}

function Parts({ operation, reports, isLive }: { operation: Operation; reports: ResourceReport[]; isLive: boolean }) {
  const { progress, error, warnings = [], startTime, endTime, user } = operation;
  const isDone = operation.status === "DONE";
  return (
    <>
      <p>
        By {plain(user)}, <Ago at={startTime} />, {isDone ? "took" : "running for"} {duration(startTime, endTime)}.{" "}
        {!isDone && <span class="quiet">{isLive ? "● live" : "○ connecting…"}</span>}
      </p>
      {!isDone && (
        <div class="progress" role="status">
          <label>
            {plain(progress.step) || "waiting"} {progress.total > 0 && `${progress.done} of ${progress.total}`}
            <progress value={progress.done} max={Math.max(progress.total, 1)} />
          </label>
          {progress.waitingFor && <p class="notice warning">Waits for {plain(progress.waitingFor)}, which is unavailable.</p>}
          <Stop operation={operation} />
        </div>
      )}
      {isDone && !error && operation.type === "PREVIEW" && (
        <p class="notice">
          <Link to={changesAddress(operation.deployment)}>See and commit the preview</Link>
        </p>
      )}
      {error && (
        <section class="notice bad" aria-label="Why it failed">
          <ErrorText error={error} />
        </section>
      )}
      {warnings.map((text, index) => (
        <p key={index} class="notice warning lines">
          {plain(text)}
        </p>
      ))}
      <Reports reports={reports} isDone={isDone} deployment={operation.deployment} />
    </>
  );
}

/** Stops the operation after a second click. */
function Stop({ operation: { id, deployment } }: { operation: Operation }) {
  const [asked, setAsked] = useState(false);
  const { value } = useLoaded<Deployment>(`rights ${deployment}`, (signal) => get(path`/deployments/${deployment}`, {}, signal));
  const may = value?.may.update;
  const hint = useId();
  const [failure, setFailure] = useState<Failure>();
  const stop = async () => {
    try {
      await send("POST", path`/operations/${id}/cancel`, { headers: { prefer: "respond-async" } });
      setAsked(false);
    } catch (error) {
      if (error instanceof Failure) setFailure(error);
    }
  };
  if (failure) return <Failed failure={failure} reload={() => void stop()} stale={false} />;
  if (!asked) {
    return (
      <>
        <button type="button" disabled={may?.allowed === false} aria-describedby={hint} onClick={() => setAsked(true)}>
          Stop…
        </button>{" "}
        <Refused id={hint} may={may} />
      </>
    );
  }
  return (
    <p class="notice warning">
      Nothing that was done is undone.{" "}
      <button type="button" class="danger" onClick={() => void stop()}>
        Stop it
      </button>{" "}
      <button type="button" onClick={() => setAsked(false)}>
        Let it run
      </button>
    </p>
  );
}
