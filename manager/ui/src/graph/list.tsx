// The list of a graph: for screen readers, narrow windows, and all that is not drawn.
import { useState } from "preact/hooks";
import type { Graph } from "../api/types.ts";
import { Link } from "../parts/link.tsx";
import { Search } from "../parts/search.tsx";
import { State } from "../parts/state.tsx";
import { plain } from "../parts/text.ts";
import { type NodeMark, TONES } from "../parts/tone.ts";
import { deploymentAddress, parameter } from "../router.ts";
import { useGrowing } from "./growing.ts";

/** Rows at first, and with each click: few enough that the page answers meanwhile. */
const ROWS = 50;
/** Rows of one frame. */
const PART = 10;

interface Properties {
  deployment: string;
  graph: Graph;
  marks: NodeMark[];
}

export function List({ deployment, graph, marks }: Properties) {
  const [most, setMost] = useState(ROWS);
  const part = parameter("q").toLowerCase();
  const waits = new Map<number, string[]>();
  for (const { from, to } of graph.edges) waits.set(from, [...(waits.get(from) ?? []), graph.nodes[to]?.name ?? ""]);
  const fitting = graph.nodes.map((_, index) => index).filter((index) => (graph.nodes[index]?.name ?? "").toLowerCase().includes(part));
  const rank = (index: number) => TONES.indexOf(marks[index]?.tone ?? "unknown");
  fitting.sort((one, other) => rank(other) - rank(one) || one - other);
  const left = fitting.length - most;
  const grown = useGrowing(Math.ceil(Math.min(fitting.length, most) / PART)) * PART;
  return (
    <>
      <div class="filters" role="search">
        <Search name="q" label="Search resources" />
      </div>
      <table class="cards">
        <caption class="quiet">
          {fitting.length} resources, the worst first{left > 0 ? `, ${most} are shown` : ""}
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
          {fitting.slice(0, Math.min(most, grown)).map((index) => (
            <Row key={index} deployment={deployment} of={graph.nodes[index]} mark={marks[index]} waits={waits.get(index) ?? []} />
          ))}
        </tbody>
      </table>
      {left > 0 && (
        <p>
          <button type="button" onClick={() => setMost(most + ROWS)}>
            Show {Math.min(left, ROWS)} more
          </button>
        </p>
      )}
    </>
  );
}

interface RowProperties {
  deployment: string;
  of: Graph["nodes"][number] | undefined;
  mark: NodeMark | undefined;
  waits: string[];
}

function Row({ deployment, of, mark, waits }: RowProperties) {
  const name = of?.name ?? "";
  return (
    <tr>
      <th scope="row">
        <Link to={`${deploymentAddress(deployment)}?f=${encodeURIComponent(name)}`}>{plain(name)}</Link> <span class="quiet">{plain(of?.object.kind ?? "")}</span>
      </th>
      <td data-label="State">
        <State tone={mark?.tone ?? "unknown"} word={mark?.word ?? ""} />
      </td>
      <td data-label="Why">{plain(mark?.reason ?? "") || "–"}</td>
      <td data-label="Is applied after">{plain(waits.join(", ")) || "–"}</td>
    </tr>
  );
}
