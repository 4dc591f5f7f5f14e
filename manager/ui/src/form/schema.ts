// A form from a JSON Schema: pure. The server checks the values; this only decides which control each of them gets.

export type Path = readonly (string | number)[];

export interface Schema {
  type?: string | string[];
  title?: string;
  description?: string;
  default?: unknown;
  enum?: unknown[];
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
  additionalProperties?: boolean | Schema;
  patternProperties?: Record<string, Schema>;
  writeOnly?: boolean;
  format?: string;
  $ref?: string;
  minimum?: number;
  maximum?: number;
  definitions?: Record<string, Schema>;
  $defs?: Record<string, Schema>;
}

/** `other` is written as YAML: the schema says nothing, or more than a control can show. */
export type Kind = "text" | "number" | "boolean" | "choice" | "list" | "map" | "group" | "other";

export interface Field {
  path: Path;
  label: string;
  description: string;
  kind: Kind;
  required: boolean;
  secret: boolean;
  schema: Schema;
  /** The present value. It is undefined where nothing is written, and the default counts. */
  value: unknown;
  children: Field[];
  errors: string[];
}

/** What the server says of a value. */
export interface Fault {
  path: Path;
  message: string;
}

/** Deeper parts are written as YAML: a schema may refer to itself. */
const DEPTH = 6;

export function fields(schema: Schema, value: unknown, faults: Fault[]): Field[] {
  const builder = new Builder(schema, faults);
  return builder.group(resolve(schema, schema), value, [], 0);
}

/** The schema that a reference means. Schemas say `$ref: "#/definitions/NAME"`. */
function resolve(root: Schema, schema: Schema): Schema {
  let found: Schema | undefined = schema;
  for (let step = 0; found?.$ref !== undefined && step < DEPTH; step += 1) {
    const parts = found.$ref.startsWith("#/") ? found.$ref.slice(2).split("/") : [];
    let at: unknown = parts.length > 0 ? root : undefined;
    for (const part of parts) at = own(at, part.replace(/~1/g, "/").replace(/~0/g, "~"));
    found = at as Schema | undefined;
  }
  return found ?? {};
}

function own(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null && Object.hasOwn(value, name) ? (value as Record<string, unknown>)[name] : undefined;
}

export function isMap(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

class Builder {
  constructor(
    private readonly root: Schema,
    private readonly faults: Fault[],
  ) {}

  group(schema: Schema, value: unknown, path: Path, depth: number): Field[] {
    const required = new Set(schema.required ?? []);
    return Object.entries(schema.properties ?? {}).map(([name, part]) =>
      this.field(part, own(value, name), [...path, name], name, required.has(name), depth),
    );
  }

  field(given: Schema | boolean, value: unknown, path: Path, name: string, required: boolean, depth: number): Field {
    const schema = typeof given === "boolean" ? {} : resolve(this.root, given);
    const kind = depth >= DEPTH ? "other" : kindOf(schema, value);
    return {
      path,
      label: schema.title ?? name,
      description: schema.description ?? "",
      kind,
      required,
      secret: schema.writeOnly === true || schema.format === "password",
      schema,
      value,
      children: this.children(kind, schema, value, path, depth + 1),
      errors: this.faults.filter((fault) => sameOrBelow(kind, path, fault.path)).map(({ message }) => message),
    };
  }

  private children(kind: Kind, schema: Schema, value: unknown, path: Path, depth: number): Field[] {
    if (kind === "group") return this.group(schema, value, path, depth);
    if (kind === "list") {
      const items = Array.isArray(value) ? value : [];
      return items.map((item, index) => this.field(schema.items ?? {}, item, [...path, index], String(index + 1), false, depth));
    }
    if (kind === "map" && isMap(value)) {
      const each = schema.additionalProperties ?? {};
      return Object.entries(value).map(([name, item]) => this.field(each, item, [...path, name], name, false, depth));
    }
    return [];
  }
}

/** A control without children also shows the faults of what is inside its value. */
function sameOrBelow(kind: Kind, path: Path, fault: Path): boolean {
  const begins = path.every((part, index) => String(part) === String(fault[index]));
  return begins && (fault.length === path.length || !["group", "list", "map"].includes(kind));
}

function kindOf(schema: Schema, value: unknown): Kind {
  const fits = (isRight: boolean, kind: Kind): Kind => (isRight || value === undefined || value === null ? kind : "other");
  if (schema.enum && schema.enum.every((choice) => typeof choice !== "object")) return "choice";
  switch (schema.type) {
    case "string":
      return fits(typeof value === "string", "text");
    case "integer":
    case "number":
      return fits(typeof value === "number", "number");
    case "boolean":
      return fits(typeof value === "boolean", "boolean");
    case "array":
      return fits(Array.isArray(value), "list");
    case "object":
      return fits(isMap(value), objectKind(schema));
    default:
      return schema.properties ? fits(isMap(value), "group") : "other";
  }
}

function objectKind(schema: Schema): Kind {
  if (schema.properties && Object.keys(schema.properties).length > 0) return "group";
  const each = schema.additionalProperties;
  if (schema.patternProperties || each === false) return "other";
  return "map";
}

/** What a new item of a list or a map begins with. */
export function initial(schema: Schema | boolean | undefined): unknown {
  if (typeof schema !== "object") return "";
  if (schema.default !== undefined) return schema.default;
  switch (schema.type) {
    case "integer":
    case "number":
      return schema.minimum ?? 0;
    case "boolean":
      return false;
    case "array":
      return [];
    case "object":
      return {};
    default:
      return schema.enum?.[0] ?? "";
  }
}

/** The value in a place, or undefined. */
export function at(value: unknown, path: Path): unknown {
  return path.reduce<unknown>((inside, part) => own(inside, String(part)), value);
}

/** The JSON merge patch (RFC 7396) that makes one value of the other. Undefined if they are the same. */
export function patch(before: unknown, after: unknown): unknown {
  if (!isMap(before) || !isMap(after)) return JSON.stringify(before) === JSON.stringify(after) ? undefined : after;
  const changes: Record<string, unknown> = {};
  for (const name of Object.keys(before)) if (!Object.hasOwn(after, name)) changes[name] = null;
  for (const [name, value] of Object.entries(after)) {
    const change = Object.hasOwn(before, name) ? patch(before[name], value) : value;
    if (change !== undefined) changes[name] = change;
  }
  return Object.keys(changes).length > 0 ? changes : undefined;
}
