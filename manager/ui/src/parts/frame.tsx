// What every view of one deployment has: where it is, its name, and the ways to its other views.
import { get, path } from "../api/client.ts";
import type { Deployment } from "../api/types.ts";
import { type Loaded, useLoaded } from "../loaded.ts";
import { changesAddress, deploymentAddress, eventsAddress, graphAddress, updateAddress } from "../router.ts";
import { Failed } from "./failed.tsx";
import { Heading } from "./heading.tsx";
import { Link } from "./link.tsx";
import { State } from "./state.tsx";
import { plain } from "./text.ts";
import { deploymentMark } from "./tone.ts";

const EVERY_MS = 5000;

export function useDeployment(name: string, everyMs: number | undefined = EVERY_MS): Loaded<Deployment> {
  return useLoaded<Deployment>(`deployment ${name}`, (signal) => get(path`/deployments/${name}`, {}, signal), everyMs);
}

const VIEWS: [string, (deployment: string) => string][] = [
  ["Layout", deploymentAddress],
  ["Graph", graphAddress],
  ["Events and logs", eventsAddress],
  ["Changes", changesAddress],
  ["Update", updateAddress],
];

interface Properties {
  name: string;
  /** The name of the present view, as in the list of views. */
  view: string;
  title: string;
  loaded: Loaded<Deployment>;
  children: (deployment: Deployment) => preact.ComponentChildren;
}

export function DeploymentFrame({ name, view, title, loaded, children }: Properties) {
  const { value, failure, reload } = loaded;
  return (
    <>
      <p class="quiet">
        <Link to="/ui/">Deployments</Link>
        {view !== "Layout" && (
          <>
            {" "}
            / <Link to={deploymentAddress(name)}>{plain(name)}</Link>
          </>
        )}
      </p>
      <Heading title={title}>
        {plain(title)} {value && <State {...deploymentMark(value)} />}
      </Heading>
      <nav class="tabs" aria-label="Views of the deployment">
        {VIEWS.map(([label, address]) => (
          <Link key={label} to={address(name)} current={label === view}>
            {label}
          </Link>
        ))}
      </nav>
      {failure && <Failed failure={failure} reload={reload} stale={value !== undefined} />}
      {value ? children(value) : !failure && <p class="loading">Loading…</p>}
    </>
  );
}
