/** The tabs of a report: a face each. */
import { button, h, set } from "./dom";
import { isPlain } from "./keys";
import type { Stage } from "./stage";

/** Headings and panels, as the ARIA pattern for tabs wants them; `face` makes what stands in a panel, once. */
export function tabs(stage: Stage, face: (title: string) => HTMLElement): HTMLElement {
  const list = h("div", { role: "tablist", "aria-label": "Report", class: "tm-tabs" });
  const panels = h("div");
  const known = new Map<string, [HTMLElement, HTMLElement]>();
  let titles: string[] = [];
  const make = (title: string): [HTMLElement, HTMLElement] => {
    const id = `${stage.id}-${title}`;
    const panel = `${id}-panel`;
    const onclick = (): void => {
      stage.openTab(title);
    };
    return [
      button(title, { role: "tab", id, "aria-controls": panel, onclick }),
      h("div", { role: "tabpanel", id: panel, "aria-labelledby": id, tabindex: 0 }, face(title)),
    ];
  };
  const draw = (): void => {
    const before = titles.join();
    titles = stage.content.faces.map((each) => each.title);
    if (!titles.includes(stage.tab)) stage.openTab(titles[0] ?? "");
    for (const title of titles) if (!known.has(title)) known.set(title, make(title));
    if (before === titles.join()) return;
    const both = titles.flatMap((title) => known.get(title) ?? []);
    list.replaceChildren(...both.filter((_, k) => k % 2 === 0));
    panels.replaceChildren(...both.filter((_, k) => k % 2));
    choose();
  };
  const places = new Map<HTMLElement, [number, number]>();
  const choose = (): void => {
    for (const [title, [tab, panel]] of known) {
      const isOpen = title === stage.tab;
      if (!panel.hidden) places.set(panel, [panel.scrollLeft, panel.scrollTop]);
      set(tab, { "aria-selected": `${isOpen}`, tabindex: isOpen ? 0 : -1 });
      set(panel, { hidden: !isOpen });
      if (isOpen) panel.scrollTo(...(places.get(panel) ?? [0, 0]));
    }
  };
  list.addEventListener("keydown", (event) => {
    const count = titles.length;
    const now = titles.indexOf(stage.tab);
    const moves = { ArrowLeft: now + count - 1, ArrowRight: now + 1, Home: 0, End: count - 1 };
    const to = Object.entries(moves).find(([key]) => key === event.key)?.[1] ?? NaN;
    const title = titles[to % count];
    if (!title || !isPlain(event)) return;
    event.preventDefault();
    stage.openTab(title);
    known.get(title)?.[0].focus();
  });
  stage.on("tab", choose);
  stage.follow(draw, "content");
  return h("div", {}, list, h("div", {}, panels));
}
