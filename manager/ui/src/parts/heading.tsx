import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { moved } from "../router.ts";

/** The heading of a view. It names the tab, and takes the focus when a link leads here. */
export function Heading({ title, children }: { title: string; children: ComponentChildren }) {
  const element = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = `${title} – Deployment Manager`;
    if (moved) element.current?.focus();
  }, [title]);
  return (
    <h1 ref={element} tabIndex={-1}>
      {children}
    </h1>
  );
}
