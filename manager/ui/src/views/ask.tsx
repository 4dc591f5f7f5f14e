// A button for a write, which asks before it writes. The operation is shown next.
import { useId, useState } from "preact/hooks";
import { Failure, write } from "../api/client.ts";
import type { Deployment, Permission } from "../api/types.ts";
import { ErrorText } from "../parts/failed.tsx";
import { Refused } from "../parts/refused.tsx";
import { plain } from "../parts/text.ts";
import { go, operationAddress } from "../router.ts";

interface Properties {
  label: string;
  warning: string;
  /** What somebody must type before the write. */
  typed?: string;
  deployment: Deployment;
  /** Without the permission, the button is there and says why it does nothing. */
  may: Permission;
  request: { method: string; route: string; body?: unknown };
  /** What follows a write that begins no operation. */
  then?: () => void;
}

export function Ask({ label, warning, typed, deployment, may, request, then }: Properties) {
  const [isOpen, setOpen] = useState(false);
  const [text, setText] = useState("");
  const [failure, setFailure] = useState<Failure>();
  const submit = async (event: Event) => {
    event.preventDefault();
    try {
      const operation = await write(request.method, request.route, deployment, request.body);
      if (then) then();
      else go(operationAddress(deployment.name, operation.id));
    } catch (error) {
      if (error instanceof Failure) setFailure(error);
    }
  };
  const hint = useId();
  if (!may.allowed) {
    return (
      <>
        <button type="button" disabled aria-describedby={hint}>
          {plain(label)}…
        </button>{" "}
        <Refused id={hint} may={may} />
      </>
    );
  }
  if (!isOpen) {
    return (
      <button type="button" onClick={() => setOpen(true)}>
        {plain(label)}…
      </button>
    );
  }
  return (
    <form class="notice warning" aria-label={label} onSubmit={(event) => void submit(event)}>
      {failure && <ErrorText error={failure.body} />}
      <p>{warning}</p>
      {typed !== undefined && (
        <label>
          Type {plain(typed)} to confirm
          <input name="typed" value={text} autocomplete="off" spellcheck={false} onInput={(event) => setText(event.currentTarget.value)} />
        </label>
      )}
      <p>
        <button type="submit" class="danger" disabled={typed !== undefined && text !== typed}>
          {plain(label)}
        </button>{" "}
        <button type="button" onClick={() => setOpen(false)}>
          Cancel
        </button>
      </p>
    </form>
  );
}
