import type { Failure } from "../api/client.ts";
import type { ErrorBody } from "../api/types.ts";
import { plain } from "./text.ts";

/** An error with its causes, and the id that finds it in the logs. */
export function ErrorText({ error }: { error: ErrorBody }) {
  const { location: place } = error;
  const where = place ? [place.file, place.line, place.column].filter((part) => part !== undefined && part !== null).join(":") : "";
  return (
    <div class="error">
      <p>
        <strong>{plain(error.message)}</strong> <code>{error.code}</code>
      </p>
      {where !== "" && <p>at {plain(where)}</p>}
      {(error.causes ?? []).length > 0 && (
        <ul>
          {(error.causes ?? []).map((cause, index) => (
            <li key={index}>
              <ErrorText error={cause} />
            </li>
          ))}
        </ul>
      )}
      {error.requestId && <p class="quiet">Request {plain(error.requestId)}</p>}
    </div>
  );
}

/** A load that failed. With `stale`, the view still shows what was loaded before. */
export function Failed({ failure, reload, stale }: { failure: Failure; reload: () => void; stale: boolean }) {
  return (
    <section class="notice bad" role="alert">
      <ErrorText error={failure.body} />
      {stale && <p>Below is what was loaded before.</p>}
      <p>
        <button type="button" onClick={reload}>
          Try again
        </button>
        {failure.isTemporary && <span class="quiet"> The page also tries by itself.</span>}
      </p>
    </section>
  );
}
