// What is known of the selected row: the object and its cause, or the template and its inputs.
import { get, path } from "../api/client.ts";
import type { Graph, Layout, LiveResource, Manifest } from "../api/types.ts";
import { useLoaded } from "../loaded.ts";
import { Failed } from "../parts/failed.tsx";
import { State } from "../parts/state.tsx";
import { plain, shown } from "../parts/text.ts";
import { objectMark } from "../parts/tone.ts";
import { change, parameter } from "../router.ts";
import { type TreeNode, flatten } from "./tree.ts";
import { Why } from "./why.tsx";

interface Properties {
  deployment: string;
  manifest: string;
  layout: Layout;
  graph: Graph | undefined;
  /** The live object of each resource that is no template. */
  live: (LiveResource | undefined)[];
}

export function Detail(properties: Properties) {
  const at = parameter("at");
  const nodes = flatten(properties.layout, properties.graph?.nodes);
  const node = nodes.find((each) => each.path === at);
  if (!node) return null;
  return <Selected {...properties} node={node} above={chain(nodes, node)} />;
}

/** The templates that a node comes from, the outermost first. */
function chain(nodes: TreeNode[], node: TreeNode): TreeNode[] {
  const above = nodes[node.parent];
  return above ? [...chain(nodes, above), above] : [];
}

function Selected({ deployment, manifest, graph, live, node, above }: Properties & { node: TreeNode; above: TreeNode[] }) {
  const loaded = useLoaded<Manifest>(`manifest ${manifest}`, (signal) => get(path`/deployments/${deployment}/manifests/${manifest}`, {}, signal));
  const resource = live[node.leaf];
  return (
    <aside class="detail" aria-label="Selected resource">
      <button type="button" class="close" aria-label="Close" onClick={() => change({ at: "" })}>
        ✕
      </button>
      <h3>
        {plain(node.node.name)} {resource && <State {...objectMark(resource)} />}
      </h3>
      <p class="quiet">{plain(node.node.type)}</p>
      {resource && <Live resource={resource} />}
      <Waits graph={graph} leaf={node.leaf} />
      {loaded.failure && <Failed failure={loaded.failure} reload={loaded.reload} stale={loaded.value !== undefined} />}
      {loaded.value && <Why manifest={loaded.value} above={above} node={node} />}
      {loaded.value && <Inputs manifest={loaded.value} node={node} resource={resource} />}
    </aside>
  );
}

function Live({ resource }: { resource: LiveResource }) {
  const { apiVersion, kind, namespace, name, uid, reason, drift = [] } = resource;
  return (
    <>
      {reason && <p class="notice warning lines">{plain(reason)}</p>}
      <dl class="facts">
        <div>
          <dt>Object</dt>
          <dd>
            {plain(`${apiVersion} ${kind} ${namespace ? `${namespace}/` : ""}${name}`)}
          </dd>
        </div>
        <div>
          <dt>UID</dt>
          <dd>{plain(uid)}</dd>
        </div>
      </dl>
      {drift.length > 0 && (
        <table class="cards">
          <caption>Drift: fields that others changed</caption>
          <thead>
            <tr>
              <th scope="col">Field</th>
              <th scope="col">In the cluster</th>
              <th scope="col">Wanted</th>
            </tr>
          </thead>
          <tbody>
            {drift.map(({ path: field, before, after }) => (
              <tr key={field}>
                <th scope="row">{plain(field)}</th>
                <td class="lines" data-label="In the cluster">{shown(before)}</td>
                <td class="lines" data-label="Wanted">{shown(after)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </>
  );
}

/** What stands before the detail. */
const REASONS: Record<string, string> = { REFERENCE: "reference ", HOST: "lives in it: ", USE: "uses it: " };

function Waits({ graph, leaf }: { graph: Graph | undefined; leaf: number }) {
  const edges = graph?.edges.filter((edge) => edge.from === leaf) ?? [];
  if (edges.length === 0) return null;
  return (
    <>
      <h4>Is applied after</h4>
      <ul>
        {edges.map((edge, index) => (
          <li key={index}>
            {plain(graph?.nodes[edge.to]?.name ?? "")} <span class="quiet">{plain(`${REASONS[edge.because] ?? ""}${edge.detail}`)}</span>
          </li>
        ))}
      </ul>
    </>
  );
}

/** The properties of a template, or the object that was applied. The manager has masked all secrets in them. */
function Inputs({ manifest, node, resource }: { manifest: Manifest; node: TreeNode; resource: LiveResource | undefined }) {
  const expanded = manifest.expandedConfig.resources[node.leaf];
  const value = node.leaf < 0 ? node.node.properties : (resource?.finalProperties ?? expanded?.properties);
  if (value === undefined || value === null) return null;
  return (
    <>
      <h4>{node.leaf < 0 ? "Inputs" : "Properties as applied"}</h4>
      <pre tabIndex={0}>{shown(value)}</pre>
    </>
  );
}
