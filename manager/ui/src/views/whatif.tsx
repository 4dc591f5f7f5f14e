// What a version of a template would change in deployments, and its roll-out in stages: the next stage begins when all of the one
// before are done without an error.
import { useEffect, useId, useRef, useState } from "preact/hooks";
import { Failure, get, path, send, write } from "../api/client.ts";
import { watchOperations } from "../api/shared.ts";
import type { Deployment, ErrorBody, WhatIfItem, WhatIfPage } from "../api/types.ts";
import { useLoaded } from "../loaded.ts";
import { ErrorText, Failed } from "../parts/failed.tsx";
import { Link } from "../parts/link.tsx";
import { Refused } from "../parts/refused.tsx";
import { State } from "../parts/state.tsx";
import { plain } from "../parts/text.ts";
import type { Mark } from "../parts/tone.ts";
import { deploymentAddress } from "../router.ts";

const MOST = 200;

const OUTCOMES: Record<WhatIfItem["outcome"], Mark> = {
  CURRENT: { tone: "good", word: "has it already" },
  UNFINISHED: { tone: "warning", word: "not finished" },
  UNCHANGED: { tone: "unknown", word: "the same resources" },
  CHANGED: { tone: "busy", word: "would change" },
  FAILING: { tone: "bad", word: "would fail" },
};

export function WhatIf({ template }: { template: string }) {
  const { value, failure, reload } = useLoaded<WhatIfPage>(`what-if ${template}`, async (signal) => {
    const answer = await send("POST", "/templates/whatif", { body: { template }, query: { limit: MOST }, signal });
    return (await answer.json()) as WhatIfPage;
  });
  const rollOut = useRollOut(template);
  if (failure) return <Failed failure={failure} reload={reload} stale={false} />;
  if (!value) return <p class="loading">Each deployment is expanded with this version…</p>;
  if (value.items.length === 0) return <p class="notice">No deployment that you may see uses this template.</p>;
  const wanted = value.items.filter((item) => item.outcome !== "CURRENT" && item.outcome !== "FAILING" && item.uses.some((use) => !use.owner));
  return (
    <>
      <table class="cards">
        <caption class="quiet">
          {value.items.length} deployments use the template{value.nextPageToken ? `, the first ${MOST} are shown` : ""}
        </caption>
        <thead>
          <tr>
            <th scope="col">Deployment</th>
            <th scope="col">Now</th>
            <th scope="col">With this version</th>
            <th scope="col">Roll-out</th>
          </tr>
        </thead>
        <tbody>
          {value.items.map((item) => (
            <Row key={item.deployment} item={item} isWanted={wanted.includes(item)} progress={rollOut.progress.get(item.deployment)} />
          ))}
        </tbody>
      </table>
      <Start wanted={wanted} rollOut={rollOut} />
    </>
  );
}

interface RowProperties {
  item: WhatIfItem;
  /** Whether an upgrade would do anything. */
  isWanted: boolean;
  progress: Progress | undefined;
}

function Row({ item, isWanted, progress }: RowProperties) {
  const { create = 0, update = 0, replace = 0, delete: gone = 0 } = item.summary as Record<string, number>;
  const counts = Object.entries({ new: create, changed: update, replaced: replace, deleted: gone }).filter(([, count]) => count > 0);
  const versions = [...new Set(item.uses.map((use) => use.version ?? use.type))];
  return (
    <tr>
      <th scope="row">
        <Link to={deploymentAddress(item.deployment)}>{plain(item.deployment)}</Link>
      </th>
      <td data-label="Now">{plain(versions.join(", "))}</td>
      <td data-label="With this version">
        <State {...OUTCOMES[item.outcome]} /> <span class="quiet">{counts.map(([what, count]) => `${count} ${what}`).join(", ")}</span>
        {item.error && <ErrorText error={item.error} />}
        {item.uses.some((use) => use.owner) && <p class="quiet">Another template names the version: its owner must change it.</p>}
      </td>
      <td data-label="Roll-out">
        {progress ? <State {...progress.mark} /> : "–"}
        {isWanted && <Refused id={`${item.deployment}-refused`} may={item.may.upgrade} />}
        {progress?.error && <ErrorText error={progress.error} />}
      </td>
    </tr>
  );
}

