// The frame of all views: header, sign-in, keys.
import { useEffect, useState } from "preact/hooks";
import { signedOut } from "./api/client.ts";
import { persons } from "./api/session.ts";
import { Heading } from "./parts/heading.tsx";
import { Keys, press } from "./parts/keys.tsx";
import { Lazy } from "./parts/lazy.tsx";
import { Link } from "./parts/link.tsx";
import { Services } from "./parts/services.tsx";
import { SignOut } from "./parts/sign_out.tsx";
import { address, instancesAddress, templatesAddress, view } from "./router.ts";
import { DeploymentsView } from "./views/deployments.tsx";
import { SignIn } from "./views/sign_in.tsx";

/** The other views are loaded when somebody opens them. */
const views = {
  deployment: () => import("./views/deployment.tsx").then((module) => module.DeploymentView),
  changes: () => import("./views/changes.tsx").then((module) => module.ChangesView),
  graph: () => import("./views/graph.tsx").then((module) => module.GraphView),
  update: () => import("./views/update.tsx").then((module) => module.UpdateView),
  events: () => import("./views/events.tsx").then((module) => module.EventsView),
  operation: () => import("./views/operation.tsx").then((module) => module.OperationView),
  deploy: () => import("./views/deploy.tsx").then((module) => module.DeployView),
  templates: () => import("./views/templates.tsx").then((module) => module.TemplatesView),
  registry: () => import("./views/templates.tsx").then((module) => module.RegistryView),
  template: () => import("./views/template.tsx").then((module) => module.TemplateView),
  instances: () => import("./views/instances.tsx").then((module) => module.InstancesView),
};

export function App() {
  const [isHelp, setHelp] = useState(false);
  useEffect(() => {
    const listen = (event: KeyboardEvent) => press(event, setHelp);
    document.addEventListener("keydown", listen);
    return () => document.removeEventListener("keydown", listen);
  }, []);
  const { pathname } = address.value;
  const isIn = (part: string) => pathname.startsWith(`/ui/${part}`);
  return (
    <>
      <a class="skip" href="#main">
        Skip to the content
      </a>
      <header>
        <nav aria-label="Views">
          <Link to="/ui/" class="brand">
            Deployment Manager
          </Link>
          <Link to="/ui/deployments" current={pathname === "/ui/" || isIn("deployments")}>
            Deployments
          </Link>
          <Link to={templatesAddress()} current={isIn("templates") || isIn("registries") || isIn("deploy?") || pathname === "/ui/deploy"}>
            Templates
          </Link>
          <Link to={instancesAddress("")} current={isIn("instances")}>
            Instances
          </Link>
        </nav>
        <span class="tools">
          <button type="button" aria-expanded={isHelp} onClick={() => setHelp((before) => !before)}>
            Keys
          </button>
          <SignOut />
        </span>
      </header>
      <Services />
      <main id="main" tabIndex={-1}>
        {isHelp && <Keys close={() => setHelp(false)} />}
        {signedOut.value && <SignIn />}
        {/* It stays while somebody signs in again, with all that was typed. */}
        <div key={persons.value} hidden={signedOut.value}>
          <Content />
        </div>
      </main>
    </>
  );
}

function Content() {
  const shown = view(address.value.pathname);
  switch (shown.name) {
    case "deployments":
      return <DeploymentsView />;
    case "sign-in":
      return <SignIn />;
    case "deployment":
    case "changes":
    case "graph":
    case "update":
    case "events":
      return <Lazy key={`${shown.name} ${shown.deployment}`} load={views[shown.name]} with={{ name: shown.deployment }} />;
    case "operation":
      return <Lazy key={shown.operation} load={views.operation} with={{ deployment: shown.deployment, id: shown.operation }} />;
    case "registry":
      return <Lazy key={shown.registry} load={views.registry} with={{ name: shown.registry }} />;
    case "template":
      return <Lazy key={shown.template} load={views.template} with={{ name: shown.template }} />;
    case "deploy":
    case "templates":
    case "instances":
      return <Lazy key={shown.name} load={views[shown.name]} with={{}} />;
    case "unknown":
      return (
        <>
          <Heading title="Not found">There is no such view</Heading>
          <p>
            <Link to="/ui/">All deployments</Link>
          </p>
        </>
      );
  }
}
