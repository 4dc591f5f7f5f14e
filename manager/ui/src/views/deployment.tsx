// A deployment: its state and the cause of it, its layout, its operations.
import type { Deployment } from "../api/types.ts";
import { Ago } from "../parts/ago.tsx";
import { DeploymentFrame, useDeployment } from "../parts/frame.tsx";
import { Link } from "../parts/link.tsx";
import { plain, shown } from "../parts/text.ts";
import { changesAddress, operationAddress } from "../router.ts";
import { Labels } from "./deployments.tsx";
import { Objects } from "./objects.tsx";
import { Operations } from "./operations.tsx";

export function DeploymentView({ name }: { name: string }) {
  return (
    <DeploymentFrame name={name} view="Layout" title={name} loaded={useDeployment(name)}>
      {(deployment) => <Parts deployment={deployment} />}
    </DeploymentFrame>
  );
}

function Parts({ deployment }: { deployment: Deployment }) {
  const { state, warnings = [] } = deployment;
  return (
    <>
      <Causes title="Why" texts={state.errors ?? []} kind="bad" />
      <Causes title="Please note" texts={warnings} kind="warning" />
      <Facts deployment={deployment} />
      <h2>Layout</h2>
      <Objects deployment={deployment} />
      <Outputs deployment={deployment} />
      <h2>Changes</h2>
      <p>
        <Link to={changesAddress(deployment.name)}>{deployment.preview ? "See and commit the preview" : "Compare, roll back, delete"}</Link>
      </p>
      <h2>Operations</h2>
      <Operations deployment={deployment} />
    </>
  );
}

function Causes({ title, texts, kind }: { title: string; texts: string[]; kind: string }) {
  if (texts.length === 0) return null;
  return (
    <section class={`notice ${kind}`} aria-label={title}>
      {texts.map((text, index) => (
        <p key={index} class="lines">
          {plain(text)}
        </p>
      ))}
    </section>
  );
}

function Facts({ deployment }: { deployment: Deployment }) {
  const { drift, operation } = deployment;
  const facts: [string, preact.ComponentChildren][] = [
    ["Namespace", plain(deployment.namespace)],
    ["Cluster", plain(deployment.cluster)],
    ["Revision", deployment.revision ?? "–"],
    ["Created", <Ago at={deployment.createdAt} />],
    ["Changed", <Ago at={deployment.modifiedAt} />],
    ["Deployed", <Ago at={deployment.deployedAt} />],
    ["Manifest", plain(deployment.latestManifest ?? "none yet")],
    ["Preview", deployment.preview && plain(deployment.preview)],
    ["Service account", deployment.serviceAccount && plain(deployment.serviceAccount)],
    ["Drift", drift && driftText(drift.resources)],
    ["Last operation", operation && <Link to={operationAddress(deployment.name, operation)}>open</Link>],
  ];
  return (
    <section aria-label="Facts">
      {deployment.description && <p class="lines">{plain(deployment.description)}</p>}
      <Labels labels={deployment.labels ?? {}} />
      <dl class="facts">
        {facts
          .filter(([, value]) => value !== undefined && value !== null && value !== "")
          .map(([name, value]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </div>
          ))}
      </dl>
    </section>
  );
}

function driftText(resources: number): string {
  return resources === 0 ? "none at the last check" : `${resources} resources at the last check`;
}

function Outputs({ deployment }: { deployment: Deployment }) {
  const { outputs = [], notes } = deployment;
  if (outputs.length === 0 && !notes) return null;
  return (
    <section aria-label="Outputs">
      <h2>Outputs</h2>
      {notes && <pre>{plain(notes)}</pre>}
      <dl class="facts">
        {outputs.map((output) => (
          <div key={output.name}>
            <dt>{plain(output.name)}</dt>
            <dd class="lines">{shown(output.value)}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}
