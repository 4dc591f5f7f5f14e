// Much is put into the document a part in each frame, so that the page answers in between.
import { useEffect, useState } from "preact/hooks";

/** How many of `count` parts are there now: one more after each frame. */
export function useGrowing(count: number): number {
  const [grown, setGrown] = useState(1);
  useEffect(() => {
    if (grown >= count) return;
    let timer: ReturnType<typeof setTimeout> | undefined;
    // The frame is painted before the next part begins.
    const frame = requestAnimationFrame(() => (timer = setTimeout(() => setGrown(grown + 1))));
    return () => {
      cancelAnimationFrame(frame);
      clearTimeout(timer);
    };
  }, [grown, count]);
  return Math.min(grown, count);
}

/** The items in parts of this size. */
export function parts<T>(items: T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, index) => items.slice(index * size, (index + 1) * size));
}
