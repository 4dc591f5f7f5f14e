// The nouns of the API, generated from its description.
import type { components } from "./schema.ts";

type Schemas = components["schemas"];
export type Deployment = Schemas["Deployment"];
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
export type ResourceDiff = Schemas["ResourceDiff"];
export type ResourceReport = Schemas["ResourceReport"];

export interface Page<T> {
  items: T[];
  nextPageToken?: string | null;
}
