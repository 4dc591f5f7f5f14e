// The address of the page holds all of its state.
import { signal } from "@preact/signals";

/** Everything after `/ui`, with the query. */
export const address = signal(current());

/** Whether the last change of the address was a step to another view, which then takes the focus. */
export let moved = false;

function current(): URL {
  return new URL(globalThis.location.href);
}

globalThis.addEventListener("popstate", () => {
  moved = true;
  address.value = current();
});

/** Opens another view. */
export function go(to: string): void {
  history.pushState(null, "", to);
  moved = true;
  address.value = current();
}

/** Changes parameters of the present view. An empty value removes one. */
export function change(parameters: Record<string, string>): void {
  const next = current();
  for (const [name, value] of Object.entries(parameters)) {
    if (value === "") next.searchParams.delete(name);
    else next.searchParams.set(name, value);
  }
  history.replaceState(null, "", next);
  address.value = next;
}

export function parameter(name: string): string {
  return address.value.searchParams.get(name) ?? "";
}

export type View =
  | { name: "deployments" }
  | { name: "deployment"; deployment: string }
  | { name: "changes" | "graph" | "update" | "events"; deployment: string }
  | { name: "deploy" | "templates" | "instances" | "sign-in" }
  | { name: "registry"; registry: string }
  | { name: "template"; template: string }
  | { name: "operation"; deployment: string; operation: string }
  | { name: "unknown" };

/** The view of a path. */
export function view(pathname: string): View {
  const parts = pathname.replace(/^\/ui\/?/, "").replace(/\/$/, "").split("/").map(decoded);
  const [first, deployment, second, operation] = parts;
  const is = (length: number) => parts.length === length && first === "deployments";
  if (parts.length === 1 && (first === "deploy" || first === "templates" || first === "instances" || first === "sign-in")) return { name: first };
  if (parts.length === 2 && deployment && first === "registries") return { name: "registry", registry: deployment };
  if (parts.length === 2 && deployment && first === "templates") return { name: "template", template: deployment };
  if ((parts.length === 1 && first === "") || is(1)) return { name: "deployments" };
  if (is(2) && deployment) return { name: "deployment", deployment };
  if (is(3) && deployment && second && isPart(second)) return { name: second, deployment };
  if (is(4) && deployment && second === "operations" && operation) return { name: "operation", deployment, operation };
  return { name: "unknown" };
}

const PARTS = ["changes", "graph", "update", "events"] as const;

function isPart(part: string): part is (typeof PARTS)[number] {
  return (PARTS as readonly string[]).includes(part);
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

export function deploymentAddress(deployment: string): string {
  return `/ui/deployments/${encodeURIComponent(deployment)}`;
}

export function changesAddress(deployment: string): string {
  return `${deploymentAddress(deployment)}/changes`;
}

export function graphAddress(deployment: string): string {
  return `${deploymentAddress(deployment)}/graph`;
}

export function updateAddress(deployment: string): string {
  return `${deploymentAddress(deployment)}/update`;
}

export function eventsAddress(deployment: string): string {
  return `${deploymentAddress(deployment)}/events`;
}

export function templatesAddress(): string {
  return "/ui/templates";
}

export function registryAddress(registry: string): string {
  return `/ui/registries/${encodeURIComponent(registry)}`;
}

export function templateAddress(template: string): string {
  return `/ui/templates/${encodeURIComponent(template)}`;
}

export function deployAddress(template: string): string {
  return `/ui/deploy${template === "" ? "" : `?template=${encodeURIComponent(template)}`}`;
}

export function instancesAddress(type: string): string {
  return `/ui/instances${type === "" ? "" : `?type=${encodeURIComponent(type)}`}`;
}

export function operationAddress(deployment: string, operation: string): string {
  return `${deploymentAddress(deployment)}/operations/${encodeURIComponent(operation)}`;
}
