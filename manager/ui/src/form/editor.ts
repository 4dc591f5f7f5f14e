// The YAML editor. It stands in a shadow root, where its styles are adopted sheets: the policy of the page forbids others.
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { yaml } from "@codemirror/lang-yaml";
import { HighlightStyle, bracketMatching, syntaxHighlighting } from "@codemirror/language";
import { type Diagnostic, lintGutter, setDiagnostics } from "@codemirror/lint";
import { EditorState } from "@codemirror/state";
import { EditorView, drawSelection, keymap, lineNumbers } from "@codemirror/view";
import { tags } from "@lezer/highlight";

export interface Editor {
  /** Shows another text, unless it has it already. */
  show: (text: string) => void;
  mark: (problems: { line: number; message: string }[]) => void;
  end: () => void;
}

const colours = HighlightStyle.define([
  { tag: [tags.propertyName, tags.definition(tags.propertyName)], color: "var(--link)" },
  { tag: [tags.string, tags.content], color: "var(--text)" },
  { tag: [tags.number, tags.bool, tags.null], color: "var(--good)" },
  { tag: tags.comment, color: "var(--quiet)" },
]);

const theme = EditorView.theme({
  "&": { fontSize: "0.85rem", height: "100%" },
  ".cm-content": { fontFamily: "ui-monospace, monospace", caretColor: "var(--text)" },
  ".cm-gutters": { background: "var(--raised)", color: "var(--quiet)", border: "none" },
  ".cm-cursor": { borderLeftColor: "var(--text)" },
  "&.cm-focused": { outline: "2px solid var(--link)" },
  ".cm-selectionBackground, &.cm-focused .cm-selectionBackground": { background: "var(--line) !important" },
  ".cm-tooltip": { background: "var(--raised)", color: "var(--text)", border: "1px solid var(--line)" },
});

/** Browsers keep the look of a selection that somebody types over, in an attribute that the policy forbids. So the editor types. */
const overSelection = EditorView.domEventHandlers({
  beforeinput: (event, view) => {
    if (event.inputType !== "insertText" || event.data === null || view.state.selection.main.empty) return false;
    view.dispatch(view.state.replaceSelection(event.data), { userEvent: "input.type", scrollIntoView: true });
    event.preventDefault();
    return true;
  },
});

/** Puts an editor into an element. `change` is called with each text that somebody types. */
export function edit(host: HTMLElement, text: string, label: string, change: (text: string) => void): Editor {
  const root = host.shadowRoot ?? host.attachShadow({ mode: "open" });
  let isShowing = false;
  const listen = EditorView.updateListener.of((update) => {
    if (update.docChanged && !isShowing) change(update.state.doc.toString());
  });
  const extensions = [
    lineNumbers(),
    history(),
    drawSelection(),
    bracketMatching(),
    yaml(),
    syntaxHighlighting(colours),
    lintGutter(),
    // Tab leaves the editor, so that the keyboard is not trapped.
    keymap.of([...defaultKeymap, ...historyKeymap]),
    // The region scrolls. Not every browser lets the keyboard reach an editable element without this.
    EditorView.contentAttributes.of({ "aria-label": label, spellcheck: "false", tabindex: "0" }),
    theme,
    overSelection,
    listen,
  ];
  const view = new EditorView({ parent: root, root, state: EditorState.create({ doc: text, extensions }) });
  return {
    show: (next) => {
      const before = view.state.doc.toString();
      if (before === next) return;
      isShowing = true;
      view.dispatch({ changes: difference(before, next) });
      isShowing = false;
    },
    mark: (problems) => view.dispatch(setDiagnostics(view.state, problems.map((problem) => diagnostic(view.state, problem)))),
    end: () => view.destroy(),
  };
}

/** Only what differs in the middle is replaced, so that the cursor stays. */
function difference(before: string, after: string) {
  const most = Math.min(before.length, after.length);
  let from = 0;
  while (from < most && before[from] === after[from]) from += 1;
  let end = 0;
  while (end < most - from && before[before.length - 1 - end] === after[after.length - 1 - end]) end += 1;
  return { from, to: before.length - end, insert: after.slice(from, after.length - end) };
}

function diagnostic(state: EditorState, { line, message }: { line: number; message: string }): Diagnostic {
  const { from, to } = state.doc.line(Math.min(Math.max(line, 1), state.doc.lines));
  return { from, to, severity: "error", message };
}
