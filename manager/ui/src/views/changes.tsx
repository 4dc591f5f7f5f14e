// Changes of a deployment: its preview, its manifests compared, rollback, deletion.
import { get, path } from "../api/client.ts";
import type { Deployment, Manifest, ManifestDiff, ManifestSummary, Page } from "../api/types.ts";
import { useLoaded } from "../loaded.ts";
import { Ago } from "../parts/ago.tsx";
import { Failed } from "../parts/failed.tsx";
import { DeploymentFrame, useDeployment } from "../parts/frame.tsx";
import { plain } from "../parts/text.ts";
import { change, parameter } from "../router.ts";
import { Ask } from "./ask.tsx";
import { Differences } from "./differences.tsx";

/** The most that one answer has. */
const MANIFESTS = 500;

export function ChangesView({ name }: { name: string }) {
  const loaded = useDeployment(name);
  return (
    <DeploymentFrame name={name} view="Changes" title={`Changes of ${name}`} loaded={loaded}>
      {(deployment) => <Parts deployment={deployment} reload={loaded.reload} />}
    </DeploymentFrame>
  );
}

interface Properties {
  deployment: Deployment;
  reload: () => void;
}

function Parts({ deployment, reload }: Properties) {
  return (
    <>
      {deployment.preview && <Preview key={deployment.preview} deployment={deployment} reload={reload} />}
      <Manifests deployment={deployment} />
      <h2>Delete</h2>
      <p>Deletes the deployment and all of its objects.</p>
      <Ask
        label="Delete"
        warning="Everything that the deployment made is deleted."
        typed={deployment.name}
        deployment={deployment}
        may={deployment.may.delete}
        request={{ method: "DELETE", route: path`/deployments/${deployment.name}` }}
      />
    </>
  );
}

/** What a commit would do, and the commit. */
function Preview({ deployment, reload: again }: Properties) {
  const { name, preview } = deployment;
  const { value, failure, reload } = useLoaded<Manifest>(`preview ${preview}`, (signal) => get(path`/deployments/${name}/preview`, {}, signal));
  if (failure) return <Failed failure={failure} reload={reload} stale={false} />;
  if (!value?.preview) return <p class="loading">Loading…</p>;
  const { summary, resources } = value.preview;
  return (
    <section aria-label="Preview">
      <h2>Preview</h2>
      <p class="quiet">
        {plain(value.name)}, <Ago at={value.createdAt} />
      </p>
      <Differences summary={summary} resources={resources} />
      <Ask
        label="Commit"
        warning="The preview is applied exactly as it is shown."
        deployment={deployment}
        may={deployment.may.update}
        request={{ method: "PUT", route: path`/deployments/${name}`, body: { manifest: value.name } }}
      />{" "}
      <Ask
        label="Discard"
        warning="The preview is deleted. The deployment stays as it is."
        deployment={deployment}
        may={deployment.may.update}
        request={{ method: "DELETE", route: path`/deployments/${name}/preview` }}
        then={again}
      />
    </section>
  );
}

async function allManifests(name: string, signal: AbortSignal): Promise<ManifestSummary[]> {
  const found: ManifestSummary[] = [];
  let pageToken = "";
  do {
    const query = { limit: MANIFESTS, pageToken };
    const page: Page<ManifestSummary> = await get(path`/deployments/${name}/manifests`, query, signal);
    found.push(...page.items);
    pageToken = page.nextPageToken ?? "";
  } while (pageToken !== "");
  return found.reverse();
}

function Manifests({ deployment }: { deployment: Deployment }) {
  const { name, fingerprint } = deployment;
  const { value, failure, reload } = useLoaded(`manifests ${fingerprint}`, (signal) => allManifests(name, signal));
  const [from, to] = [parameter("from"), parameter("to")];
  return (
    <section aria-label="Manifests">
      <h2>Manifests</h2>
      {failure && <Failed failure={failure} reload={reload} stale={value !== undefined} />}
      {value && <Table manifests={value} deployment={deployment} />}
      {from !== "" && to !== "" && <Comparison deployment={name} from={from} to={to} />}
    </section>
  );
}

function Table({ manifests, deployment }: { manifests: ManifestSummary[]; deployment: Deployment }) {
  const latest = deployment.latestManifest ?? "";
  return (
    <table class="cards">
      <caption class="quiet">{manifests.length} kept, the last one first</caption>
      <thead>
        <tr>
          <th scope="col">Manifest</th>
          <th scope="col">Templates</th>
          <th scope="col">Made</th>
          <th scope="col">In force</th>
          <th scope="col">Do</th>
        </tr>
      </thead>
      <tbody>
        {manifests.map((manifest) => (
          <tr key={manifest.name}>
            <th scope="row">
              {manifest.revision && `${manifest.revision}: `}
              {plain(manifest.name)} <span class="quiet">{role(manifest.name, deployment)}</span>
            </th>
            <td data-label="Templates">{plain((manifest.templates ?? []).join(", "))}</td>
            <td data-label="Made">
              <Ago at={manifest.createdAt} />
            </td>
            <td data-label="In force">
              <InForce manifest={manifest} />
            </td>
            <td>
              {manifest.name !== latest && manifest.name !== deployment.preview && (
                <>
                  <button type="button" onClick={() => change({ from: manifest.name, to: latest })}>
                    Compare with the latest
                  </button>
                  <Ask
                    label={`Roll back to ${manifest.revision ?? manifest.name}`}
                    warning="Makes a new manifest with this configuration, and applies it."
                    deployment={deployment}
                    may={deployment.may.update}
                    request={{ method: "POST", route: path`/deployments/${deployment.name}/rollback`, body: { manifest: manifest.name } }}
                  />
                </>
              )}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function InForce({ manifest: { inForceFrom, inForceUntil } }: { manifest: ManifestSummary }) {
  if (!inForceFrom) return <>–</>;
  return (
    <>
      from <Ago at={inForceFrom} />
      {inForceUntil && (
        <>
          {" "}
          until <Ago at={inForceUntil} />
        </>
      )}
    </>
  );
}

function role(manifest: string, { latestManifest, deployedManifest, preview }: Deployment): string {
  if (manifest === preview) return "preview";
  if (manifest === latestManifest) return manifest === deployedManifest ? "latest, deployed" : "latest";
  return manifest === deployedManifest ? "deployed" : "";
}

function Comparison({ deployment, from, to }: { deployment: string; from: string; to: string }) {
  const { value, failure, reload } = useLoaded<ManifestDiff>(`diff ${from} ${to}`, (signal) =>
    get(path`/deployments/${deployment}/manifests/${to}/diff`, { from }, signal),
  );
  return (
    <section class="detail" aria-label="Comparison">
      <button type="button" class="close" aria-label="Close" onClick={() => change({ from: "", to: "" })}>
        ✕
      </button>
      <h3>
        From {plain(from)} to {plain(to)}
      </h3>
      {failure && <Failed failure={failure} reload={reload} stale={false} />}
      {value && <Differences summary={value.summary} resources={value.resources} />}
    </section>
  );
}
