// What changes, field by field. Of a secret it is only shown that it differs.
import type { DiffSummary, ResourceDiff } from "../api/types.ts";
import { ErrorText } from "../parts/failed.tsx";
import { State } from "../parts/state.tsx";
import { plain, shown } from "../parts/text.ts";
import type { Mark } from "../parts/tone.ts";

/** Of more resources, the first are drawn. */
const DRAWN = 300;

const INTENTS: Record<ResourceDiff["intent"], Mark> = {
  CREATE: { tone: "good", word: "create" },
  UPDATE: { tone: "busy", word: "update" },
  REPLACE: { tone: "warning", word: "replace" },
  DELETE: { tone: "bad", word: "delete" },
  ACQUIRE: { tone: "busy", word: "acquire" },
  ABANDON: { tone: "warning", word: "abandon" },
  NONE: { tone: "unknown", word: "unchanged" },
};

export function Differences({ summary, resources }: { summary: DiffSummary; resources: ResourceDiff[] }) {
  const changed = resources.filter(({ intent, error }) => intent !== "NONE" || error);
  const counts = Object.entries(summary).filter(([, count]) => count > 0);
  return (
    <>
      <p>{counts.map(([what, count]) => `${count} ${what}`).join(", ") || "Nothing differs."}</p>
      {changed.slice(0, DRAWN).map((resource, index) => (
        <Resource key={index} resource={resource} />
      ))}
      {changed.length > DRAWN && (
        <p class="notice">
          {DRAWN} of {changed.length} are shown. <code>dm diff</code> prints all.
        </p>
      )}
    </>
  );
}

function Resource({ resource }: { resource: ResourceDiff }) {
  const { name, type, intent, basis, changes = [], unknown = [], error } = resource;
  const { kind, namespace, name: object } = basis.object;
  return (
    <details class="difference" open>
      <summary>
        <State {...INTENTS[intent]} /> <strong>{plain(name)}</strong> {type !== kind && <span class="quiet">{plain(type)} </span>}
        <span class="quiet">{plain(`${kind} ${namespace ? `${namespace}/` : ""}${object}`)}</span>
      </summary>
      {error && <ErrorText error={error} />}
      {changes.length > 0 && (
        <table class="cards">
          <thead>
            <tr>
              <th scope="col">Field</th>
              <th scope="col">Before</th>
              <th scope="col">After</th>
            </tr>
          </thead>
          <tbody>
            {changes.map(({ path: field, before, after }) => (
              <tr key={field}>
                <th scope="row">{plain(field)}</th>
                <td class="lines" data-label="Before">{shown(before)}</td>
                <td class="lines" data-label="After">{shown(after)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {unknown.length > 0 && <p class="quiet">Known only after the write: {plain(unknown.join(", "))}</p>}
    </details>
  );
}
