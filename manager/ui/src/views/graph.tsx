// Which resource waits for which, with the state of each. It is live while an operation runs.
import { useMemo, useRef } from "preact/hooks";
import { get, path } from "../api/client.ts";
import type { Deployment, Graph, ResourceReport } from "../api/types.ts";
import { Drawing } from "../graph/drawing.tsx";
import { drawn } from "../graph/layering.ts";
import { List } from "../graph/list.tsx";
import { useLoaded } from "../loaded.ts";
import { Failed } from "../parts/failed.tsx";
import { DeploymentFrame, useDeployment } from "../parts/frame.tsx";
import { Link } from "../parts/link.tsx";
import { State } from "../parts/state.tsx";
import { plain } from "../parts/text.ts";
import { type NodeMark, TONES, nodeMark, operationMark, reportMark } from "../parts/tone.ts";
import { operationAddress } from "../router.ts";
import { identity } from "./objects.tsx";
import { useOperation } from "./operation.tsx";

const EVERY_MS = 10_000;
/** The most nodes that people can read, and that a browser draws at once. */
const DRAWN = 300;

export function GraphView({ name }: { name: string }) {
  return (
    <DeploymentFrame name={name} view="Graph" title={name} loaded={useDeployment(name)}>
      {(deployment) => <Loaded deployment={deployment} />}
    </DeploymentFrame>
  );
}

function Loaded({ deployment }: { deployment: Deployment }) {
  const { name, fingerprint } = deployment;
  const { value, failure, reload } = useLoaded<Graph>(
    `live graph ${fingerprint}`,
    (signal) => get(path`/deployments/${name}/graph`, { live: true }, signal),
    EVERY_MS,
  );
  const before = useRef<Graph | undefined>(undefined);
  if (value) before.current = value;
  const graph = value ?? before.current;
  const { operation, reports } = useOperation(deployment.operation ?? "");
  const isRunning = operation !== undefined && operation.status !== "DONE";
  const marks = useMemo(() => marksOf(graph, isRunning ? [...reports.values()] : []), [graph, reports, isRunning]);
  return (
    <>
      {isRunning && (
        <p class="notice" role="status">
          <State {...operationMark(operation)} /> {plain(operation.progress.step)} {operation.progress.done} of {operation.progress.total}.{" "}
          <Link to={operationAddress(name, operation.id)}>The operation</Link>
        </p>
      )}
      {failure && <Failed failure={failure} reload={reload} stale={graph !== undefined} />}
      {graph ? <Both deployment={name} graph={graph} marks={marks} /> : !failure && <p class="loading">Loading…</p>}
    </>
  );
}

/** The state of each node: what the running operation says of it, or else what the cluster says. */
function marksOf(graph: Graph | undefined, reports: ResourceReport[]): NodeMark[] {
  const key = (name: string, type: string) => JSON.stringify([name, type]);
  const byObject = new Map(reports.flatMap((report) => (report.object ? [[identity(report.object), report]] : [])));
  const byName = new Map(reports.map((report) => [key(report.name, report.type), report]));
  return (graph?.nodes ?? []).map((node) => {
    const report = byObject.get(identity(node.object)) ?? byName.get(key(node.name, node.type));
    if (report) return { ...reportMark(report), reason: report.error?.message ?? report.reason ?? "" };
    return { ...nodeMark(node.state), reason: node.reason ?? "" };
  });
}

function Both({ deployment, graph, marks }: { deployment: string; graph: Graph; marks: NodeMark[] }) {
  if (graph.nodes.length === 0) return <p class="notice">There are no resources.</p>;
  const ranks = marks.map(({ tone }) => TONES.indexOf(tone));
  // Which nodes are drawn changes only with the states; their places only with the nodes.
  const shown = drawn(ranks, DRAWN);
  return (
    <>
      {shown.length < graph.nodes.length && (
        <p class="notice">
          {shown.length} of {graph.nodes.length} resources are drawn, the worst first. The list below has all of them: {counted(marks)}.
        </p>
      )}
      <Drawing key={shown.length} deployment={deployment} graph={graph} marks={marks} shown={shown} />
      <h2>As a list</h2>
      <List deployment={deployment} graph={graph} marks={marks} />
    </>
  );
}

function counted(marks: NodeMark[]): string {
  const counts = new Map<string, number>();
  for (const { word } of marks) counts.set(word, (counts.get(word) ?? 0) + 1);
  return [...counts].map(([word, count]) => `${count} ${word}`).join(", ");
}
