// A form of the fields of a schema. Each change goes with its path to the owner of the form, which writes it down.
import { useState } from "preact/hooks";
import { plain, shown } from "../parts/text.ts";
import { REDACTED, parsed, printed } from "./document.ts";
import { type Field, type Path, initial, isMap } from "./schema.ts";

export type Write = (path: Path, value: unknown, isSecret: boolean) => void;

export function Fields({ fields, write }: { fields: Field[]; write: Write }) {
  return (
    <>
      {fields.map((field) => (
        <FieldRow key={JSON.stringify(field.path)} field={field} write={write} />
      ))}
    </>
  );
}

const id = (path: Path) => `field-${path.join(".")}`;

function FieldRow({ field, write, remove }: { field: Field; write: Write; remove?: () => void }) {
  const nested = field.kind === "group" || field.kind === "list" || field.kind === "map";
  const about = `${id(field.path)}-about`;
  const head = (
    <>
      {plain(field.label)}
      {field.required && <span class="quiet"> (required)</span>}
      {field.secret && <span class="quiet"> (secret)</span>}
    </>
  );
  const notes = (
    <div id={about}>
      {field.description && <p class="quiet lines">{plain(field.description)}</p>}
      {field.errors.map((message, index) => (
        <p key={index} class="fault" role="alert">
          {plain(message)}
        </p>
      ))}
    </div>
  );
  const drop = remove && (
    <button type="button" aria-label={`Remove ${field.label}`} onClick={remove}>
      ✕
    </button>
  );
  if (nested) {
    return (
      <fieldset>
        <legend>
          {head} {drop}
        </legend>
        {notes}
        <Nested field={field} write={write} />
      </fieldset>
    );
  }
  return (
    <div class="field">
      <label for={id(field.path)}>{head}</label>
      {drop}
      {notes}
      <Control field={field} write={write} about={about} />
    </div>
  );
}

function Nested({ field, write }: { field: Field; write: Write }) {
  const { kind, path, value, children, schema } = field;
  if (kind === "group") return <Fields fields={children} write={write} />;
  const items = Array.isArray(value) ? value : [];
  const map = isMap(value) ? value : {};
  const without = (index: number) =>
    kind === "list"
      ? items.filter((_, position) => position !== index)
      : Object.fromEntries(Object.entries(map).filter((_, position) => position !== index));
  return (
    <>
      {children.map((child, index) => (
        <FieldRow key={JSON.stringify(child.path)} field={child} write={write} remove={() => write(path, without(index), false)} />
      ))}
      {kind === "list" ? (
        <button type="button" onClick={() => write([...path, items.length], initial(schema.items), false)}>
          Add to {plain(field.label)}
        </button>
      ) : (
        <NewEntry field={field} add={(name) => write([...path, name], initial(schema.additionalProperties), false)} />
      )}
    </>
  );
}

/** The name of a new entry of a map. */
function NewEntry({ field, add }: { field: Field; add: (name: string) => void }) {
  const [name, setName] = useState("");
  const isTaken = isMap(field.value) && Object.hasOwn(field.value, name);
  return (
    <div class="filters">
      <label>
        New name in {plain(field.label)}
        <input value={name} autocomplete="off" spellcheck={false} onInput={(event) => setName(event.currentTarget.value)} />
      </label>
      <button
        type="button"
        disabled={name === "" || isTaken}
        onClick={() => {
          add(name);
          setName("");
        }}
      >
        Add
      </button>
    </div>
  );
}

