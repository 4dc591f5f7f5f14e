// What the list of deployments is narrowed to. The address holds it.
import { Search } from "../parts/search.tsx";
import { change, parameter } from "../router.ts";

/** The parameters of the page and of the API, which have the same names. */
export const QUERY = ["q", "status", "namespace", "labelSelector", "type", "orderBy"];
const STATES = ["Created", "Deployed", "Modified", "Failed"];

export function Filters() {
  return (
    <form class="filters" role="search" onSubmit={(event) => event.preventDefault()}>
      <Search name="q" label="Search names" hint="/" />
      <Choice name="status" label="State" choices={[["", "all"], ...STATES.map((state): [string, string] => [state, state])]} />
      <Search name="namespace" label="Namespace" hint="" />
      <Search name="labelSelector" label="Labels" hint="tier=front" />
      <Search name="type" label="Has type" hint="Service" />
      <Choice name="orderBy" label="Order" choices={[["", "by name"], ["modifiedAt", "last changed first"]]} />
    </form>
  );
}

function set(name: string, value: string): void {
  change({ [name]: value, pageToken: "" });
}

function Choice({ name, label, choices }: { name: string; label: string; choices: [string, string][] }) {
  return (
    <label>
      {label}
      <select name={name} value={parameter(name)} onChange={(event) => set(name, event.currentTarget.value)}>
        {choices.map(([value, text]) => (
          <option key={value} value={value}>
            {text}
          </option>
        ))}
      </select>
    </label>
  );
}
