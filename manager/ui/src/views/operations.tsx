// The operations of a deployment, the last one first.
import { get } from "../api/client.ts";
import type { Deployment, Operation, Page } from "../api/types.ts";
import { useLoaded } from "../loaded.ts";
import { Ago, duration } from "../parts/ago.tsx";
import { Failed } from "../parts/failed.tsx";
import { Link } from "../parts/link.tsx";
import { State } from "../parts/state.tsx";
import { plain } from "../parts/text.ts";
import { operationMark } from "../parts/tone.ts";
import { operationAddress } from "../router.ts";

const ROWS = 20;

export function Operations({ deployment }: { deployment: Deployment }) {
  const { name, fingerprint, operation } = deployment;
  const { value, failure, reload } = useLoaded<Page<Operation>>(`operations ${fingerprint} ${operation}`, (signal) =>
    get("/operations", { deployment: name, limit: ROWS }, signal),
  );
  if (failure) return <Failed failure={failure} reload={reload} stale={false} />;
  if (!value) return <p class="loading">Loading…</p>;
  return (
    <table class="cards">
      <caption class="quiet">
        {value.items.length} shown{value.nextPageToken ? ", older ones exist" : ""}
      </caption>
      <thead>
        <tr>
          <th scope="col">Operation</th>
          <th scope="col">State</th>
          <th scope="col">By</th>
          <th scope="col">Started</th>
          <th scope="col">Took</th>
        </tr>
      </thead>
      <tbody>
        {value.items.map((item) => (
          <tr key={item.id}>
            <th scope="row">
              <Link to={operationAddress(name, item.id)}>{item.type.toLowerCase()}</Link>
            </th>
            <td data-label="State">
              <State {...operationMark(item)} />
              {item.error && <div class="quiet clip">{plain(item.error.message)}</div>}
            </td>
            <td data-label="By">{plain(item.user)}</td>
            <td data-label="Started">
              <Ago at={item.startTime} />
            </td>
            <td data-label="Took">{duration(item.startTime, item.endTime)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
