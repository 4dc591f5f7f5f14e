// The layout tree with the live state of each object. Only the rows in view are in the document.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Graph, Layout } from "../api/types.ts";
import { State } from "../parts/state.tsx";
import { plain } from "../parts/text.ts";
import type { Mark, Tone } from "../parts/tone.ts";
import { change, parameter } from "../router.ts";
import { type Toggled, type TreeNode, flatten, isOpen, isTrouble, rows, spread, toggledOf, written } from "./tree.ts";

const ROW_PX = 32;
/** Rows beyond the visible ones, so that scrolling shows no gap. */
const SPARE = 8;
const UNKNOWN: Mark = { tone: "unknown", word: "not known yet" };

interface Properties {
  layout: Layout;
  objects: Graph["nodes"] | undefined;
  /** The state of each resource that is no template. */
  marks: (Mark | undefined)[];
}

export function LayoutTree({ layout, objects, marks }: Properties) {
  const nodes = useMemo(() => flatten(layout, objects), [layout, objects]);
  const tones = useMemo(() => spread(nodes, (leaf) => marks[leaf]?.tone ?? "unknown"), [nodes, marks]);
  const open = parameter("open");
  const toggled = useMemo(() => toggledOf(open), [open]);
  const filter = parameter("f");
  const trouble = parameter("trouble") !== "";
  const shown = useMemo(() => rows(nodes, tones, { toggled, filter, trouble }), [nodes, tones, toggled, filter, trouble]);
  const toggle = (path: string, isOpen: boolean) => change({ open: written({ ...toggled, own: new Map([...toggled.own, [path, isOpen]]) }) });
  return (
    <section aria-label="Layout">
      <form class="filters" onSubmit={(event) => event.preventDefault()}>
        <label>
          Filter
          <input type="search" value={filter} placeholder="name or type" onInput={(event) => change({ f: event.currentTarget.value })} />
        </label>
        <label class="check">
          <input type="checkbox" checked={trouble} onChange={(event) => change({ trouble: event.currentTarget.checked ? "1" : "" })} />
          Only what is not ready
        </label>
        <button type="button" onClick={() => change({ open: "all" })}>
          Open all
        </button>
        <button type="button" onClick={() => change({ open: "none" })}>
          Close all
        </button>
        <span class="quiet">
          {shown.length} of {nodes.length} shown
        </span>
      </form>
      <Rows nodes={nodes} tones={tones} shown={shown} marks={marks} toggled={toggled} toggle={toggle} />
    </section>
  );
}

interface RowsProperties {
  nodes: TreeNode[];
  tones: Tone[];
  shown: number[];
  marks: (Mark | undefined)[];
  toggled: Toggled;
  toggle: (path: string, isOpen: boolean) => void;
}

function Rows({ nodes, tones, shown, marks, toggled, toggle }: RowsProperties) {
  const box = useRef<HTMLDivElement>(null);
  const [top, setTop] = useState(0);
  const selected = parameter("at");
  const at = Math.max(0, shown.findIndex((index) => nodes[index]?.path === selected));
  useEffect(() => reveal(box.current, at), [at]);
  if (shown.length === 0) return <p class="notice">No resource fits.</p>;
  const height = box.current?.clientHeight ?? 600;
  const first = Math.max(0, Math.floor(top / ROW_PX) - SPARE);
  const drawn = shown.slice(first, first + Math.ceil(height / ROW_PX) + 2 * SPARE);
  const select = (row: number) => change({ at: nodes[shown[row] ?? -1]?.path ?? "" });
  const press = (event: KeyboardEvent) => {
    const step = { nodes, tones, shown, at, open: (index: number) => isOpen(nodes, tones, index, toggled) };
    if (key(event.key, step, select, toggle)) event.preventDefault();
  };
  return (
    <div
      ref={box}
      class="tree"
      role="tree"
      aria-label="Templates and resources"
      tabIndex={0}
      aria-activedescendant={at >= first && at < first + drawn.length ? `row-${shown[at]}` : undefined}
      onScroll={(event) => setTop(event.currentTarget.scrollTop)}
      onKeyDown={press}
    >
      <div role="none" style={{ height: `${shown.length * ROW_PX}px` }}>
        {drawn.map((index, offset) => (
          <Row
            key={index}
            index={index}
            node={nodes[index] as TreeNode}
            top={(first + offset) * ROW_PX}
            open={isOpen(nodes, tones, index, toggled)}
            mark={markOf(nodes[index] as TreeNode, tones[index] ?? "unknown", marks)}
            selected={nodes[index]?.path === selected}
            select={() => select(first + offset)}
            toggle={toggle}
          />
        ))}
      </div>
    </div>
  );
}

