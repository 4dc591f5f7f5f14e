// Tables as CSV (RFC 4180).

/** A cell that begins so is a formula for spreadsheets. */
const FORMULA = /^[=+\-@\t\r]/;

function cell(value: unknown): string {
  const text = String(value ?? "");
  const safe = FORMULA.test(text) ? `'${text}` : text;
  return `"${safe.replace(/"/g, '""')}"`;
}

export function csv<T extends object>(columns: readonly (keyof T & string)[], items: T[]): string {
  const lines = items.map((item) => columns.map((column) => cell(item[column])).join(","));
  return [columns.map(cell).join(","), ...lines, ""].join("\r\n");
}
