// The layout of a deployment joined with its graph and its live objects.
import { useMemo } from "preact/hooks";
import { get, path } from "../api/client.ts";
import type { Deployment, Graph, Layout, LiveResource, Page } from "../api/types.ts";
import { type Loaded, useLoaded } from "../loaded.ts";
import { Failed } from "../parts/failed.tsx";
import { type Mark, objectMark } from "../parts/tone.ts";
import { change, parameter } from "../router.ts";
import { Detail } from "./detail.tsx";
import { LayoutTree } from "./layout.tsx";

const EVERY_MS = 10_000;
/** The most that one answer has. */
const OBJECTS = 5000;

/** It is in the layout, and no object was applied for it. */
const ABSENT: Mark = { tone: "unknown", word: "not applied" };

type ObjectName = Pick<LiveResource, "apiVersion" | "kind" | "name"> & { namespace?: string | null };

/** Objects are the same in every version of their group. */
export function identity({ apiVersion, kind, namespace, name }: ObjectName): string {
  const group = apiVersion.includes("/") ? apiVersion.split("/")[0] : "";
  return JSON.stringify([group, kind, namespace ?? null, name]);
}

export function Objects({ deployment }: { deployment: Deployment }) {
  const { name, fingerprint } = deployment;
  const manifest = deployment.latestManifest ?? deployment.preview ?? "";
  const drift = parameter("drift") !== "";
  const layout = useLoaded<Layout>(`layout ${manifest}`, (signal) =>
    manifest === "" ? Promise.resolve({ resources: [] }) : get(path`/deployments/${name}/manifests/${manifest}/layout`, {}, signal),
  );
  const graph = useLoaded<Graph>(`graph ${manifest}`, (signal) => get(path`/deployments/${name}/graph`, {}, signal));
  const live = useLoaded<Page<LiveResource>>(
    `live ${fingerprint} ${drift}`,
    (signal) => get(path`/deployments/${name}/resources`, { limit: OBJECTS, drift }, signal),
    EVERY_MS,
  );
  const joined = useMemo(() => join(graph.value, live.value), [graph.value, live.value]);
  const absent = live.value && !live.value.nextPageToken ? ABSENT : undefined;
  const marks = useMemo(() => joined.map((found) => (found ? objectMark(found) : absent)), [joined, absent]);
  if (manifest === "") return <p class="notice">It has no manifest yet: nothing was expanded.</p>;
  return (
    <>
      <Failures parts={[layout, graph, live]} />
      <p>
        <label class="check">
          <input type="checkbox" checked={drift} onChange={(event) => change({ drift: event.currentTarget.checked ? "1" : "" })} />
          Compare with the cluster (drift)
        </label>
        {live.value?.nextPageToken && <span class="quiet"> Only the first {OBJECTS} objects have their state.</span>}
      </p>
      {layout.value ? (
        <div class="beside">
          <LayoutTree layout={layout.value} objects={graph.value?.nodes} marks={marks} />
          <Detail deployment={name} manifest={manifest} layout={layout.value} graph={graph.value} live={joined} />
        </div>
      ) : (
        <p class="loading">Loading…</p>
      )}
    </>
  );
}

/** Several loads often fail for one reason, which is shown once. */
function Failures({ parts }: { parts: Loaded<unknown>[] }) {
  const failed = parts.find((part) => part.failure);
  if (!failed?.failure) return null;
  const reload = () => parts.forEach((part) => part.failure && part.reload());
  return <Failed failure={failed.failure} reload={reload} stale={failed.value !== undefined} />;
}

/** The live object of each resource, in the order of the graph. */
function join(graph: Graph | undefined, live: Page<LiveResource> | undefined): (LiveResource | undefined)[] {
  const found = new Map((live?.items ?? []).map((item) => [identity(item), item]));
  return (graph?.nodes ?? []).map((node) => found.get(identity(node.object)));
}
