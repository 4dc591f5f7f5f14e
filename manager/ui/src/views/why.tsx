// Why a resource is there: the files and lines that wrote it, the inputs on the way, and who applied it when.
import { get } from "../api/client.ts";
import type { Manifest, Operation, Origin, Page } from "../api/types.ts";
import { useLoaded } from "../loaded.ts";
import { Ago } from "../parts/ago.tsx";
import { Link } from "../parts/link.tsx";
import { plain, shown } from "../parts/text.ts";
import { operationAddress } from "../router.ts";
import type { TreeNode } from "./tree.ts";

/** Of the newest operations. Corrections apply a manifest again, and so do not say who wrote it. */
const OPERATIONS = 200;

interface Properties {
  manifest: Manifest;
  /** The templates around the node, the outermost first. */
  above: TreeNode[];
  node: TreeNode;
}

/** The way from the configuration to the node, with the place, the version and the inputs of each template. */
export function Why({ manifest, above, node }: Properties) {
  const types = new Map((manifest.resolvedTypes ?? []).map((found) => [found.type, found]));
  return (
    <section aria-label="Why it is here" id="why" tabIndex={-1}>
      <h4>Why it is here</h4>
      <ol class="way">
        <li>
          <Written manifest={manifest} />
        </li>
        {[...above, node].map(({ path: place, level, node: { name, type, origin, source, properties } }) => {
          const resolved = types.get(type);
          const file = origin ? written(origin, level === 1) : source;
          return (
            <li key={place}>
              {plain(name)} <span class="quiet">{plain(type)}</span>
              {file && (
                <div class="lines">
                  <span class="quiet">written in</span> <code>{plain(file)}</code>
                </div>
              )}
              {resolved && <div class="quiet lines">{plain(`${resolved.version ?? ""} ${resolved.url}`.trim())}</div>}
              {place !== node.path && properties !== undefined && <Inputs properties={properties} />}
            </li>
          );
        })}
      </ol>
    </section>
  );
}

/** The configuration has the name of the deployment, which would not say what it is. */
function written({ file, line }: Origin, isConfiguration: boolean): string {
  return `${isConfiguration ? "configuration" : file}${line ? `:${line}` : ""}`;
}

/** The inputs of a template on the way. Those of the selected one are shown by themselves. */
function Inputs({ properties }: { properties: unknown }) {
  if (typeof properties === "object" && properties !== null && Object.keys(properties).length === 0) return null;
  return (
    <details>
      <summary class="quiet">inputs</summary>
      <pre tabIndex={0}>{shown(properties)}</pre>
    </details>
  );
}

/** The manifest, with the operation that applied it. */
function Written({ manifest: { name, deployment, createdAt, revision } }: { manifest: Manifest }) {
  const { value } = useLoaded<Page<Operation>>(`writers ${name}`, (signal) => get("/operations", { deployment, limit: OPERATIONS }, signal));
  const applied = value?.items.find(({ manifest: of, type }) => of === name && type !== "CORRECT");
  return (
    <>
      {revision ? `Revision ${revision}, ` : ""}manifest {plain(name)}, <Ago at={createdAt} />
      {applied && (
        <div>
          <Link to={operationAddress(deployment, applied.id)}>{applied.type.toLowerCase()}</Link> by {plain(applied.user)}
        </div>
      )}
    </>
  );
}