function markOf(node: TreeNode, tone: Tone, marks: (Mark | undefined)[]): Mark {
  if (node.leaf >= 0) return marks[node.leaf] ?? UNKNOWN;
  const words: Record<Tone, string> = { unknown: "", good: "ready", busy: "not ready", warning: "drifted", bad: "failed" };
  return { tone, word: words[tone] };
}

interface RowProperties {
  index: number;
  node: TreeNode;
  top: number;
  open: boolean;
  mark: Mark;
  selected: boolean;
  select: () => void;
  toggle: (path: string, isOpen: boolean) => void;
}

function Row({ index, node, top, open, mark, selected, select, toggle }: RowProperties) {
  const isTemplate = node.leaf < 0;
  const turn = (event: MouseEvent) => {
    event.stopPropagation();
    toggle(node.path, !open);
  };
  return (
    <div
      id={`row-${index}`}
      class="row"
      role="treeitem"
      aria-level={node.level}
      aria-setsize={node.siblings}
      aria-posinset={node.position}
      aria-expanded={isTemplate ? open : undefined}
      aria-selected={selected}
      style={{ top: `${top}px`, paddingInlineStart: `${node.level * 20}px` }}
      onClick={select}
    >
      <span class="turn" aria-hidden="true" onClick={isTemplate ? turn : undefined}>
        {isTemplate ? (open ? "▾" : "▸") : "·"}
      </span>
      <span class="name">{plain(node.node.name)}</span>
      <span class="quiet type">{plain(node.node.type)}</span>
      <State {...mark} />
    </div>
  );
}

/** Scrolls the row into the box. */
function reveal(box: HTMLElement | null, row: number): void {
  if (!box) return;
  const [top, bottom] = [row * ROW_PX, (row + 1) * ROW_PX];
  if (top < box.scrollTop) box.scrollTop = top;
  if (bottom > box.scrollTop + box.clientHeight) box.scrollTop = bottom - box.clientHeight;
}

interface Step {
  nodes: TreeNode[];
  tones: Tone[];
  shown: number[];
  at: number;
  open: (index: number) => boolean;
}

/** The keys of a tree, as the ARIA practices have them. Returns whether the key was one. */
function key(name: string, { nodes, tones, shown, at, open }: Step, select: (row: number) => void, toggle: RowsProperties["toggle"]): boolean {
  const index = shown[at] ?? -1;
  const node = nodes[index];
  if (!node) return false;
  const isTemplate = node.leaf < 0;
  const into = () => (isTemplate && !open(index) ? toggle(node.path, true) : select(Math.min(at + 1, shown.length - 1)));
  const out = () => (isTemplate && open(index) ? toggle(node.path, false) : select(Math.max(0, shown.indexOf(node.parent))));
  const isBad = (row: number) => isTrouble(tones[shown[row] ?? -1] ?? "unknown");
  const all = [...shown.keys()];
  const next = (row: number | undefined) => select(row ?? at);
  const moves: Record<string, () => void> = {
    n: () => next(all.find((row) => row > at && isBad(row))),
    N: () => next(all.reverse().find((row) => row < at && isBad(row))),
    ArrowDown: () => select(Math.min(at + 1, shown.length - 1)),
    ArrowUp: () => select(Math.max(at - 1, 0)),
    Home: () => select(0),
    End: () => select(shown.length - 1),
    Enter: () => select(at),
    ArrowRight: into,
    ArrowLeft: out,
  };
  const move = moves[name];
  move?.();
  return move !== undefined;
}