/** The roll-out of those that the caller may upgrade. If there are none, the button says why it does nothing. */
function Start({ wanted, rollOut }: { wanted: WhatIfItem[]; rollOut: RollOut }) {
  const [size, setSize] = useState(1);
  const hint = useId();
  if (wanted.length === 0) return <p class="notice">There is nothing to roll out.</p>;
  const permitted = wanted.filter(({ may }) => may.upgrade.allowed).map(({ deployment }) => deployment);
  const count = permitted.length || wanted.length;
  const left = wanted.length - permitted.length;
  const ended = [...rollOut.progress.values()].filter(({ mark }) => mark.tone !== "busy").length;
  return (
    <form class="filters" onSubmit={(event) => event.preventDefault()}>
      <label>
        Deployments at a time
        <input type="number" min={1} max={50} value={size} onInput={(event) => setSize(Math.max(1, Math.min(50, event.currentTarget.valueAsNumber || 1)))} />
      </label>
      <button type="button" class="danger" disabled={rollOut.isRunning || permitted.length === 0} aria-describedby={hint} onClick={() => void rollOut.start(permitted, size)}>
        Upgrade {count} {count === 1 ? "deployment" : "deployments"}
      </button>
      {permitted.length === 0 ? (
        <Refused id={hint} may={wanted[0]?.may.upgrade} />
      ) : (
        <span class="quiet" id={hint}>
          {left > 0 && `${left} are left out, because you may not upgrade them.`}
        </span>
      )}
      {rollOut.isRunning && (
        <button type="button" onClick={rollOut.stop}>
          Stop after this stage
        </button>
      )}
      {rollOut.progress.size > 0 && <progress aria-label="Upgraded deployments" value={ended} max={permitted.length} />}
      <span class="quiet" role="status">
        {rollOut.isRunning ? `${ended} of ${permitted.length} have ended.` : rollOut.said}
      </span>
    </form>
  );
}

interface Progress {
  mark: Mark;
  error?: ErrorBody;
}

interface RollOut {
  progress: ReadonlyMap<string, Progress>;
  isRunning: boolean;
  said: string;
  start: (deployments: string[], size: number) => Promise<void>;
  stop: () => void;
}

function useRollOut(template: string): RollOut {
  const [progress, setProgress] = useState<ReadonlyMap<string, Progress>>(new Map());
  const [isRunning, setRunning] = useState(false);
  const [said, setSaid] = useState("");
  const isOver = useRef(false);
  useEffect(
    () => () => {
      isOver.current = true;
    },
    [],
  );
  const note = (name: string, next: Progress) => setProgress((before) => new Map([...before, [name, next]]));
  const start = async (deployments: string[], size: number) => {
    isOver.current = false;
    setRunning(true);
    const left = [...deployments];
    let hasFailed = false;
    while (left.length > 0 && !isOver.current && !hasFailed) {
      const stage = left.splice(0, size);
      const outcomes = await Promise.all(stage.map((name) => upgraded(template, name, note)));
      hasFailed = outcomes.includes(false);
    }
    setRunning(false);
    setSaid(ending(left.length, hasFailed));
  };
  const stop = () => {
    isOver.current = true;
  };
  return { progress, isRunning, said, start, stop };
}

function ending(left: number, hasFailed: boolean): string {
  if (hasFailed) return `Stopped after a failure. ${left} were not begun.`;
  return left > 0 ? `Stopped. ${left} were not begun.` : "All are upgraded.";
}

/** Upgrades one deployment. Returns whether it is done without an error. */
async function upgraded(template: string, name: string, note: (name: string, progress: Progress) => void): Promise<boolean> {
  try {
    note(name, { mark: { tone: "busy", word: "running" } });
    const deployment = await get<Deployment>(path`/deployments/${name}`, {}, new AbortController().signal);
    const { id } = await write("POST", path`/deployments/${name}/upgrade`, deployment, { template });
    const { error } = await ended(id);
    note(name, error ? { mark: { tone: "bad", word: "failed" }, error } : { mark: { tone: "good", word: "done" } });
    return !error;
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    note(name, { mark: { tone: "bad", word: "failed" }, error: error.body });
    return false;
  }
}

function ended(id: string): Promise<{ error?: ErrorBody | null }> {
  return new Promise((resolve, reject) => {
    const stop = watchOperations([id], {
      receive: (events) => {
        for (const event of events) {
          if (event.event !== "operation" || event.data.status !== "DONE") continue;
          resolve(event.data);
          stop();
        }
      },
      connected: () => undefined,
      fail: (failure) => {
        reject(failure);
        stop();
      },
    });
  });
}
