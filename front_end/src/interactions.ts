/** What a reader can do with the graph, the trace and the lines: look closer, select, open, zoom, and copy. */
import { bar, LARGER } from "./bar";
import type { View } from "./content";
import { h } from "./dom";
import { operationOf, valueOf } from "./facts";
import { place, tell } from "./hover";
import { along, enable, growsDown, label } from "./keyboard";
import { nameOfFold, openingsOf } from "./opening";
import { detailsOf, fill } from "./panel";
import { flowOf, type Mark, MARKED, marksOf } from "./paths";
import { questionsOf } from "./questions";
import type { Stage } from "./stage";
import { zoomOf } from "./zoom";

/** Factors by which keys change the size; 0 shows the whole picture. */
const SIZES: Record<string, number> = { "+": LARGER, "=": LARGER, "-": 1 / LARGER, "0": 0 };

/** Add all of it to a report; call what is returned when the report is removed. */
export function interactions(stage: Stage, root: HTMLElement): () => void {
  const sheet = root.querySelector<HTMLElement>(".tm-picture");
  const port = sheet?.closest<HTMLElement>("[role=tabpanel]");
  if (!sheet || !port) return () => undefined;
  const status = h("span", { class: "tm-status", role: "status" });
  const details = h("section", { class: "tm-details", "aria-live": "polite" });
  const tip = h("div", { class: "tm-tip", role: "tooltip", hidden: true });
  const zoom = zoomOf(sheet, port);
  const questions = questionsOf(stage);
  const openings = openingsOf(stage, questions, show, (words) => {
    status.textContent = words;
  });
  let flow = stage.view && flowOf(stage.view);
  let marks: (element: Element) => Mark[] = () => [];
  let pinned: Element | null = null;

  const nodeOf = (mark: Mark): SVGElement | null => sheet.querySelector(`[data-n="${mark}"]`);
  const targetOf = (event: Event, names: string): Element | null =>
    (event.target as Element).closest(names);
  const paint = (name: string, isOn: (marks: Mark[], isEdge: boolean) => boolean): void => {
    for (const element of root.querySelectorAll(MARKED))
      element.classList.toggle(name, isOn(marks(element), element.hasAttribute("data-e")));
  };

  function draw(): void {
    const { view } = stage;
    const svg = sheet?.querySelector("svg");
    flow = view && flowOf(view);
    marks = view ? marksOf(view) : () => [];
    zoom.lay();
    if (svg) enable(svg);
    name();
    pin();
    hide();
    light();
  }

  function name(): void {
    const svg = sheet?.querySelector("svg");
    if (svg && stage.view) label(svg, stage.view);
  }

  /** Lay the controls over the picture as soon as it is on the screen. */
  function pin(): void {
    const svg = sheet?.querySelector("svg") ?? null;
    if (svg === pinned || !sheet?.clientWidth || !stage.view) return;
    pinned = svg;
    openings.pin(stage.view, zoom);
  }

  function light(): void {
    const { view, selected } = stage;
    const picked = view && flow && selected !== null ? { view, flow, selected } : null;
    const none = new Set<Mark>();
    const up = picked ? picked.flow.up(picked.selected) : none;
    const down = picked ? picked.flow.down(picked.selected) : none;
    const isIn = (set: Set<Mark>) => (found: Mark[], isEdge: boolean) =>
      isEdge
        ? found.every((mark) => mark === selected || set.has(mark))
        : found.some((mark) => set.has(mark));
    root.classList.toggle("tm-picked", Boolean(picked));
    paint("tm-up", isIn(up));
    paint("tm-down", isIn(down));
    paint("tm-sel", (found, isEdge) => !isEdge && found.some((mark) => mark === selected));
    for (const node of sheet?.querySelectorAll("[role=button]") ?? [])
      node.setAttribute("aria-pressed", String(node.classList.contains("tm-sel")));
    stopAt(nodeOf(selected ?? "n0"));
    details.hidden = !picked;
    details.replaceChildren();
    if (!picked) return;
    const full = h("div");
    details.append(...detailsOf(picked.view, picked.flow, picked.selected, full));
    const key = valueOf(picked.view, picked.selected)?.key;
    if (key) void fill(full, (say) => questions.ask(`value:${key}`, say));
  }

  /** Make a node the stop of the Tab key. */
  function stopAt(node: SVGElement | null): void {
    if (!node) return;
    const before = sheet?.querySelector<SVGElement>('[data-n][tabindex="0"]');
    if (before) before.tabIndex = -1;
    node.tabIndex = 0;
  }

  /** Hint at all that stands for the same, and in the graph, tell of it in a tip. */
  function point(element: Element | null): void {
    hide();
    if (!element || !stage.view || !flow) return;
    const found = marks(element);
    paint("tm-hint", (others, isEdge) => !isEdge && others.some((mark) => found.includes(mark)));
    if (!sheet?.contains(element) || !found.length) return;
    tell(tip, stage.view, flow, found);
    tip.hidden = false;
    place(tip, element.getBoundingClientRect());
  }

  function hide(): void {
    tip.hidden = true;
    paint("tm-hint", () => false);
  }

  /** Select, or deselect what is selected. */
  function choose(mark: Mark | undefined): void {
    stage.select(mark === undefined || mark === stage.selected ? null : mark);
  }

  /** Show another view: what was opened stays in its place, and what was selected stays so. */
  function show(view: View, key: string): void {
    const rect = (): DOMRect | undefined =>
      stage.view
        ? sheet?.querySelector(nameOfFold(stage.view, key))?.getBoundingClientRect()
        : undefined;
    const before = rect();
    const value = stage.view && valueOf(stage.view, stage.selected ?? "")?.key;
    stage.show(view);
    const again = value ? view.values.findIndex((each) => each.key === value) : -1;
    if (again >= 0) stage.select(`n${again}`);
    const after = rect();
    if (before && after) port?.scrollBy(after.left - before.left, after.top - before.top);
  }

  function key(event: KeyboardEvent): void {
    const { target, ctrlKey, altKey, metaKey } = event;
    if (ctrlKey || altKey || metaKey || (target as Element).matches("input,textarea")) return;
    if (!act(event.key, targetOf(event, "[data-n]"), target as Element)) return;
    event.preventDefault();
    event.stopPropagation();
  }

  /** Do what a key means; false if it means nothing here. */
  function act(key: string, node: Element | null, target: Element): boolean {
    const { view, selected } = stage;
    const mark = (node && marks(node)[0]) ?? "";
    const size = SIZES[key];
    if (key === "Escape") {
      hide();
      if (selected === null) (node as SVGElement | null)?.blur();
      choose(undefined);
      return Boolean(selected ?? node);
    }
    if (size !== undefined && port?.contains(target)) {
      if (size) zoom.by(size);
      else zoom.fit();
      return true;
    }
    if (!node || !view || !flow) return false;
    const operation = operationOf(view, mark);
    if (key === "Enter" && operation?.fold) openings.unfold(operation);
    else if (key === "Enter" || key === " ") choose(mark);
    else if (key.startsWith("Arrow")) {
      const down = growsDown(view);
      const next = along(flow, mark, key, down, (other) => {
        const box = nodeOf(other)?.getBoundingClientRect();
        return (down ? box?.left : box?.top) ?? 0;
      });
      nodeOf(next ?? mark)?.focus();
    } else return false;
    return true;
  }

  root.querySelector(".tm-stepper")?.before(bar(stage, sheet, zoom, status));
  root.querySelector(".tm-stepper")?.after(details);
  root.append(tip);
  root.addEventListener("pointerover", (event) => {
    point(targetOf(event, MARKED));
  });
  root.addEventListener("pointerleave", hide);
  root.addEventListener("focusout", hide);
  port.addEventListener("scroll", hide);
  root.addEventListener("focusin", (event) => {
    const node = targetOf(event, "[data-n]") as SVGElement | null;
    stopAt(node);
    if (node?.matches(":focus-visible")) point(node);
  });
  root.addEventListener("keydown", key);
  root.addEventListener("click", (event) => {
    const element = targetOf(event, "[data-n],[data-r],[data-l]");
    const found = element ? marks(element) : [];
    const isReading = getSelection()?.isCollapsed === false;
    if (isReading || targetOf(event, "button,input,summary,a")) return;
    if (found.length || targetOf(event, ".tm-picture"))
      choose(found.filter((mark) => mark.startsWith("n")).at(-1) ?? found[0]);
  });
  sheet.addEventListener("dblclick", (event) => {
    const node = targetOf(event, "[data-n]");
    if (node && stage.view) openings.unfold(operationOf(stage.view, marks(node)[0] ?? ""));
  });
  stage.on("view", draw);
  stage.on("step", name);
  stage.on("selection", light);
  stage.on("tab", hide);
  const watch = new ResizeObserver(pin);
  watch.observe(sheet);
  draw();
  return () => {
    watch.disconnect();
    questions.close();
  };
}