function Control({ field, write, about }: { field: Field; write: Write; about: string }) {
  const { kind, path, value, schema, secret } = field;
  const own = { id: id(path), "aria-describedby": about, "aria-invalid": field.errors.length > 0 };
  const fallback = schema.default === undefined ? "" : `default: ${shown(schema.default)}`;
  const set = (next: unknown) => write(path, next, secret);
  switch (kind) {
    case "choice":
      return <Choice own={own} field={field} fallback={fallback} set={set} />;
    case "boolean":
      return (
        <select {...own} value={value === undefined ? "" : String(value)} onChange={({ currentTarget }) => set(currentTarget.value === "" ? undefined : currentTarget.value === "true")}>
          <option value="">{fallback || "–"}</option>
          <option value="true">true</option>
          <option value="false">false</option>
        </select>
      );
    case "number":
      return (
        <input {...own} type="text" inputMode="decimal" autocomplete="off" value={value === undefined ? "" : shown(value)} placeholder={fallback} onInput={({ currentTarget }) => set(number(currentTarget.value))} />
      );
    case "text":
      return <Text own={own} field={field} fallback={fallback} set={set} />;
    default:
      return <AsYaml own={own} field={field} set={set} />;
  }
}

interface Part {
  own: { id: string; "aria-describedby": string; "aria-invalid": boolean };
  field: Field;
  fallback: string;
  set: (value: unknown) => void;
}

/** What is no number stays a text, which the server refuses with the reason. */
function number(text: string): unknown {
  if (text.trim() === "") return undefined;
  const value = Number(text);
  return Number.isFinite(value) ? value : text;
}

function Choice({ own, field, fallback, set }: Part) {
  const choices = field.schema.enum ?? [];
  const index = choices.findIndex((choice) => choice === field.value);
  return (
    <select {...own} value={index < 0 ? "" : String(index)} onChange={({ currentTarget }) => set(currentTarget.value === "" ? undefined : choices[Number(currentTarget.value)])}>
      <option value="">{fallback || "–"}</option>
      {choices.map((choice, position) => (
        <option key={position} value={position}>
          {shown(choice)}
        </option>
      ))}
    </select>
  );
}

function Text({ own, field, fallback, set }: Part) {
  const value = typeof field.value === "string" ? field.value : "";
  const empty = (text: string) => (text === "" && !field.required ? undefined : text);
  if (field.secret) return <Secret own={own} field={field} fallback={fallback} set={set} empty={empty} />;
  if (value.includes("\n")) {
    return <textarea {...own} rows={6} value={value} spellcheck={false} onInput={({ currentTarget }) => set(empty(currentTarget.value))} />;
  }
  return <input {...own} type="text" autocomplete="off" spellcheck={false} value={value} placeholder={fallback} onInput={({ currentTarget }) => set(empty(currentTarget.value))} />;
}

/** A secret that is there already is not shown. It stays unless somebody writes another. */
function Secret({ own, field, fallback, set, empty }: Part & { empty: (text: string) => string | undefined }) {
  const [isThere, setThere] = useState(false);
  const isMasked = field.value === REDACTED;
  if (isMasked && !isThere) setThere(true);
  const value = isMasked || typeof field.value !== "string" ? "" : field.value;
  const write = (text: string) => set(text === "" && isThere ? REDACTED : empty(text));
  return (
    <input
      {...own}
      type="password"
      autocomplete="new-password"
      value={value}
      placeholder={isThere ? "stays as it is" : fallback}
      onInput={({ currentTarget }) => write(currentTarget.value)}
    />
  );
}

/** A part that no control shows, as YAML. It is written down when it can be read. */
function AsYaml({ own, field, set }: Omit<Part, "fallback">) {
  const [draft, setDraft] = useState<string>();
  const [problem, setProblem] = useState("");
  const type = (text: string) => {
    setDraft(text);
    try {
      set(text.trim() === "" ? undefined : parsed(text));
      setProblem("");
    } catch (error) {
      setProblem(String(error).split("\n")[0] ?? "");
    }
  };
  return (
    <>
      <textarea {...own} rows={4} class="code" spellcheck={false} value={draft ?? printed(field.value)} onInput={({ currentTarget }) => type(currentTarget.value)} onBlur={() => problem === "" && setDraft(undefined)} />
      {problem !== "" && <p class="fault">This is no YAML: {plain(problem)}</p>}
    </>
  );
}
