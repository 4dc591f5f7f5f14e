// Texts of other people: characters that hide or reorder text are shown as their codes.

const HIDDEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;

/** The text with a mark such as ‹U+202E› for each hidden character. */
export function plain(text: string): string {
  return text.replace(HIDDEN, (character) => `‹U+${character.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}›`);
}

/** A value for people: texts as they are, everything else as JSON. */
export function shown(value: unknown): string {
  return plain(typeof value === "string" ? value : (JSON.stringify(value, null, 2) ?? ""));
}
