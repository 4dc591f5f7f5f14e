// The configuration as YAML. The editor is loaded where it is shown.
import { useEffect, useRef, useState } from "preact/hooks";
import type { Editor } from "./editor.ts";

interface Properties {
  text: string;
  problems: { line: number; message: string }[];
  change: (text: string) => void;
}

export function ConfigurationText({ text, problems, change }: Properties) {
  const host = useRef<HTMLDivElement>(null);
  const editor = useRef<Editor | undefined>(undefined);
  const [isReady, setReady] = useState(false);
  const changed = useRef(change);
  changed.current = change;
  // What was typed and has not come back yet. Somebody may have typed more since, so it is not shown again.
  const typed = useRef<string[]>([]);
  useEffect(() => {
    let isOver = false;
    void import("./editor.ts").then(({ edit }) => {
      if (isOver || !host.current) return;
      editor.current = edit(host.current, text, "Configuration as YAML", (next) => {
        typed.current.push(next);
        changed.current(next);
      });
      setReady(true);
    });
    return () => {
      isOver = true;
      editor.current?.end();
    };
  }, []);
  useEffect(() => {
    const index = typed.current.lastIndexOf(text);
    typed.current = index < 0 ? [] : typed.current.slice(index + 1);
    if (index < 0) editor.current?.show(text);
  }, [text, isReady]);
  useEffect(() => editor.current?.mark(problems), [problems, isReady]);
  return (
    <section class="code-pane" aria-label="YAML">
      {!isReady && <p class="loading">Loading…</p>}
      <div ref={host} class="editor" />
    </section>
  );
}
