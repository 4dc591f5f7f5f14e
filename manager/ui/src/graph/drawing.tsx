// The drawing of a graph. Its nodes and edges come into the document a part in each frame.
import { useMemo } from "preact/hooks";
import type { Graph } from "../api/types.ts";
import { SHAPES } from "../parts/state.tsx";
import { plain } from "../parts/text.ts";
import type { NodeMark } from "../parts/tone.ts";
import { deploymentAddress } from "../router.ts";
import { parts, useGrowing } from "./growing.ts";
import { type Edge, type Place, between, places } from "./layering.ts";

const [WIDE, HIGH, GAP] = [190, 34, 70];
/** Nodes, or edges, of one frame. */
const PART = 12;

interface Properties {
  deployment: string;
  graph: Graph;
  marks: NodeMark[];
  /** The nodes that are drawn. */
  shown: number[];
}

export function Drawing({ deployment, graph, marks, shown }: Properties) {
  // The graph is loaded again and again: only another content is another drawing.
  const content = useMemo(() => graph.edges.map(({ from, to }) => `${from} ${to}`).join(), [graph]);
  const edges = useMemo(() => between(shown, graph.edges), [content, shown.join()]);
  const at = useMemo(() => measured(() => places(shown.length, edges)), [edges, shown.length]);
  const nodes = useMemo(() => parts(shown.map((node, index) => drawnNode(graph, marks, node, at[index])), PART).map(keyed), [graph, marks, at, shown.join()]);
  const lines = useMemo(() => parts(edges, PART), [edges]);
  const grown = useGrowing(nodes.length + lines.length);
  const width = Math.max(...at.map(({ column }) => column + 1)) * (WIDE + GAP) - GAP + 8;
  const height = Math.max(...at.map(({ row }) => row + 1)) * (HIGH + 10) + 8;
  return (
    <div class="graph" tabIndex={0} role="region" aria-label="Graph of the resources" aria-busy={grown < nodes.length + lines.length}>
      <svg width={width} height={height} viewBox={`0 0 ${width} ${height}`}>
        <g>
          {lines.slice(0, Math.max(0, grown - nodes.length)).map((part, index) => (
            <Edges key={index} edges={part} at={at} />
          ))}
        </g>
        {nodes.slice(0, grown).map(({ part, key }, index) => (
          <Nodes key={index} nodes={part} content={key} deployment={deployment} />
        ))}
      </svg>
    </div>
  );
}

interface DrawnNode {
  node: number;
  name: string;
  kind: string;
  mark: NodeMark | undefined;
  x: number;
  y: number;
}

function drawnNode(graph: Graph, marks: NodeMark[], node: number, place: Place | undefined): DrawnNode {
  const of = graph.nodes[node];
  return { node, name: of?.name ?? "", kind: of?.object.kind ?? "", mark: marks[node], x: left(place), y: top(place) };
}

/** A part with all that it says. */
function keyed(part: DrawnNode[]): { part: DrawnNode[]; key: string } {
  return { part, key: JSON.stringify(part) };
}

function left(place: Place | undefined): number {
  return (place?.column ?? 0) * (WIDE + GAP) + 4;
}

function top(place: Place | undefined): number {
  return (place?.row ?? 0) * (HIGH + 10) + 4;
}

/** Notes how long the layout takes, for the tools of browsers and for tests. */
function measured<T>(work: () => T): T {
  const start = performance.now();
  const done = work();
  performance.measure("graph-layout", { start });
  return done;
}

function Edges({ edges, at }: { edges: Edge[]; at: Place[] }) {
  const drawn = () => edges.map(({ from, to }, index) => <path key={index} class={isFar(at[from], at[to]) ? "far" : ""} d={curve(at[to], at[from])} />);
  return useMemo(() => <g>{drawn()}</g>, [edges, at]);
}

/** Whether an edge passes other nodes. */
function isFar(from: Place | undefined, to: Place | undefined): boolean {
  return (from?.column ?? 0) - (to?.column ?? 0) > 1;
}

function curve(start: Place | undefined, end: Place | undefined): string {
  const [x1, y1, x2, y2] = [left(start) + WIDE, top(start) + HIGH / 2, left(end), top(end) + HIGH / 2];
  const bend = Math.max(24, (x2 - x1) / 2);
  return `M${x1} ${y1} C${x1 + bend} ${y1} ${x2 - bend} ${y2} ${x2} ${y2}`;
}

interface NodesProperties {
  deployment: string;
  nodes: DrawnNode[];
  /** The same for the same nodes. */
  content: string;
}

/** Some nodes. They are written again only if one of them changes. */
function Nodes({ deployment, nodes, content }: NodesProperties) {
  const drawn = () => nodes.map((node) => <Node key={node.node} deployment={deployment} of={node} />);
  return useMemo(() => <g>{drawn()}</g>, [deployment, content]);
}

const LETTERS = 22;

function Node({ deployment, of: { name, kind: rawKind, mark, x, y } }: { deployment: string; of: DrawnNode }) {
  const { tone = "unknown", word = "", reason = "" } = mark ?? {};
  const [full, kind] = [plain(name), plain(rawKind)];
  const short = full.length > LETTERS ? `${full.slice(0, LETTERS - 1)}…` : full;
  return (
    <g transform={`translate(${x} ${y})`}>
      <a href={`${deploymentAddress(deployment)}?f=${encodeURIComponent(name)}`} class={`node ${tone}`}>
        <title>{`${full} ${kind}: ${word}${reason ? `, ${plain(reason)}` : ""}`}</title>
        <rect width={WIDE} height={HIGH} rx={5} />
        <text x={8} y={14}>
          {SHAPES[tone]} {short}
        </text>
        <text x={8} y={28} class="small">
          {kind.slice(0, LETTERS)} · {word}
        </text>
      </a>
    </g>
  );
}
