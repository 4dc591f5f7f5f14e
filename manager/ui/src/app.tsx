// The frame of all views: header, sign-in, keys.
import { useEffect } from "preact/hooks";
import { signedOut } from "./api/client.ts";
import { Link } from "./parts/link.tsx";
import { Heading } from "./parts/heading.tsx";
import { Services } from "./parts/services.tsx";
import { address, view } from "./router.ts";
import { ChangesView } from "./views/changes.tsx";
import { DeploymentView } from "./views/deployment.tsx";
import { DeploymentsView } from "./views/deployments.tsx";
import { OperationView } from "./views/operation.tsx";
import { SignIn } from "./views/sign_in.tsx";

export function App() {
  useEffect(() => {
    document.addEventListener("keydown", search);
    return () => document.removeEventListener("keydown", search);
  }, []);
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
        </nav>
      </header>
      <Services />
      <main id="main">{signedOut.value ? <SignIn /> : <Content />}</main>
    </>
  );
}

function Content() {
  const shown = view(address.value.pathname);
  switch (shown.name) {
    case "deployments":
      return <DeploymentsView />;
    case "deployment":
      return <DeploymentView key={shown.deployment} name={shown.deployment} />;
    case "changes":
      return <ChangesView key={shown.deployment} name={shown.deployment} />;
    case "operation":
      return <OperationView key={shown.operation} deployment={shown.deployment} id={shown.operation} />;
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

/** The key "/" goes to the search field. */
function search(event: KeyboardEvent): void {
  const typing = event.target instanceof HTMLElement && /^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName);
  if (event.key !== "/" || typing || event.ctrlKey || event.metaKey || event.altKey) return;
  const field = document.querySelector<HTMLInputElement>("input[type=search]");
  if (!field) return;
  event.preventDefault();
  field.focus();
}
