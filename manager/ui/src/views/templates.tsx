// Registries and their templates.
import { get, path } from "../api/client.ts";
import type { Page, RegistrySummary, TemplateSummary } from "../api/types.ts";
import { useLoaded } from "../loaded.ts";
import { Failed } from "../parts/failed.tsx";
import { Heading } from "../parts/heading.tsx";
import { Link } from "../parts/link.tsx";
import { Search } from "../parts/search.tsx";
import { plain, shown } from "../parts/text.ts";
import { deployAddress, parameter, registryAddress, templateAddress, templatesAddress } from "../router.ts";

const MOST = 1000;

export function TemplatesView() {
  const { value, failure, reload } = useLoaded<Page<RegistrySummary>>("registries", (signal) => get("/registries", { limit: MOST }, signal));
  return (
    <>
      <Heading title="Templates">Templates</Heading>
      <p>
        <Link to={deployAddress("")}>Deploy a configuration without a template</Link>
      </p>
      {failure && <Failed failure={failure} reload={reload} stale={value !== undefined} />}
      {!value && !failure && <p class="loading">Loading…</p>}
      {value?.items.map((registry) => (
        <section key={registry.name} aria-label={registry.name}>
          <h2>
            <Link to={registryAddress(registry.name)}>{plain(registry.name)}</Link>
          </h2>
          <Definition registry={registry} />
          <List registry={registry.name} part="" />
        </section>
      ))}
    </>
  );
}

function Definition({ registry }: { registry: RegistrySummary }) {
  const facts = Object.entries(registry).filter(([name, value]) => name !== "name" && value !== null && value !== undefined);
  return (
    <dl class="facts">
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt>{plain(name)}</dt>
          <dd>{shown(value)}</dd>
        </div>
      ))}
    </dl>
  );
}

export function RegistryView({ name }: { name: string }) {
  return (
    <>
      <p class="quiet">
        <Link to={templatesAddress()}>Templates</Link>
      </p>
      <Heading title={`registry ${name}`}>{plain(name)}</Heading>
      <div class="filters" role="search">
        <Search name="q" label="Search templates" />
      </div>
      <List registry={name} part={parameter("q")} />
    </>
  );
}

function List({ registry, part }: { registry: string; part: string }) {
  const { value, failure, reload } = useLoaded<Page<TemplateSummary>>(`templates ${registry}`, (signal) =>
    get(path`/registries/${registry}/types`, { limit: MOST }, signal),
  );
  if (failure) return <Failed failure={failure} reload={reload} stale={false} />;
  if (!value) return <p class="loading">Loading…</p>;
  if (value.items.length === 0) return <Empty />;
  const fitting = value.items.filter(({ name }) => name.toLowerCase().includes(part.toLowerCase()));
  if (fitting.length === 0) return <p class="notice">No name of {value.items.length} templates contains this text.</p>;
  return <Collections registry={registry} templates={fitting} isAll={!value.nextPageToken} />;
}

function Empty() {
  return (
    <p class="notice">
      The registry is empty. Publish a template with <code>dm publish FOLDER</code>, or put a folder such as{" "}
      <code>web/v1/web.jinja</code> into it.
    </p>
  );
}

function Collections({ registry, templates, isAll }: { registry: string; templates: TemplateSummary[]; isAll: boolean }) {
  const groups = new Map<string, TemplateSummary[]>();
  for (const template of templates) {
    const collection = template.name.split("/").slice(0, -1).join("/");
    groups.set(collection, [...(groups.get(collection) ?? []), template]);
  }
  return (
    <>
      {[...groups].map(([collection, members]) => (
        <table class="cards" key={collection}>
          <caption class="quiet">
            {collection !== "" && <>Collection {plain(collection)}: </>}
            {members.length} {members.length === 1 ? "template" : "templates"}
            {!isAll && `, the first ${MOST}`}
          </caption>
          <thead>
            <tr>
              <th scope="col">Template</th>
              <th scope="col">Versions</th>
            </tr>
          </thead>
          <tbody>
            {members.map((template) => (
              <Row key={template.name} registry={registry} template={template} />
            ))}
          </tbody>
        </table>
      ))}
    </>
  );
}

function Row({ registry, template }: { registry: string; template: TemplateSummary }) {
  const latest = template.versions[template.versions.length - 1] ?? "";
  const address = (version: string) => `${templateAddress(`${template.name}:${version}`)}?registry=${encodeURIComponent(registry)}`;
  return (
    <tr>
      <th scope="row">
        <Link to={address(latest)}>{plain(template.name)}</Link>
      </th>
      <td data-label="Versions">
        {template.versions.map((version) => (
          <span key={version}>
            <Link to={address(version)}>{plain(version)}</Link>{" "}
          </span>
        ))}
      </td>
    </tr>
  );
}
