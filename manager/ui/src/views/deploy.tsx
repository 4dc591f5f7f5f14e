// Deploys a template, or updates a deployment: a form of the template's schema, and the same as YAML. Both say the same.
import { useEffect, useId, useMemo, useState } from "preact/hooks";
import { Failure, get, path, send } from "../api/client.ts";
import type { Deployment, ErrorBody, Permission, TemplateDescription } from "../api/types.ts";
import { KEPT, REDACTED, configuration, lineOf, read, revealed, written } from "../form/document.ts";
import { type Sorted, sorted } from "../form/faults.ts";
import { Fields } from "../form/form.tsx";
import { useMayCreate } from "../form/permission.ts";
import { type Path, type Schema, at, fields, isMap } from "../form/schema.ts";
import { ConfigurationText } from "../form/text.tsx";
import { useLoaded } from "../loaded.ts";
import { ErrorText, Failed } from "../parts/failed.tsx";
import { Heading } from "../parts/heading.tsx";
import { Link } from "../parts/link.tsx";
import { Refused } from "../parts/refused.tsx";
import { plain } from "../parts/text.ts";
import { change, changesAddress, go, operationAddress, parameter, templatesAddress } from "../router.ts";

/** After this pause in typing, the server checks the configuration. */
const PAUSE_MS = 600;
const PROPERTIES = ["resources", 0, "properties"] as const;
const NOTHING: Sorted = { faults: [], lines: [], rest: [] };

export function DeployView() {
  const template = parameter("template");
  const { value, failure, reload } = useLoaded<TemplateDescription | undefined>(`template ${template}`, (signal) =>
    template === "" ? Promise.resolve(undefined) : get(path`/types/${template}/metadata`, {}, signal),
  );
  return (
    <>
      <Heading title="Deploy">{template === "" ? "Deploy a configuration" : `Deploy ${plain(template)}`}</Heading>
      {template === "" && (
        <p>
          Write a configuration, or <Link to={templatesAddress()}>choose a template</Link>, which has a form.
        </p>
      )}
      {failure && <Failed failure={failure} reload={reload} stale={false} />}
      {(value !== undefined || (template === "" && !failure)) && <New key={template} template={template} about={value} />}
      {!value && template !== "" && !failure && <p class="loading">Loading…</p>}
    </>
  );
}

function defaultName(template: string): string {
  const last = template.split("/").pop() ?? "";
  return last.split(":")[0]?.toLowerCase().replace(/[^a-z0-9-]/g, "-") ?? "";
}

function New({ template, about }: { template: string; about: TemplateDescription | undefined }) {
  const [name, setName] = useState(defaultName(template));
  const [namespace, setNamespace] = useState("");
  const [text, setText] = useState(() => (template === "" ? "resources:\n" : configuration(defaultName(template) || "main", template, {})));
  const body = (content: string) => ({ name, content, ...(namespace !== "" && { namespace }) });
  const head = (
    <div class="filters">
      <label>
        Name of the deployment
        <input name="name" value={name} required autocomplete="off" spellcheck={false} onInput={(event) => setName(event.currentTarget.value.trim())} />
      </label>
      <label>
        Namespace
        <input name="namespace" value={namespace} placeholder="default" autocomplete="off" spellcheck={false} onInput={(event) => setNamespace(event.currentTarget.value.trim())} />
      </label>
    </div>
  );
  const may = useMayCreate(namespace === "" ? "default" : namespace);
  const check = (content: string, signal: AbortSignal) => expanded(body(content), signal);
  const submit = async (content: string, preview: boolean) => {
    const options = preview ? { query: { preview } } : { headers: { prefer: "respond-async" } };
    const answer = await send("POST", "/deployments", { ...options, body: body(content) });
    if (preview) return go(changesAddress(name));
    const { id } = (await answer.json()) as { id: string };
    go(operationAddress(name, id));
  };
  return <Both text={text} setText={setText} schema={schemaOf(about)} head={head} name={name} question={`${name} ${namespace}`} check={check} submit={submit} may={may} verb="Deploy" />;
}

