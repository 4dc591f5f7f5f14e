// The update of a deployment by the form of its template, or as YAML.
import { get, path } from "../api/client.ts";
import type { Deployment, Manifest, TemplateDescription } from "../api/types.ts";
import { read } from "../form/document.ts";
import { at } from "../form/schema.ts";
import { useLoaded } from "../loaded.ts";
import { Failed } from "../parts/failed.tsx";
import { DeploymentFrame, useDeployment } from "../parts/frame.tsx";
import { UpdateForm } from "./deploy.tsx";

export function UpdateView({ name }: { name: string }) {
  return (
    <DeploymentFrame name={name} view="Update" title={`Update ${name}`} loaded={useDeployment(name)}>
      {(deployment) => <Loaded key={deployment.latestManifest ?? ""} deployment={deployment} />}
    </DeploymentFrame>
  );
}

interface Source {
  content: string;
  hasFiles: boolean;
  about: TemplateDescription | undefined;
}

function Loaded({ deployment }: { deployment: Deployment }) {
  const manifest = deployment.latestManifest ?? "";
  const { value, failure, reload } = useLoaded<Source>(`source ${manifest}`, (signal) => source(deployment.name, manifest, signal));
  if (manifest === "") return <p class="notice">It was never applied: commit its preview first.</p>;
  if (failure) return <Failed failure={failure} reload={reload} stale={false} />;
  if (!value) return <p class="loading">Loading…</p>;
  return (
    <>
      {value.hasFiles && (
        <p class="notice">Its configuration has files beside it. They are sent only with a change of properties: use dm update for all else.</p>
      )}
      <UpdateForm deployment={deployment} content={value.content} about={value.about} />
    </>
  );
}

async function source(deployment: string, manifest: string, signal: AbortSignal): Promise<Source> {
  const found = await get<Manifest>(path`/deployments/${deployment}/manifests/${manifest}`, {}, signal);
  const { content, imports } = found.inputConfig;
  const type = at(read(content).value, ["resources", 0, "type"]);
  const isTemplate = (found.resolvedTypes ?? []).some((resolved) => resolved.type === type);
  const about = isTemplate ? await get<TemplateDescription>(path`/types/${String(type)}/metadata`, {}, signal).catch(() => undefined) : undefined;
  return { content, hasFiles: (imports ?? []).length > 0, about };
}
