// The nouns of the API, generated from its description.
import type { components } from "./schema.ts";

type Schemas = components["schemas"];
export type Deployment = Schemas["DeploymentAnswer"];
export type DeploymentItem = Schemas["DeploymentSummary"];
export type DeploymentList = Schemas["DeploymentPage"];
export type DiffSummary = Schemas["DiffSummary"];
export type ErrorBody = Schemas["ErrorBody"];
export type Graph = Schemas["Graph"];
export type Layout = Schemas["Layout"];
export type LayoutNode = Schemas["LayoutNode"];
export type LiveResource = Schemas["LiveResource"];
export type Manifest = Schemas["Manifest"];
export type ManifestDiff = Schemas["ManifestDiff"];
export type ManifestSummary = Schemas["ManifestSummary"];
export type Operation = Schemas["Operation"];
export type OperationRefusal = Schemas["OperationRefusal"];
export type OperationReport = Schemas["OperationReport"];
export type Origin = Schemas["Origin"];
export type Permission = Schemas["Permission"];
export type RegistrySummary = Schemas["RegistrySummary"];
export type TemplateDescription = Schemas["TemplateDescription"];
export type TemplateSummary = Schemas["TemplateSummary"];
export type TypeInstance = Schemas["TypeInstance"];
export type TypeSummary = Schemas["TypeSummary"];
export type WhatIfItem = Schemas["WhatIfItem"];
export type WhatIfPage = Schemas["WhatIfPage"];
export type Whoami = Schemas["Whoami"];
export type ResourceDiff = Schemas["ResourceDiff"];
export type ResourceReport = Schemas["ResourceReport"];

export interface Page<T> {
  items: T[];
  nextPageToken?: string | null;
}

/** What the cluster noted about the objects of a deployment. */
export interface ClusterEvents {
  items: { resource: string; object: { kind: string; name: string }; type: "Normal" | "Warning"; reason: string; message: string; count: number; lastTime?: string | null }[];
  notices?: string[];
}

export interface LogLine {
  resource: string;
  pod: string;
  container: string;
  text: string;
}

export interface LogNotice {
  pod?: string | null;
  container?: string | null;
  message: string;
}
