// What runs where: the instances of a type, now or at a past moment.
import { get, path } from "../api/client.ts";
import type { Page, TypeInstance, TypeSummary } from "../api/types.ts";
import { useLoaded } from "../loaded.ts";
import { Failed } from "../parts/failed.tsx";
import { Heading } from "../parts/heading.tsx";
import { Link } from "../parts/link.tsx";
import { Search } from "../parts/search.tsx";
import { plain } from "../parts/text.ts";
import { address, change, deploymentAddress, instancesAddress, parameter } from "../router.ts";
import { Export } from "./export.tsx";

const ROWS = 100;
const TYPES = 1000;

export function InstancesView() {
  const type = parameter("type");
  return (
    <>
      <Heading title={type === "" ? "Instances" : `Instances of ${type}`}>{type === "" ? "What runs where" : `Instances of ${plain(type)}`}</Heading>
      <Choice />
      {type === "" ? <Types /> : <Instances key={type} type={type} at={moment()} />}
    </>
  );
}

/** The past moment of the address, if it is one. */
function moment(): string {
  const at = parameter("at");
  return at !== "" && !Number.isNaN(Date.parse(at)) ? new Date(at).toISOString() : "";
}

function Choice() {
  const at = moment();
  // The field has the local time, without seconds.
  const local = at === "" ? "" : new Date(Date.parse(at) - new Date(at).getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
  return (
    <form class="filters" role="search" onSubmit={(event) => event.preventDefault()}>
      <Search name="type" label="Type or template" hint="Service, redis:v1, all" />
      <label>
        At a past moment
        <input
          type="datetime-local"
          name="at"
          value={local}
          onChange={({ currentTarget: { value } }) => change({ at: value === "" ? "" : new Date(value).toISOString(), pageToken: "" })}
        />
      </label>
      {at !== "" && (
        <button type="button" onClick={() => change({ at: "", pageToken: "" })}>
          Now
        </button>
      )}
    </form>
  );
}

function Types() {
  const { value, failure, reload } = useLoaded<Page<TypeSummary>>("types", (signal) => get("/types", { limit: TYPES }, signal));
  if (failure) return <Failed failure={failure} reload={reload} stale={false} />;
  if (!value) return <p class="loading">Loading…</p>;
  if (value.items.length === 0) return <p class="notice">Nothing is deployed that you may see.</p>;
  return (
    <table class="cards">
      <caption class="quiet">
        {value.items.length} types are in use now{value.nextPageToken ? ", more follow" : ""}. <Link to={instancesAddress("all")}>All instances</Link>
      </caption>
      <thead>
        <tr>
          <th scope="col">Type</th>
          <th scope="col">Instances</th>
        </tr>
      </thead>
      <tbody>
        {value.items.map(({ name, instances }) => (
          <tr key={name}>
            <th scope="row">
              <Link to={instancesAddress(name)}>{plain(name)}</Link>
            </th>
            <td data-label="Instances">{instances}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Instances({ type, at }: { type: string; at: string }) {
  const pageToken = parameter("pageToken");
  const { value, failure, reload } = useLoaded<Page<TypeInstance>>(`instances ${type} ${at} ${pageToken}`, (signal) =>
    get(path`/types/${type}/instances`, { limit: ROWS, at, pageToken }, signal),
  );
  if (failure) return <Failed failure={failure} reload={reload} stale={false} />;
  if (!value) return <p class="loading">Loading…</p>;
  const next = new URL(address.value);
  next.searchParams.set("pageToken", value.nextPageToken ?? "");
  return (
    <>
      <p class="quiet">{at === "" ? "Now." : `At ${new Date(at).toLocaleString()}, as the manifests say that were in force then. Deployments that were deleted since are not in the list.`}</p>
      {value.items.length === 0 && !value.nextPageToken ? (
        <p class="notice">No instance of this type{at === "" ? " is deployed" : " was deployed then"}, as far as you may see.</p>
      ) : (
        <Table items={value.items} isAll={!value.nextPageToken} />
      )}
      <nav class="pages" aria-label="Pages">
        {pageToken !== "" && (
          <button type="button" onClick={() => change({ pageToken: "" })}>
            First page
          </button>
        )}
        {value.nextPageToken && <Link to={next.pathname + next.search}>Next page</Link>}
        <Export type={type} at={at} />
      </nav>
    </>
  );
}

function Table({ items, isAll }: { items: TypeInstance[]; isAll: boolean }) {
  return (
    <table class="cards">
      <caption class="quiet">
        {items.length} shown{isAll ? "" : ", more follow"}
      </caption>
      <thead>
        <tr>
          <th scope="col">Name</th>
          <th scope="col">Type</th>
          <th scope="col">Deployment</th>
          <th scope="col">Manifest</th>
        </tr>
      </thead>
      <tbody>
        {items.map((item) => (
          <tr key={`${item.deployment} ${item.path}`}>
            <th scope="row">
              <Link to={`${deploymentAddress(item.deployment)}?at=${encodeURIComponent(item.path)}`}>{plain(item.name)}</Link>
            </th>
            <td data-label="Type">{plain(item.type)}</td>
            <td data-label="Deployment">
              <Link to={deploymentAddress(item.deployment)}>{plain(item.deployment)}</Link>
            </td>
            <td data-label="Manifest">{plain(item.manifest)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
