// A search field whose text is a parameter of the address.
import { useEffect, useRef } from "preact/hooks";
import { change, parameter } from "../router.ts";

/** After this pause in typing, the address changes. */
const PAUSE_MS = 250;

interface Properties {
  name: string;
  label: string;
  hint?: string;
  list?: string;
}

/** A change also goes back to the first page. */
export function Search({ name, label, hint = "", list }: Properties) {
  const timer = useRef(0);
  const field = useRef<HTMLInputElement>(null);
  const value = parameter(name);
  useEffect(() => {
    if (field.current && document.activeElement !== field.current) field.current.value = value;
  }, [value]);
  const typed = (event: { currentTarget: HTMLInputElement }) => {
    const text = event.currentTarget.value;
    clearTimeout(timer.current);
    timer.current = setTimeout(() => change({ [name]: text.trim(), pageToken: "" }), PAUSE_MS) as unknown as number;
  };
  return (
    <label>
      {label}
      <input ref={field} type="search" name={name} defaultValue={value} placeholder={hint} list={list} spellcheck={false} autocomplete="off" onInput={typed} />
    </label>
  );
}
