// What a state means: how bad it is, and the shape and word that say so without colour.
import type { DeploymentItem, LiveResource, Operation, ResourceReport } from "../api/types.ts";

/** From harmless to bad: of several, the last counts. */
export const TONES = ["unknown", "good", "busy", "warning", "bad"] as const;
export type Tone = (typeof TONES)[number];

export interface Mark {
  tone: Tone;
  word: string;
}

/** A state with its cause, empty if there is none. */
export interface NodeMark extends Mark {
  reason: string;
}

export function worst(tones: Iterable<Tone>): Tone {
  let found = 0;
  for (const tone of tones) found = Math.max(found, TONES.indexOf(tone));
  return TONES[found] ?? "unknown";
}

export function deploymentMark({ state, drift }: Pick<DeploymentItem, "state" | "drift">): Mark {
  switch (state.status) {
    case "Deployed":
      return drift && drift.resources > 0 ? { tone: "warning", word: "Deployed, drifted" } : { tone: "good", word: "Deployed" };
    case "Failed":
      return { tone: "bad", word: "Failed" };
    case "Modified":
      return { tone: "busy", word: "Modified" };
    default:
      return { tone: "unknown", word: state.status };
  }
}

export function objectMark(resource: LiveResource): Mark {
  const drifted = (resource.drift ?? []).length > 0;
  switch (resource.state) {
    case "READY":
      return drifted ? { tone: "warning", word: "drifted" } : { tone: "good", word: "ready" };
    case "NOT_READY":
      return { tone: "busy", word: "not ready" };
    case "MISSING":
      return { tone: "bad", word: "missing" };
    case "REPLACED":
      return { tone: "bad", word: "replaced" };
    default:
      return { tone: "bad", word: "failed" };
  }
}

/** The state of a node of the graph. Nothing is recorded for one without a state. */
export function nodeMark(state: LiveResource["state"] | null | undefined): Mark {
  switch (state) {
    case undefined:
    case null:
      return { tone: "unknown", word: "not applied" };
    case "READY":
      return { tone: "good", word: "ready" };
    case "NOT_READY":
      return { tone: "busy", word: "not ready" };
    default:
      return { tone: "bad", word: state.toLowerCase() };
  }
}

const REPORTED = {
  PENDING: { tone: "unknown", word: "pending" },
  APPLIED: { tone: "busy", word: "applied" },
  READY: { tone: "good", word: "ready" },
  DELETING: { tone: "busy", word: "deleting" },
  GONE: { tone: "unknown", word: "gone" },
  FAILED: { tone: "bad", word: "failed" },
  SKIPPED: { tone: "warning", word: "skipped" },
} satisfies Record<ResourceReport["state"], Mark>;

export function reportMark(report: ResourceReport): Mark {
  return REPORTED[report.state];
}

export function operationMark(operation: Operation): Mark {
  if (operation.status !== "DONE") {
    return { tone: "busy", word: operation.status === "PENDING" ? "pending" : "running" };
  }
  return operation.error ? { tone: "bad", word: "failed" } : { tone: "good", word: "done" };
}
