// The list of deployments. The server searches, filters, sorts and pages.
import { get } from "../api/client.ts";
import type { DeploymentItem, DeploymentList } from "../api/types.ts";
import { useLoaded } from "../loaded.ts";
import { Ago } from "../parts/ago.tsx";
import { Failed } from "../parts/failed.tsx";
import { Heading } from "../parts/heading.tsx";
import { Link } from "../parts/link.tsx";
import { State } from "../parts/state.tsx";
import { plain } from "../parts/text.ts";
import { deploymentMark } from "../parts/tone.ts";
import { address, change, deploymentAddress, parameter, templatesAddress } from "../router.ts";
import { Filters, QUERY } from "./filters.tsx";

const ROWS = 50;
const EVERY_MS = 10_000;
const COUNT_EVERY_MS = 60_000;

export function DeploymentsView() {
  const query = Object.fromEntries([...QUERY, "pageToken"].map((name) => [name, parameter(name)]));
  const list = useLoaded<DeploymentList>(
    JSON.stringify(query),
    (signal) => get("/deployments", { ...query, limit: ROWS }, signal),
    EVERY_MS,
  );
  return (
    <>
      <Heading title="Deployments">Deployments</Heading>
      <Filters />
      <Counts query={query} />
      {list.failure && <Failed failure={list.failure} reload={list.reload} stale={list.value !== undefined} />}
      {list.value ? <Table page={list.value} /> : !list.failure && <p class="loading">Loading…</p>}
    </>
  );
}

/** How many fit, by state. They are counted apart, so that the list does not wait for them. */
function Counts({ query }: { query: Record<string, string> }) {
  const rest = { ...query, status: "", orderBy: "", pageToken: "" };
  const { value } = useLoaded<DeploymentList>(
    `counts ${JSON.stringify(rest)}`,
    (signal) => get("/deployments", { ...rest, limit: 1, counts: true }, signal),
    COUNT_EVERY_MS,
  );
  const counts = Object.entries(value?.counts ?? {});
  if (counts.length === 0) return null;
  const total = counts.reduce((sum, [, count]) => sum + count, 0);
  return (
    <p class="actions" role="group" aria-label="States">
      <button type="button" aria-pressed={query["status"] === ""} onClick={() => change({ status: "", pageToken: "" })}>
        all {total}
      </button>
      {counts.map(([state, count]) => (
        <button key={state} type="button" aria-pressed={query["status"] === state} onClick={() => change({ status: state, pageToken: "" })}>
          <State {...deploymentMark({ state: { status: state as DeploymentItem["state"]["status"], errors: [] } })} /> {count}
        </button>
      ))}
    </p>
  );
}

function Table({ page }: { page: DeploymentList }) {
  if (page.items.length === 0 && !page.nextPageToken) return <Empty />;
  return (
    <>
      <table class="cards">
        <caption class="quiet">
          {page.items.length} shown{page.nextPageToken ? ", more follow" : ""}
        </caption>
        <thead>
          <tr>
            <th scope="col">Name</th>
            <th scope="col">State</th>
            <th scope="col">Namespace</th>
            <th scope="col">Revision</th>
            <th scope="col">Changed</th>
          </tr>
        </thead>
        <tbody>
          {page.items.map((item) => (
            <Row key={item.name} item={item} />
          ))}
        </tbody>
      </table>
      <Pages next={page.nextPageToken ?? ""} />
    </>
  );
}

function Row({ item }: { item: DeploymentItem }) {
  return (
    <tr>
      <th scope="row">
        <Link to={deploymentAddress(item.name)}>{plain(item.name)}</Link>
        {item.description && <div class="quiet clip">{plain(item.description)}</div>}
        <Labels labels={item.labels ?? {}} />
      </th>
      <td data-label="State">
        <State {...deploymentMark(item)} />
        {item.state.errors?.[0] && <div class="quiet clip">{plain(item.state.errors[0])}</div>}
      </td>
      <td data-label="Namespace">
        {plain(item.namespace)}
        {item.cluster !== undefined && item.cluster !== "default" && <div class="quiet">on {plain(item.cluster)}</div>}
      </td>
      <td data-label="Revision">{item.revision ?? "–"}</td>
      <td data-label="Changed">
        <Ago at={item.modifiedAt ?? item.createdAt} />
      </td>
    </tr>
  );
}

export function Labels({ labels }: { labels: Record<string, string> }) {
  const entries = Object.entries(labels);
  if (entries.length === 0) return null;
  return (
    <ul class="labels" aria-label="Labels">
      {entries.map(([name, value]) => (
        <li key={name}>
          {plain(name)}={plain(value)}
        </li>
      ))}
    </ul>
  );
}

function Pages({ next }: { next: string }) {
  const token = parameter("pageToken");
  if (next === "" && token === "") return null;
  const following = new URL(address.value);
  following.searchParams.set("pageToken", next);
  return (
    <nav class="pages" aria-label="Pages">
      {token !== "" && (
        <button type="button" onClick={() => change({ pageToken: "" })}>
          First page
        </button>
      )}
      {next !== "" && <Link to={following.pathname + following.search}>Next page</Link>}
    </nav>
  );
}

function Empty() {
  const filtered = QUERY.some((name) => name !== "orderBy" && parameter(name) !== "");
  if (!filtered) {
    return (
      <p class="notice">
        There are no deployments that you may see. <Link to={templatesAddress()}>Deploy a template</Link>, or use <code>dm deploy</code>.
      </p>
    );
  }
  const cleared = Object.fromEntries([...QUERY, "pageToken"].map((name) => [name, ""]));
  return (
    <p class="notice">
      No deployment fits the filters.{" "}
      <button type="button" onClick={() => change(cleared)}>
        Clear the filters
      </button>
    </p>
  );
}
