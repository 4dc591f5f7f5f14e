// What the list of deployments is narrowed to. The address holds it.
import { useEffect, useRef } from "preact/hooks";
import { change, parameter } from "../router.ts";

/** The parameters of the page and of the API, which have the same names. */
export const QUERY = ["q", "status", "namespace", "labelSelector", "type", "orderBy"];
const STATES = ["Created", "Deployed", "Modified", "Failed"];
/** After this pause in typing, the list is loaded. */
const PAUSE_MS = 250;

export function Filters() {
  return (
    <form class="filters" role="search" onSubmit={(event) => event.preventDefault()}>
      <Text name="q" label="Search names" hint="/" />
      <Choice name="status" label="State" choices={[["", "all"], ...STATES.map((state): [string, string] => [state, state])]} />
      <Text name="namespace" label="Namespace" hint="" />
      <Text name="labelSelector" label="Labels" hint="tier=front" />
      <Text name="type" label="Has type" hint="Service" />
      <Choice name="orderBy" label="Order" choices={[["", "by name"], ["modifiedAt", "last changed first"]]} />
    </form>
  );
}

function set(name: string, value: string): void {
  change({ [name]: value, pageToken: "" });
}

function Text({ name, label, hint }: { name: string; label: string; hint: string }) {
  const timer = useRef(0);
  const field = useRef<HTMLInputElement>(null);
  const value = parameter(name);
  useEffect(() => {
    if (field.current && document.activeElement !== field.current) field.current.value = value;
  }, [value]);
  const typed = (event: { currentTarget: HTMLInputElement }) => {
    const text = event.currentTarget.value;
    clearTimeout(timer.current);
    timer.current = setTimeout(() => set(name, text.trim()), PAUSE_MS) as unknown as number;
  };
  return (
    <label>
      {label}
      <input ref={field} type="search" name={name} defaultValue={value} placeholder={hint} spellcheck={false} autocomplete="off" onInput={typed} />
    </label>
  );
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
