// Which resource waits for which, with the state of each. It is live while an operation runs.
import { useMemo, useRef } from "preact/hooks";
import { get, path } from "../api/client.ts";
import type { Deployment, Graph, ResourceReport } from "../api/types.ts";
import { between, drawn, places } from "../graph/layering.ts";
import { useLoaded } from "../loaded.ts";
import { Failed } from "../parts/failed.tsx";
import { DeploymentFrame, useDeployment } from "../parts/frame.tsx";
import { Link } from "../parts/link.tsx";
import { Search } from "../parts/search.tsx";
import { SHAPES, State } from "../parts/state.tsx";
import { plain } from "../parts/text.ts";
import { type Mark, TONES, nodeMark, operationMark, reportMark } from "../parts/tone.ts";
import { deploymentAddress, operationAddress, parameter } from "../router.ts";
import { identity } from "./objects.tsx";
import { useOperation } from "./operation.tsx";

const EVERY_MS = 10_000;
/** The most nodes that people can read, and that a browser draws at once. */
const DRAWN = 300;
const LISTED = 300;
const [WIDE, HIGH, GAP] = [190, 34, 70];

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

export interface NodeMark extends Mark {
  reason: string;
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

interface DrawingProperties {
  deployment: string;
  graph: Graph;
  marks: NodeMark[];
  shown: number[];
}

function Drawing({ deployment, graph, marks, shown }: DrawingProperties) {
  const edges = useMemo(() => between(shown, graph.edges), [graph, shown.join()]);
  const at = useMemo(() => measured(() => places(shown.length, edges)), [edges, shown.length]);
  const x = (index: number) => (at[index]?.column ?? 0) * (WIDE + GAP) + 4;
  const y = (index: number) => (at[index]?.row ?? 0) * (HIGH + 10) + 4;
  const width = Math.max(...at.map(({ column }) => column + 1)) * (WIDE + GAP) - GAP + 8;
  const height = Math.max(...at.map(({ row }) => row + 1)) * (HIGH + 10) + 8;
  return (
    <div class="graph" tabIndex={0} role="region" aria-label="Graph of the resources">
      <svg width={width} height={height} viewBox={`0 0 ${width} ${height}`}>
        {edges.map(({ from, to }, index) => (
          <path key={index} class={(at[from]?.column ?? 0) - (at[to]?.column ?? 0) > 1 ? "far" : ""} d={curve(x(to) + WIDE, y(to) + HIGH / 2, x(from), y(from) + HIGH / 2)} />
        ))}
        {shown.map((node, index) => (
          <Node key={node} deployment={deployment} name={graph.nodes[node]?.name ?? ""} kind={graph.nodes[node]?.object.kind ?? ""} mark={marks[node]} x={x(index)} y={y(index)} />
        ))}
      </svg>
    </div>
  );
}

/** Notes how long the layout takes, for the tools of browsers and for tests. */
function measured<T>(work: () => T): T {
  const start = performance.now();
  const done = work();
  performance.measure("graph-layout", { start });
  return done;
}

function curve(x1: number, y1: number, x2: number, y2: number): string {
  const bend = Math.max(24, (x2 - x1) / 2);
  return `M${x1} ${y1} C${x1 + bend} ${y1} ${x2 - bend} ${y2} ${x2} ${y2}`;
}

interface NodeProperties {
  deployment: string;
  name: string;
  kind: string;
  mark: NodeMark | undefined;
  x: number;
  y: number;
}

const LETTERS = 22;

function Node({ deployment, name, kind, mark, x, y }: NodeProperties) {
  const { tone = "unknown", word = "", reason = "" } = mark ?? {};
  const full = plain(name);
  const short = full.length > LETTERS ? `${full.slice(0, LETTERS - 1)}…` : full;
  return (
    <g transform={`translate(${x} ${y})`}>
    <a href={`${deploymentAddress(deployment)}?f=${encodeURIComponent(name)}`} class={`node ${tone}`}>
      <title>{`${full} ${plain(kind)}: ${word}${reason ? `, ${plain(reason)}` : ""}`}</title>
      <rect width={WIDE} height={HIGH} rx={5} />
      <text x={8} y={14}>
        {SHAPES[tone]} {short}
      </text>
      <text x={8} y={28} class="small">
        {plain(kind).slice(0, LETTERS)} · {word}
      </text>
    </a>
    </g>
  );
}

function List({ deployment, graph, marks }: Omit<DrawingProperties, "shown">) {
  const part = parameter("q").toLowerCase();
  const waits = new Map<number, string[]>();
  for (const { from, to } of graph.edges) waits.set(from, [...(waits.get(from) ?? []), graph.nodes[to]?.name ?? ""]);
  const fitting = graph.nodes.map((_, index) => index).filter((index) => (graph.nodes[index]?.name ?? "").toLowerCase().includes(part));
  const rank = (index: number) => TONES.indexOf(marks[index]?.tone ?? "unknown");
  fitting.sort((one, other) => rank(other) - rank(one) || one - other);
  return (
    <>
      <div class="filters" role="search">
        <Search name="q" label="Search resources" />
      </div>
      <table class="cards">
        <caption class="quiet">
          {fitting.length} resources{fitting.length > LISTED ? `, the ${LISTED} worst are shown` : ""}
        </caption>
        <thead>
          <tr>
            <th scope="col">Resource</th>
            <th scope="col">State</th>
            <th scope="col">Why</th>
            <th scope="col">Is applied after</th>
          </tr>
        </thead>
        <tbody>
          {fitting.slice(0, LISTED).map((index) => (
            <tr key={index}>
              <th scope="row">
                <Link to={`${deploymentAddress(deployment)}?f=${encodeURIComponent(graph.nodes[index]?.name ?? "")}`}>{plain(graph.nodes[index]?.name ?? "")}</Link>{" "}
                <span class="quiet">{plain(graph.nodes[index]?.object.kind ?? "")}</span>
              </th>
              <td data-label="State">
                <State tone={marks[index]?.tone ?? "unknown"} word={marks[index]?.word ?? ""} />
              </td>
              <td data-label="Why">{plain(marks[index]?.reason ?? "") || "–"}</td>
              <td data-label="Is applied after">{plain((waits.get(index) ?? []).join(", ")) || "–"}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </>
  );
}
