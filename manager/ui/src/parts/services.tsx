// Says which service is unavailable: /readyz names each dependency that is down.
import { useLoaded } from "../loaded.ts";
import { plain } from "./text.ts";

const EVERY_MS = 15_000;

export function Services() {
  const { value: missing = [] } = useLoaded("services", lost, EVERY_MS);
  if (missing.length === 0) return null;
  return (
    <p class="notice warning banner" role="status">
      Unavailable: {plain(missing.join(", "))}. What is shown may be old. The page tries again by itself.
    </p>
  );
}

interface Readiness {
  checks: { name: string; ready: boolean }[];
}

async function lost(signal: AbortSignal): Promise<string[]> {
  try {
    const response = await fetch("/readyz", { signal });
    const { checks } = (await response.json()) as Readiness;
    return checks.filter((check) => !check.ready).map((check) => check.name);
  } catch {
    return ["manager"];
  }
}
