// Ends the session of this browser.
import { send, signedOut } from "../api/client.ts";
import { ways } from "../api/session.ts";

export function SignOut() {
  if (!ways.value?.session) return null;
  const end = async () => {
    await send("DELETE", "/ui/session");
    ways.value = undefined;
    signedOut.value = true;
  };
  return (
    <button type="button" onClick={() => void end()}>
      Sign out
    </button>
  );
}
