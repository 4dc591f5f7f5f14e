// Places for the nodes of a graph: columns by the longest path, and a few sweeps that put neighbours beside each other. Pure, and
// a few milliseconds for the nodes that are drawn.

export interface Edge {
  /** Is applied after `to`. */
  from: number;
  to: number;
}

export interface Place {
  column: number;
  row: number;
}

const SWEEPS = 4;

/** The column of each node: after all that it waits for. */
export function columns(count: number, edges: Edge[]): number[] {
  const waiting = new Array<number>(count).fill(0);
  const after: number[][] = Array.from({ length: count }, () => []);
  for (const { from, to } of edges) {
    waiting[from] = (waiting[from] ?? 0) + 1;
    after[to]?.push(from);
  }
  const found = new Array<number>(count).fill(0);
  const ready = [...waiting.keys()].filter((node) => waiting[node] === 0);
  for (let next = 0; next < ready.length; next += 1) {
    const node = ready[next] ?? 0;
    for (const later of after[node] ?? []) {
      found[later] = Math.max(found[later] ?? 0, (found[node] ?? 0) + 1);
      waiting[later] = (waiting[later] ?? 0) - 1;
      if (waiting[later] === 0) ready.push(later);
    }
  }
  return found;
}

export function places(count: number, edges: Edge[]): Place[] {
  const column = columns(count, edges);
  const rows: number[][] = Array.from({ length: Math.max(0, ...column) + 1 }, () => []);
  column.forEach((at, node) => rows[at]?.push(node));
  const neighbours: number[][] = Array.from({ length: count }, () => []);
  for (const { from, to } of edges) {
    neighbours[from]?.push(to);
    neighbours[to]?.push(from);
  }
  const row = new Array<number>(count).fill(0);
  const number = (nodes: number[]) => nodes.forEach((node, index) => (row[node] = index));
  rows.forEach(number);
  for (let sweep = 0; sweep < SWEEPS; sweep += 1) {
    const order = sweep % 2 === 0 ? rows : [...rows].reverse();
    for (const nodes of order) {
      const middle = new Map(nodes.map((node) => [node, mean(neighbours[node] ?? [], row) ?? row[node] ?? 0]));
      nodes.sort((one, other) => (middle.get(one) ?? 0) - (middle.get(other) ?? 0));
      number(nodes);
    }
  }
  return column.map((at, node) => ({ column: at, row: row[node] ?? 0 }));
}

function mean(nodes: number[], row: number[]): number | undefined {
  if (nodes.length === 0) return undefined;
  return nodes.reduce((sum, node) => sum + (row[node] ?? 0), 0) / nodes.length;
}

/** The nodes that are drawn: the worst first, at most so many. In the order of the graph. */
export function drawn(ranks: number[], most: number): number[] {
  const all = ranks.map((_, node) => node);
  const worst = all.sort((one, other) => (ranks[other] ?? 0) - (ranks[one] ?? 0) || one - other);
  return worst.slice(0, most).sort((one, other) => one - other);
}

/** The edges between nodes that are drawn, by their positions among these. */
export function between(nodes: number[], edges: Edge[]): Edge[] {
  const position = new Map(nodes.map((node, index) => [node, index]));
  return edges.flatMap(({ from, to }) => {
    const [one, other] = [position.get(from), position.get(to)];
    return one === undefined || other === undefined ? [] : [{ from: one, to: other }];
  });
}
