import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { signedOut } from "../api/client.ts";
import { moved } from "../router.ts";

/** The heading of a view. It names the tab, and takes the focus when a link leads here. */
export function Heading({ title, children }: { title: string; children: ComponentChildren }) {
  const element = useRef<HTMLHeadingElement>(null);
  const isOut = signedOut.value;
  useEffect(() => {
    // The view waits behind the one that asks to sign in.
    if (element.current?.closest("[hidden]")) return;
    document.title = `${title} – Deployment Manager`;
    if (moved) element.current?.focus();
  }, [title, isOut]);
  return (
    <h1 ref={element} tabIndex={-1}>
      {children}
    </h1>
  );
}
