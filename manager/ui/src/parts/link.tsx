import type { ComponentChildren } from "preact";
import { go } from "../router.ts";

interface Properties {
  to: string;
  class?: string;
  current?: boolean;
  children: ComponentChildren;
}

/** A link to another view. The browser itself opens it in other tabs. */
export function Link({ to, class: kind, current, children }: Properties) {
  const open = (event: MouseEvent) => {
    if (event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    go(to);
  };
  return (
    <a href={to} class={kind} onClick={open} aria-current={current ? "page" : undefined}>
      {children}
    </a>
  );
}
