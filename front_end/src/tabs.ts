/** The tabs of a report: a face each. */
import { h } from "./dom";
import type { Stage } from "./stage";

/** For each key of the pattern for tabs, the tab that it leads to. */
const KEYS: Record<string, (now: number, count: number) => number> = {
  ArrowLeft: (now, count) => (now + count - 1) % count,
  ArrowRight: (now, count) => (now + 1) % count,
  Home: () => 0,
  End: (_, count) => count - 1,
};

/** Headings and panels, as the ARIA pattern for tabs wants them; `face` makes what stands in a panel, once. */
export function tabs(stage: Stage, face: (title: string) => HTMLElement): HTMLElement {
  const list = h("div", {
    role: "tablist",
    "aria-label": "Report",
    class: "tm-tabs",
    "data-lm-suppress-shortcuts": true,
  });
  const panels = h("div");
  const known = new Map<string, HTMLElement>();
  let titles: string[] = [];
  const tab = (title: string): HTMLElement => {
    const id = `${stage.id}-${title}`;
    const open = (): void => {
      stage.openTab(title);
    };
    const attributes = { role: "tab", type: "button", id, "aria-controls": `${id}-panel` };
    return h("button", { ...attributes, onclick: open }, title);
  };
  const panel = (title: string): HTMLElement => {
    const id = `${stage.id}-${title}`;
    const attributes = { role: "tabpanel", id: `${id}-panel`, "aria-labelledby": id, tabindex: 0 };
    const made = known.get(title) ?? h("div", attributes, face(title));
    known.set(title, made);
    return made;
  };
  const draw = (): void => {
    const wanted = stage.content.faces.map((each) => each.title);
    if (!wanted.includes(stage.tab)) stage.openTab(wanted[0] ?? "");
    if (wanted.join() === titles.join()) return;
    titles = wanted;
    list.replaceChildren(...titles.map(tab));
    panels.replaceChildren(...titles.map(panel));
    choose();
  };
  const choose = (): void => {
    titles.forEach((title, k) => {
      const isOpen = title === stage.tab;
      list.children[k]?.setAttribute("aria-selected", String(isOpen));
      list.children[k]?.setAttribute("tabindex", isOpen ? "0" : "-1");
      panels.children[k]?.toggleAttribute("hidden", !isOpen);
    });
  };
  list.addEventListener("keydown", (event) => {
    const move = KEYS[event.key];
    if (!move || event.ctrlKey || event.altKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    event.stopPropagation();
    const next = move(titles.indexOf(stage.tab), titles.length);
    stage.openTab(titles[next] ?? "");
    (list.children[next] as HTMLElement | undefined)?.focus();
  });
  stage.on("content", draw);
  stage.on("tab", choose);
  draw();
  return h("div", {}, list, panels);
}
