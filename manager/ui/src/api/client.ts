// Requests to the manager. A session is a cookie that no script can read: no token is kept here, in storage or in an address.
import { signal } from "@preact/signals";
import type { Deployment, ErrorBody, Operation } from "./types.ts";

/** Counts the times that somebody signed in: what failed before may be loaded now. */
export const signedIn = signal(0);

/** Whether the manager asks for a token that it accepts. */
export const signedOut = signal(false);

/** Why a request failed. */
export class Failure extends Error {
  constructor(
    /** The HTTP status, or 0 if there was no answer. */
    readonly status: number,
    readonly body: ErrorBody,
  ) {
    super(body.message);
  }

  /** Whether a later try may succeed without a change. */
  get isTemporary(): boolean {
    return this.status === 0 || this.status === 429 || this.status >= 500;
  }
}

export type Query = Record<string, string | number | boolean | undefined>;

/** A path with its parts encoded, such as path`/deployments/${name}`. */
export function path(texts: TemplateStringsArray, ...parts: string[]): string {
  return texts.reduce((before, text, index) => before + encodeURIComponent(parts[index - 1] ?? "") + text);
}

function address(route: string, query: Query): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== "");
  const text = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString();
  return text === "" ? route : `${route}?${text}`;
}

function withoutAnswer(): Failure {
  return new Failure(0, { code: "UNAVAILABLE", message: "The manager does not answer.", causes: [] });
}

async function failure(response: Response): Promise<Failure> {
  const message = `The manager answered with status ${response.status}.`;
  const body: unknown = await response.json().catch(() => null);
  const isError = typeof body === "object" && body !== null && "message" in body;
  return new Failure(response.status, isError ? (body as ErrorBody) : { code: "INTERNAL", message, causes: [] });
}

/** Sends a request, and returns the answer if it is a success. */
export async function send(method: string, route: string, options: Options = {}): Promise<Response> {
  const headers = new Headers(options.headers);
  // Other pages cannot send it, so a write with it is ours.
  if (method !== "GET") headers.set("x-dm-csrf", "1");
  if (options.body !== undefined) headers.set("content-type", "application/json");
  const init: RequestInit = { method, headers, redirect: "error" };
  if (options.body !== undefined) init.body = JSON.stringify(options.body);
  if (options.signal) init.signal = options.signal;
  const response = await fetch(address(route, options.query ?? {}), init).catch((error: unknown) => {
    throw options.signal?.aborted ? error : withoutAnswer();
  });
  if (response.ok) return response;
  if (response.status === 401) signedOut.value = true;
  throw await failure(response);
}

export interface Options {
  query?: Query;
  body?: unknown;
  headers?: Record<string, string>;
  signal?: AbortSignal;
}

export async function get<T>(route: string, query: Query, signal: AbortSignal): Promise<T> {
  const response = await send("GET", route, { query, signal });
  return (await response.json()) as T;
}

/** Writes to a deployment, if nobody has changed it since it was loaded. Returns the operation without waiting for its end. */
export async function write(method: string, route: string, { fingerprint }: Deployment, body?: unknown): Promise<Operation> {
  const headers = { prefer: "respond-async", "if-match": `"${fingerprint}"` };
  const response = await send(method, route, body === undefined ? { headers } : { headers, body });
  return (await response.json()) as Operation;
}