/** The update of an existing deployment: the configuration of its latest manifest, with secrets that are not shown. */
export function UpdateForm({ deployment, content, about }: { deployment: Deployment; content: string; about: TemplateDescription | undefined }) {
  const [text, setText] = useState(content);
  const { name, namespace } = deployment;
  const check = async (whole: string, signal: AbortSignal) => {
    if (whole === content) return NOTHING;
    const { update } = await import("../form/update.ts");
    const body = update(content, whole);
    if ("content" in body) return expanded({ name, namespace, content: whole }, signal);
    // Only the manager knows the secrets that are not shown. Its lines are not those of this text.
    const checked = await refusal(send("POST", path`/deployments/${name}/diff`, { body, signal }));
    return checked && { ...checked, lines: [] };
  };
  const submit = async (whole: string, preview: boolean) => {
    const { update } = await import("../form/update.ts");
    const body = update(content, whole);
    const headers = { "if-match": `"${deployment.fingerprint}"`, ...(!preview && { prefer: "respond-async" }) };
    const answer = await send("PUT", path`/deployments/${name}`, { headers, body, query: { preview: preview || undefined } });
    if (preview) return go(changesAddress(name));
    const { id } = (await answer.json()) as { id: string };
    go(operationAddress(name, id));
  };
  return <Both text={text} setText={setText} schema={schemaOf(about)} head={null} name={name} question={deployment.fingerprint} check={check} submit={submit} may={deployment.may.update} verb="Update" />;
}

function schemaOf(about: TemplateDescription | undefined): Schema | undefined {
  return isMap(about?.schema) ? (about.schema as Schema) : undefined;
}

interface BothProperties {
  text: string;
  setText: (text: string) => void;
  schema: Schema | undefined;
  head: preact.ComponentChildren;
  name: string;
  /** What the server's verdict depends on beside the text. */
  question: string;
  /** What the server says of the configuration. Undefined if it cannot say anything now. */
  check: (content: string, signal: AbortSignal) => Promise<Sorted | undefined>;
  submit: (content: string, preview: boolean) => Promise<void>;
  /** Without the permission, the buttons are there and say why they do nothing. */
  may: Permission | undefined;
  verb: string;
}

function Both({ text, setText, schema, head, name, question, check, submit, may, verb }: BothProperties) {
  const [secrets, setSecrets] = useState<ReadonlyMap<string, string>>(new Map());
  const [refusal, setRefusal] = useState<ErrorBody>();
  const [isBusy, setBusy] = useState(false);
  const parsed = useMemo(() => read(text), [text]);
  const isOne = isMap(parsed.value) && Array.isArray(parsed.value["resources"]) && parsed.value["resources"].length === 1;
  const checked = useChecked(parsed.problems.length === 0 ? revealed(text, secrets) : "", question, check);
  const found = useMemo(() => (refusal ? sorted(refusal) : (checked ?? NOTHING)), [refusal, checked]);
  const lines = useMemo(() => found.faults.map(({ path: place, message }) => ({ line: lineOf(text, [...PROPERTIES, ...place]), message })), [found, text]);
  const hasForm = schema !== undefined && isOne;
  const withYaml = parameter("yaml") !== "" || !hasForm;
  const write = (place: Path, value: unknown, isSecret: boolean) => {
    const whole = [...PROPERTIES, ...place];
    const isKept = isSecret && typeof value === "string" && value !== REDACTED;
    if (isSecret) setSecrets((before) => withSecret(before, whole, isKept ? value : undefined));
    setRefusal(undefined);
    setText(written(text, whole, isKept ? KEPT : value));
  };
  const type = (next: string) => {
    setRefusal(undefined);
    setText(next);
  };
  const send = async (preview: boolean) => {
    setBusy(true);
    try {
      await submit(revealed(text, secrets), preview);
    } catch (error) {
      if (error instanceof Failure) setRefusal(error.body);
      else throw error;
    } finally {
      setBusy(false);
    }
  };
  const isReady = !isBusy && name !== "" && parsed.problems.length === 0;
  return (
    <form class="deploy" onSubmit={(event) => event.preventDefault()}>
      {head}
      {found.rest.map((error, index) => (
        <section key={index} class="notice bad" role="alert">
          <ErrorText error={error} />
        </section>
      ))}
      <div class={hasForm && withYaml ? "panes" : ""}>
        {hasForm && (
          <section aria-label="Properties">
            <Fields fields={fields(schema, revealedProperties(parsed.value, secrets), found.faults)} write={write} />
          </section>
        )}
        {withYaml && <ConfigurationText text={text} problems={[...parsed.problems, ...found.lines, ...lines]} change={type} />}
      </div>
      <Actions isReady={isReady} may={may} verb={verb} send={(preview) => void send(preview)} toggle={hasForm ? withYaml : undefined}>
        {isBusy ? "Working…" : verdict(parsed.problems.length, checked)}
      </Actions>
    </form>
  );
}

