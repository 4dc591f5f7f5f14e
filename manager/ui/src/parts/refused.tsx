// Why a button does nothing.
import type { Permission } from "../api/types.ts";
import { plain } from "./text.ts";

/** Empty if the caller may. A button refers to it by the id. */
export function Refused({ id, may }: { id: string; may: Permission | undefined }) {
  return (
    <span class="quiet" id={id}>
      {may?.allowed === false ? plain(may.reason ?? "You may not do this.") : ""}
    </span>
  );
}
