// The keys of the page. Single letters can be turned off (WCAG 2.1.4), and none of them changes anything.
import { signal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { changesAddress, eventsAddress, go, instancesAddress, templatesAddress, view } from "../router.ts";

const OFF = "dm-keys-off";
const areOff = signal(localStorage.getItem(OFF) !== null);

const KEYS: [string, string][] = [
  ["/", "goes to the search field"],
  ["?", "shows this list"],
  ["g d", "goes to the deployments"],
  ["g t", "goes to the templates"],
  ["g i", "goes to the instances"],
  ["j k", "goes to the next and to the one before in a list"],
  ["e d", "goes to the events and logs, or to the changes of the deployment"],
  ["w", "goes to why the selected resource is there"],
  ["n N", "in the tree: goes to the next that is not ready, or to the one before"],
  ["Esc", "closes what is open"],
];

const PLACES: Record<string, () => string> = {
  d: () => "/ui/",
  t: () => templatesAddress(),
  i: () => instancesAddress(""),
};

/** The views of the deployment that is shown. */
const PARTS: Record<string, (deployment: string) => string> = { e: eventsAddress, d: changesAddress };

let isGoing = false;

/** Handles a key of the whole page. */
export function press(event: KeyboardEvent, help: (isOpen: boolean) => void): void {
  const target = event.target;
  const isTyping = target instanceof HTMLElement && (/^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName) || target.shadowRoot !== null);
  if (event.key === "Escape") help(false);
  if (isTyping || areOff.value || event.ctrlKey || event.metaKey || event.altKey) return;
  const wasGoing = isGoing;
  isGoing = event.key === "g";
  const place = wasGoing ? PLACES[event.key] : undefined;
  if (place) return go(place());
  const shown = view(location.pathname);
  const part = PARTS[event.key];
  if (part && "deployment" in shown) return go(part(shown.deployment));
  if (event.key === "w") return document.getElementById("why")?.focus();
  if (event.key === "?") return help(true);
  if (event.key === "j" || event.key === "k") return step(event.key === "j" ? 1 : -1);
  if (event.key !== "/") return;
  const field = document.querySelector<HTMLInputElement>("main input[type=search]");
  if (!field) return;
  event.preventDefault();
  field.focus();
}

/** Gives the focus to the link of another row. */
function step(by: number): void {
  const links = [...document.querySelectorAll<HTMLAnchorElement>("main tbody th a")];
  const at = links.findIndex((link) => link === document.activeElement);
  links[at < 0 ? 0 : Math.min(Math.max(at + by, 0), links.length - 1)]?.focus();
}

export function Keys({ close }: { close: () => void }) {
  const own = useRef<HTMLElement>(null);
  useEffect(() => own.current?.focus(), []);
  const turn = (isOff: boolean) => {
    areOff.value = isOff;
    if (isOff) localStorage.setItem(OFF, "1");
    else localStorage.removeItem(OFF);
  };
  return (
    <section ref={own} class="detail" aria-label="Keys" tabIndex={-1}>
      <button type="button" class="close" aria-label="Close" onClick={close}>
        ✕
      </button>
      <h2>Keys</h2>
      <dl class="facts">
        {KEYS.map(([keys, meaning]) => (
          <div key={keys}>
            <dt>
              <kbd>{keys}</kbd>
            </dt>
            <dd>{meaning}</dd>
          </div>
        ))}
      </dl>
      <label class="check">
        <input type="checkbox" checked={areOff.value} onChange={(event) => turn(event.currentTarget.checked)} />
        Turn these keys off
      </label>
    </section>
  );
}
