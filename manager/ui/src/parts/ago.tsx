// Times, relative to now. The title has the absolute time.
import { signal } from "@preact/signals";

const now = signal(Date.now());
setInterval(() => {
  if (!document.hidden) now.value = Date.now();
}, 10_000);

const UNITS: [Intl.RelativeTimeFormatUnit, number][] = [
  ["year", 31_536_000],
  ["month", 2_592_000],
  ["day", 86_400],
  ["hour", 3600],
  ["minute", 60],
];
const words = new Intl.RelativeTimeFormat("en", { numeric: "auto" });

/** For example "3 minutes ago". */
export function relative(at: number, present: number): string {
  const seconds = (at - present) / 1000;
  const [unit, size] = UNITS.find(([, length]) => Math.abs(seconds) >= length) ?? ["second", 1];
  return unit === "second" ? "just now" : words.format(Math.trunc(seconds / size), unit);
}

export function Ago({ at }: { at: string | null | undefined }) {
  if (!at) return <span>never</span>;
  return (
    <time dateTime={at} title={new Date(at).toLocaleString()}>
      {relative(Date.parse(at), now.value)}
    </time>
  );
}

/** The time between two moments, such as "1 min 12 s". */
export function duration(from: string, to: string | null | undefined): string {
  const seconds = Math.max(0, ((to ? Date.parse(to) : now.value) - Date.parse(from)) / 1000);
  if (seconds < 60) return `${seconds.toFixed(1)} s`;
  return `${Math.floor(seconds / 60)} min ${Math.floor(seconds % 60)} s`;
}
