// What the cluster noted about the objects of a deployment, and what its containers write.
import { get, path } from "../api/client.ts";
import type { ClusterEvents, Deployment } from "../api/types.ts";
import { useLoaded } from "../loaded.ts";
import { Ago } from "../parts/ago.tsx";
import { Failed } from "../parts/failed.tsx";
import { DeploymentFrame, useDeployment } from "../parts/frame.tsx";
import { Search } from "../parts/search.tsx";
import { State } from "../parts/state.tsx";
import { plain } from "../parts/text.ts";
import { parameter } from "../router.ts";
import { Logs } from "./logs.tsx";

const EVERY_MS = 10_000;
const SHOWN = 200;

export function EventsView({ name }: { name: string }) {
  return (
    <DeploymentFrame name={name} view="Events and logs" title={name} loaded={useDeployment(name)}>
      {(deployment) => <Both deployment={deployment} />}
    </DeploymentFrame>
  );
}

function Both({ deployment }: { deployment: Deployment }) {
  const resource = parameter("resource");
  return (
    <>
      <form class="filters" role="search" onSubmit={(event) => event.preventDefault()}>
        <Search name="resource" label="Of one resource" hint="its name" />
        <Search name="container" label="Logs of one container" hint="its name" />
      </form>
      <Events deployment={deployment.name} resource={resource} />
      <Logs key={`${resource} ${parameter("container")}`} deployment={deployment.name} resource={resource} container={parameter("container")} />
    </>
  );
}

export function Events({ deployment, resource }: { deployment: string; resource: string }) {
  const { value, failure, reload } = useLoaded<ClusterEvents>(
    `events ${deployment} ${resource}`,
    (signal) => get(path`/deployments/${deployment}/events`, { resource, limit: SHOWN }, signal),
    EVERY_MS,
  );
  return (
    <section aria-label="Events">
      <h2>Events</h2>
      {failure && <Failed failure={failure} reload={reload} stale={value !== undefined} />}
      {!value && !failure && <p class="loading">Loading…</p>}
      {value?.notices?.map((notice, index) => (
        <p key={index} class="notice warning lines">
          {plain(notice)}
        </p>
      ))}
      {value && (value.items.length === 0 ? <p class="notice">The cluster has no events of these objects. It forgets them after about an hour.</p> : <Table events={value} />)}
    </section>
  );
}

function Table({ events }: { events: ClusterEvents }) {
  return (
    <table class="cards">
      <caption class="quiet">{events.items.length} shown, the newest first</caption>
      <thead>
        <tr>
          <th scope="col">Reason</th>
          <th scope="col">Object</th>
          <th scope="col">What happened</th>
          <th scope="col">Last</th>
        </tr>
      </thead>
      <tbody>
        {[...events.items].reverse().map((event, index) => (
          <tr key={index}>
            <th scope="row">
              <State tone={event.type === "Warning" ? "warning" : "good"} word={plain(event.reason)} />
            </th>
            <td data-label="Object">{plain(`${event.object.kind} ${event.object.name}`)}</td>
            <td data-label="What happened" class="lines">
              {plain(event.message)} {event.count > 1 && <span class="quiet">{event.count} times</span>}
            </td>
            <td data-label="Last">{event.lastTime ? <Ago at={event.lastTime} /> : "–"}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
