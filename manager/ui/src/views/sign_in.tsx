// Signs people in: at the issuer of the manager, or with a token that becomes a session at once.
import { useEffect, useState } from "preact/hooks";
import { Failure, send, signedIn, signedOut } from "../api/client.ts";
import { ask, person, ways } from "../api/session.ts";
import { ErrorText } from "../parts/failed.tsx";
import { Heading } from "../parts/heading.tsx";
import { address, go, parameter } from "../router.ts";

export function SignIn() {
  const [failure, setFailure] = useState<Failure>();
  useEffect(() => void ask(), []);
  const { pathname, search } = address.value;
  const back = pathname === "/ui/sign-in" ? "/ui/" : pathname + search;
  const submit = async (event: SubmitEvent) => {
    event.preventDefault();
    const form = event.currentTarget as HTMLFormElement;
    const token = String(new FormData(form).get("token") ?? "").trim();
    try {
      await send("POST", "/ui/session", { body: { token } });
      await ask();
      signedOut.value = false;
      signedIn.value += 1;
      if (pathname === "/ui/sign-in") go("/ui/");
    } catch (error) {
      if (error instanceof Failure) setFailure(error);
    }
  };
  return (
    <>
      <Heading title="Sign in">Sign in</Heading>
      {parameter("failed") !== "" && (
        <p class="notice bad" role="alert">
          Signing in did not succeed. Try again; the log of the manager has the reason.
        </p>
      )}
      <Ended />
      {ways.value?.required === false && <p class="notice">This manager does not ask who you are.</p>}
      {ways.value?.issuer && (
        <p class="actions">
          <a class="button" href={`/ui/session/sign-in?to=${encodeURIComponent(back)}`}>
            Sign in with your organization
          </a>
        </p>
      )}
      <p>
        {ways.value?.issuer ? "Or paste" : "This manager wants to know who you are. Paste"} a token that it accepts, such as the one that{" "}
        <code>dm login</code> gets. The page exchanges it for a session at once, and keeps no token.
      </p>
      {failure && (
        <section class="notice bad" role="alert">
          <ErrorText error={failure.body} />
        </section>
      )}
      <form class="filters" onSubmit={(event) => void submit(event)}>
        <label>
          Token
          <input type="password" name="token" required autocomplete="off" />
        </label>
        <button type="submit">Sign in</button>
      </form>
    </>
  );
}

/** Shown to somebody whose session has ended by itself. */
function Ended() {
  if (person.value === undefined || !signedOut.value) return null;
  return (
    <p class="notice warning" role="status">
      Your session has ended.{" "}
      {ways.value?.issuer
        ? "With a token, what you have not sent yet is still here afterwards. Your organization’s sign-in loads the page again."
        : "Sign in again: what you have not sent yet is still here."}
    </p>
  );
}
