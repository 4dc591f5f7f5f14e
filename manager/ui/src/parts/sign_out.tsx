// Says who is signed in, and ends the session of this browser.
import { signedOut } from "../api/client.ts";
import { end, person, ways } from "../api/session.ts";
import { plain } from "./text.ts";

export function SignOut() {
  if (person.value === undefined || signedOut.value) return null;
  const signOut = async () => {
    await end();
    signedOut.value = true;
  };
  return (
    <>
      <span class="quiet person">{plain(person.value)}</span>
      {ways.value?.session && (
        <button type="button" onClick={() => void signOut()}>
          Sign out
        </button>
      )}
    </>
  );
}
