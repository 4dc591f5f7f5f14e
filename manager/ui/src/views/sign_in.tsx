// Asks for a token. It is sent with each request of this tab, and is gone when the tab is closed or loaded again.
import { useState } from "preact/hooks";
import { Failure, send, signedOut, token } from "../api/client.ts";
import { ErrorText } from "../parts/failed.tsx";
import { Heading } from "../parts/heading.tsx";

export function SignIn() {
  const [failure, setFailure] = useState<Failure>();
  const submit = async (event: SubmitEvent) => {
    event.preventDefault();
    const form = event.currentTarget as HTMLFormElement;
    token.value = String(new FormData(form).get("token") ?? "").trim();
    try {
      await send("GET", "/whoami");
      signedOut.value = false;
    } catch (error) {
      token.value = "";
      if (error instanceof Failure) setFailure(error);
    }
  };
  return (
    <>
      <Heading title="Sign in">Sign in</Heading>
      <p>
        This manager wants to know who you are. Paste a token that it accepts, such as the one that <code>dm</code> uses. The page
        keeps it in the memory of this tab only.
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