interface ActionsProperties {
  isReady: boolean;
  may: Permission | undefined;
  verb: string;
  send: (preview: boolean) => void;
  /** Whether the YAML is shown, if it can be hidden. */
  toggle: boolean | undefined;
  children: string;
}

function Actions({ isReady, may, verb, send, toggle, children }: ActionsProperties) {
  const hint = useId();
  const isOff = !isReady || may?.allowed === false;
  return (
    <p class="actions" aria-live="polite">
      <button type="button" class="primary" disabled={isOff} aria-describedby={hint} onClick={() => send(true)}>
        Preview
      </button>
      <button type="button" disabled={isOff} aria-describedby={hint} onClick={() => send(false)}>
        {verb} without a preview
      </button>
      {toggle !== undefined && (
        <button type="button" aria-pressed={toggle} onClick={() => change({ yaml: toggle ? "" : "1" })}>
          YAML
        </button>
      )}
      <span class="quiet">{children}</span>
      <Refused id={hint} may={may} />
    </p>
  );
}

function verdict(problems: number, checked: Sorted | undefined): string {
  if (problems > 0) return "The text is no YAML.";
  if (!checked) return "";
  const faults = checked.faults.length + checked.rest.length;
  return faults === 0 ? "The configuration is valid." : `${faults} ${faults === 1 ? "fault" : "faults"}.`;
}

function withSecret(before: ReadonlyMap<string, string>, place: Path, value: string | undefined): ReadonlyMap<string, string> {
  const next = new Map(before);
  if (value === undefined) next.delete(JSON.stringify(place));
  else next.set(JSON.stringify(place), value);
  return next;
}

/** The properties with the secrets of the form, for its own controls. */
function revealedProperties(value: unknown, secrets: ReadonlyMap<string, string>): unknown {
  const properties = structuredClone(at(value, PROPERTIES));
  for (const [key, secret] of secrets) {
    const place = (JSON.parse(key) as Path).slice(PROPERTIES.length);
    const parent = at(properties, place.slice(0, -1));
    const last = place[place.length - 1];
    if (last !== undefined && (isMap(parent) || Array.isArray(parent)) && at(parent, [last]) === KEPT) {
      (parent as Record<string | number, unknown>)[last] = secret;
    }
  }
  return properties;
}

/** The server's verdict on a configuration that stands for itself. */
function expanded(body: { name: string; content: string; namespace?: string }, signal: AbortSignal): Promise<Sorted | undefined> {
  return refusal(send("POST", "/expand", { body: { ...body, name: body.name === "" ? "unnamed" : body.name }, signal }));
}

function refusal(answer: Promise<unknown>): Promise<Sorted | undefined> {
  return answer.then(
    () => NOTHING,
    (error: unknown) => (error instanceof Failure && !error.isTemporary ? sorted(error.body) : undefined),
  );
}

/** What the server says of the configuration after a pause in typing. Undefined before its first answer. */
function useChecked(content: string, question: string, check: BothProperties["check"]): Sorted | undefined {
  const [outcome, setOutcome] = useState<Sorted>();
  useEffect(() => {
    const stop = new AbortController();
    const ask = async () => {
      const checked = await check(content, stop.signal);
      if (!stop.signal.aborted) setOutcome(checked);
    };
    const timer = content === "" ? undefined : setTimeout(() => void ask(), PAUSE_MS);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [content, question]);
  return outcome;
}
