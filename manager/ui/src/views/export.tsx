// All instances as a file, CSV or JSON.
import { useState } from "preact/hooks";
import { Failure, get, path } from "../api/client.ts";
import type { Page, TypeInstance } from "../api/types.ts";
import { csv } from "../parts/csv.ts";
import { ErrorText } from "../parts/failed.tsx";

const LIMIT = 1000;
/** A browser holds these in memory before it writes the file. */
const MOST = 200_000;
const COLUMNS = ["name", "type", "deployment", "manifest", "path"] as const;

export function Export({ type, at }: { type: string; at: string }) {
  const [said, setSaid] = useState("");
  const [failure, setFailure] = useState<Failure>();
  const save = async (ending: "csv" | "json") => {
    setFailure(undefined);
    try {
      const items = await all(type, at, (count) => setSaid(`${count} read…`));
      const text = ending === "json" ? JSON.stringify(items, null, 2) : csv(COLUMNS, items);
      download(text, `instances.${ending}`, ending === "json" ? "application/json" : "text/csv");
      setSaid(items.length >= MOST ? `The first ${MOST} are in the file.` : `${items.length} are in the file.`);
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      setFailure(error);
    }
  };
  return (
    <>
      <button type="button" onClick={() => void save("csv")}>
        Save as CSV
      </button>
      <button type="button" onClick={() => void save("json")}>
        Save as JSON
      </button>
      <span class="quiet" role="status">
        {said}
      </span>
      {failure && <ErrorText error={failure.body} />}
    </>
  );
}

async function all(type: string, at: string, tell: (count: number) => void): Promise<TypeInstance[]> {
  const items: TypeInstance[] = [];
  const { signal } = new AbortController();
  let pageToken = "";
  do {
    const page: Page<TypeInstance> = await get(path`/types/${type}/instances`, { limit: LIMIT, at, pageToken }, signal);
    items.push(...page.items);
    pageToken = page.nextPageToken ?? "";
    tell(items.length);
  } while (pageToken !== "" && items.length < MOST);
  return items;
}

function download(text: string, name: string, type: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
