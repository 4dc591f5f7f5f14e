// The layout as rows: pure, so that 5,000 resources cost a few milliseconds.
import type { Graph, Layout, LayoutNode } from "../api/types.ts";
import { TONES, type Tone } from "../parts/tone.ts";

export interface TreeNode {
  /** Such as `$.resources[0].resources[1]`. */
  path: string;
  node: LayoutNode;
  /** From 1. */
  level: number;
  /** From 1, among its siblings. */
  position: number;
  siblings: number;
  /** The index of the parent, or -1. */
  parent: number;
  /** The index after its last descendant. */
  end: number;
  /** Its number among the resources that become objects, or -1. The graph has the same order. */
  leaf: number;
}

/** All nodes, parents before children. The objects of the graph show which nodes without children are templates that made nothing. */
export function flatten(layout: Layout, objects?: Graph["nodes"]): TreeNode[] {
  const found: TreeNode[] = [];
  let leaves = 0;
  const isObject = ({ name, type }: LayoutNode) => !objects || (objects[leaves]?.name === name && objects[leaves]?.type === type);
  const add = (nodes: LayoutNode[], path: string, parent: number, level: number) => {
    nodes.forEach((node, index) => {
      const children = node.resources ?? undefined;
      const own: TreeNode = {
        path: `${path}.resources[${index}]`,
        node,
        level,
        position: index + 1,
        siblings: nodes.length,
        parent,
        end: 0,
        leaf: !children && isObject(node) ? leaves++ : -1,
      };
      const at = found.push(own) - 1;
      if (children) add(children, own.path, at, level + 1);
      own.end = found.length;
    });
  };
  add(layout.resources ?? [], "$", -1, 1);
  return found;
}

/** The tone of each node: a template has the worst of all below it. */
export function spread(nodes: TreeNode[], ofLeaf: (leaf: number) => Tone): Tone[] {
  const tones: Tone[] = nodes.map(({ leaf }) => (leaf < 0 ? "unknown" : ofLeaf(leaf)));
  for (let index = nodes.length - 1; index >= 0; index -= 1) {
    const parent = nodes[index]?.parent ?? -1;
    const [own, above] = [tones[index], tones[parent]];
    if (own && above && TONES.indexOf(own) > TONES.indexOf(above)) tones[parent] = own;
  }
  return tones;
}

/** What somebody opened or closed. */
export interface Toggled {
  /** All templates. */
  all?: boolean;
  /** Single ones, by path. */
  own: ReadonlyMap<string, boolean>;
}

/** Reads what the address says, such as `all,-0.1`: all are open but `$.resources[0].resources[1]`. */
export function toggledOf(text: string): Toggled {
  const words = text.split(",").filter((word) => /^(all|none|-?\d+(\.\d+)*)$/.test(word));
  const all = words.includes("all") || (words.includes("none") ? false : undefined);
  const own = words.flatMap((word): [string, boolean][] => {
    const steps = word.match(/\d+/g) ?? [];
    return steps.length > 0 ? [[`$${steps.map((step) => `.resources[${step}]`).join("")}`, !word.startsWith("-")]] : [];
  });
  return { ...(all !== undefined && { all }), own: new Map(own) };
}

/** [`toggledOf`] back to text. */
export function written({ all, own }: Toggled): string {
  const every = all === undefined ? [] : [all ? "all" : "none"];
  const single = [...own].map(([path, isOpen]) => `${isOpen ? "" : "-"}${(path.match(/\d+/g) ?? []).join(".")}`);
  return [...every, ...single].join(",");
}

export interface Choice {
  toggled: Toggled;
  /** Part of a name or a type. */
  filter: string;
  /** Only what is not good. */
  trouble: boolean;
}

/** Below so many nodes, everything is open at first. */
const SMALL = 100;

export function isOpen(nodes: TreeNode[], tones: Tone[], index: number, toggled: Toggled): boolean {
  const node = nodes[index];
  if (!node) return false;
  const tone = tones[index] ?? "unknown";
  return toggled.own.get(node.path) ?? toggled.all ?? (nodes.length <= SMALL || isTrouble(tone));
}

export function isTrouble(tone: Tone): boolean {
  return tone === "bad" || tone === "warning" || tone === "busy";
}

/** The indices of the nodes that are shown. A filter also shows the parents of what fits. */
export function rows(nodes: TreeNode[], tones: Tone[], { toggled, filter, trouble }: Choice): number[] {
  return filter === "" && !trouble ? opened(nodes, tones, toggled) : fitting(nodes, tones, filter.toLowerCase(), trouble);
}

function opened(nodes: TreeNode[], tones: Tone[], toggled: Toggled): number[] {
  const shown: number[] = [];
  for (let index = 0; index < nodes.length; ) {
    shown.push(index);
    index = isOpen(nodes, tones, index, toggled) ? index + 1 : (nodes[index]?.end ?? nodes.length);
  }
  return shown;
}

function fitting(nodes: TreeNode[], tones: Tone[], part: string, trouble: boolean): number[] {
  const fits = nodes.map(({ node }, index) => {
    const named = node.name.toLowerCase().includes(part) || node.type.toLowerCase().includes(part);
    return named && (!trouble || isTrouble(tones[index] ?? "unknown"));
  });
  for (let index = nodes.length - 1; index >= 0; index -= 1) {
    const parent = nodes[index]?.parent ?? -1;
    if (fits[index] && parent >= 0) fits[parent] = true;
  }
  return nodes.flatMap((_, index) => (fits[index] ? [index] : []));
}
