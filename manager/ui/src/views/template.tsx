// A template version: its documentation, its other versions, and what it would change in deployments.
import { useState } from "preact/hooks";
import { get, path } from "../api/client.ts";
import type { Page, TemplateDescription, TemplateSummary } from "../api/types.ts";
import { type Field, type Schema, fields, isMap } from "../form/schema.ts";
import { useLoaded } from "../loaded.ts";
import { Failed } from "../parts/failed.tsx";
import { Heading } from "../parts/heading.tsx";
import { Link } from "../parts/link.tsx";
import { plain, shown } from "../parts/text.ts";
import { deployAddress, instancesAddress, parameter, registryAddress, templateAddress, templatesAddress } from "../router.ts";
import { WhatIf } from "./whatif.tsx";

export function TemplateView({ name }: { name: string }) {
  const registry = parameter("registry");
  const { value, failure, reload } = useLoaded<TemplateDescription>(`template ${registry} ${name}`, (signal) =>
    get(registry === "" ? path`/types/${name}/metadata` : path`/registries/${registry}/types/${name}`, {}, signal),
  );
  return (
    <>
      <p class="quiet">
        <Link to={templatesAddress()}>Templates</Link>
        {registry !== "" && (
          <>
            {" "}
            / <Link to={registryAddress(registry)}>{plain(registry)}</Link>
          </>
        )}
      </p>
      <Heading title={name}>{plain(name)}</Heading>
      {failure && <Failed failure={failure} reload={reload} stale={false} />}
      {value ? <About name={name} registry={registry} about={value} /> : !failure && <p class="loading">Loading…</p>}
    </>
  );
}

function About({ name, registry, about }: { name: string; registry: string; about: TemplateDescription }) {
  const [isAsked, setAsked] = useState(false);
  return (
    <>
      {about.title && <p>{plain(about.title)}</p>}
      {about.description && <p class="lines">{plain(about.description)}</p>}
      <dl class="facts">
        <div>
          <dt>Reference</dt>
          <dd>{plain(about.type)}</dd>
        </div>
        {about.version && (
          <div>
            <dt>Version</dt>
            <dd>{plain(about.version)}</dd>
          </div>
        )}
        <div>
          <dt>From</dt>
          <dd>{plain(about.url)}</dd>
        </div>
        <Versions name={name} registry={registry} />
      </dl>
      <p class="actions">
        <Link to={deployAddress(about.type)} class="button">
          Deploy
        </Link>{" "}
        <Link to={instancesAddress(about.type)}>Where it runs</Link>
      </p>
      <Properties schema={about.schema} />
      {about.example && (
        <>
          <h2>Example</h2>
          <pre tabIndex={0}>{plain(about.example)}</pre>
        </>
      )}
      <h2>Roll out</h2>
      {isAsked ? (
        <WhatIf template={about.type} />
      ) : (
        <p>
          <button type="button" onClick={() => setAsked(true)}>
            What would this version change?
          </button>
        </p>
      )}
    </>
  );
}

/** The other versions, if the registry is known. */
function Versions({ name, registry }: { name: string; registry: string }) {
  const [template = ""] = name.split(":");
  const { value } = useLoaded<Page<TemplateSummary>>(`versions ${registry} ${template}`, (signal) =>
    registry === "" ? Promise.resolve({ items: [] }) : get(path`/registries/${registry}/types`, { limit: 1000 }, signal),
  );
  const versions = value?.items.find((item) => item.name === template)?.versions ?? [];
  if (versions.length === 0) return null;
  return (
    <div>
      <dt>Versions</dt>
      <dd>
        {versions.map((version) => (
          <span key={version}>
            <Link to={`${templateAddress(`${template}:${version}`)}?registry=${encodeURIComponent(registry)}`} current={name === `${template}:${version}`}>
              {plain(version)}
            </Link>{" "}
          </span>
        ))}
      </dd>
    </div>
  );
}

function Properties({ schema }: { schema: unknown }) {
  if (!isMap(schema)) return <p class="notice">The template has no schema: it says nothing of its properties.</p>;
  const all = fields(schema as Schema, {}, []);
  if (all.length === 0) return <p>It has no properties.</p>;
  return (
    <>
      <h2>Properties</h2>
      <table class="cards">
        <thead>
          <tr>
            <th scope="col">Property</th>
            <th scope="col">Type</th>
            <th scope="col">Default</th>
            <th scope="col">Meaning</th>
          </tr>
        </thead>
        <tbody>{all.flatMap(rows)}</tbody>
      </table>
    </>
  );
}

function rows(field: Field): preact.JSX.Element[] {
  const { schema } = field;
  const own = (
    <tr key={field.path.join(".")}>
      <th scope="row">
        {plain(field.path.join("."))} {field.required && <span class="quiet">required</span>}
      </th>
      <td data-label="Type">{plain(schema.enum ? schema.enum.map(shown).join(" | ") : String(schema.type ?? "any"))}</td>
      <td data-label="Default">{field.secret ? "secret" : shown(schema.default)}</td>
      <td data-label="Meaning" class="lines">
        {plain([schema.title, field.description].filter(Boolean).join(": "))}
      </td>
    </tr>
  );
  return [own, ...field.children.flatMap(rows)];
}
