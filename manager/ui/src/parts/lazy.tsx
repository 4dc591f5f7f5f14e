// Views that are loaded when somebody opens them, so that the first view is small.
import type { ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";

type Loader<P> = () => Promise<ComponentType<P>>;

const loaded = new Map<unknown, ComponentType<never>>();

interface Properties<P> {
  load: Loader<P>;
  with: P;
}

export function Lazy<P extends object>({ load, with: properties }: Properties<P>) {
  const [View, setView] = useState<ComponentType<P> | undefined>(() => loaded.get(load) as ComponentType<P> | undefined);
  const [isLost, setLost] = useState(false);
  useEffect(() => {
    let isOver = false;
    load().then(
      (view) => {
        loaded.set(load, view as ComponentType<never>);
        if (!isOver) setView(() => view);
      },
      () => !isOver && setLost(true),
    );
    return () => {
      isOver = true;
    };
  }, [load]);
  if (isLost) {
    return (
      <p class="notice bad" role="alert">
        A part of the page cannot be loaded. The manager may have been upgraded.{" "}
        <button type="button" onClick={() => globalThis.location.reload()}>
          Load the page again
        </button>
      </p>
    );
  }
  return View ? <View {...properties} /> : <p class="loading">Loading…</p>;
}
