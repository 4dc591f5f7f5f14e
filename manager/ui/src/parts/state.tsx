import type { Mark, Tone } from "./tone.ts";

export const SHAPES: Record<Tone, string> = { unknown: "○", good: "●", busy: "◐", warning: "▲", bad: "✖" };

/** A state as a shape and a word. */
export function State({ tone, word }: Mark) {
  return (
    <span class={`state ${tone}`}>
      <span aria-hidden="true">{SHAPES[tone]}</span> {word}
    </span>
  );
}
