/** What a reader can do with the graph, the trace and the lines: look closer, select, open, zoom, and copy. */
import { bar, LARGER } from "./bar";
import type { View } from "./content";
import { boxOf, h, listen } from "./dom";
import { operationOf, valueOf } from "./facts";
import { place, tell } from "./hover";
import { along, enable, label } from "./keyboard";
import { isPlain } from "./keys";
import { mark } from "./marks";
import { nameOfFold, openingsOf } from "./opening";
import { detailsOf, fill } from "./panel";
import { flowOf, type Mark, MARKED, marksOf } from "./paths";
import { questionsOf } from "./questions";
import type { Stage } from "./stage";
import { zoomOf } from "./zoom";

/** Factors by which keys change the size; 0 shows the whole picture. */
const SIZES: Record<string, number> = { "+": LARGER, "=": LARGER, "-": 1 / LARGER, "0": 0 };
const NODE = "[data-n]";
/** In pixels: the room beside the picture that details need, and that of a scrollbar. */
const [LEAST_DETAILS, SCROLLBAR] = [280, 18];

/** Add all of it to a report; call what is returned when the report is removed. */
export function interactions(stage: Stage, root: HTMLElement): () => void {
  const sheet = root.querySelector<HTMLElement>(".tm-picture");
  const port = sheet?.closest<HTMLElement>("[role=tabpanel]");
  const panels = port?.parentElement;
  const frame = panels?.parentElement;
  if (!sheet || !port || !frame) return () => undefined;
  const status = h("span", { class: "tm-status", role: "status" });
  const details = h("section", { class: "tm-details", "aria-label": "Details", tabindex: 0 });
  const tip = h("div", { class: "tm-tip", role: "tooltip" });
  const zoom = zoomOf(sheet, port);
  const questions = questionsOf(stage);
  let flow: ReturnType<typeof flowOf> | null = null;
  let marks: (element: Element) => Mark[] = () => [];
  let pinned: Element | null = null;

  const svgOf = (): SVGElement | null => sheet.querySelector(":scope > svg");
  const nodeOf = (name: Mark): SVGElement | null => sheet.querySelector(`[data-n="${name}"]`);
  const targetOf = (event: Event, names: string): SVGElement | null =>
    (event.target as Element).closest(names);
  const paint = (classes: (found: Mark[], isEdge: boolean) => Record<string, boolean>): void => {
    for (const element of root.querySelectorAll(MARKED))
      mark([element], classes(marks(element), element.hasAttribute("data-e")));
  };

  const draw = (): void => {
    const { view } = stage;
    flow = view && flowOf(view);
    marks = view ? marksOf(view) : () => [];
    zoom.lay();
    enable(sheet);
    name();
    pin();
    hide();
    light();
  };
  const name = (): void => {
    if (stage.view) label(sheet, stage.view);
  };
  /** Lay the controls over the picture as soon as it is on the screen. */
  const pin = (): void => {
    const svg = svgOf();
    if (svg === pinned || !sheet.clientWidth || !stage.view) return;
    pinned = svg;
    openings.pin(stage.view, zoom);
  };
  const light = (): void => {
    const { view, selected } = stage;
    const up = flow?.up(selected ?? "") ?? new Set();
    const down = flow?.down(selected ?? "") ?? new Set();
    const isIn = (set: Set<unknown>, found: Mark[], isEdge: boolean): boolean =>
      isEdge
        ? found.every((each) => each === selected || set.has(each))
        : found.some((each) => set.has(each));
    paint((found, isEdge) => ({
      up: isIn(up, found, isEdge),
      down: isIn(down, found, isEdge),
      sel: !isEdge && found.some((each) => each === selected),
    }));
    mark([root], { picked: selected !== null });
    for (const node of sheet.querySelectorAll(NODE))
      node.setAttribute("aria-pressed", String(node.matches(".tm-sel")));
    stopAt(nodeOf(selected ?? "n0"));
    const full = h("div");
    details.replaceChildren(
      ...(view && flow && selected ? detailsOf(view, flow, selected, full) : []),
    );
    arrange();
    const key = view && valueOf(view, selected ?? "")?.key;
    if (key) void fill(full, (say) => questions.ask(`value:${key}`, say));
  };
  /** Show the details beside the picture if there is room, else below. */
  const arrange = (): void => {
    const { style } = panels;
    mark([frame], { beside: false });
    style.width = "";
    const { width } = boxOf(sheet);
    if (!details.firstChild || !width || width + LEAST_DETAILS > boxOf(frame).width) return;
    mark([frame], { beside: true });
    style.width = `${width + SCROLLBAR}px`;
  };
  /** Make a node the stop of the Tab key. */
  const stopAt = (node: SVGElement | null): void => {
    if (!node) return;
    for (const each of sheet.querySelectorAll<SVGElement>(NODE)) each.tabIndex = -1;
    node.tabIndex = 0;
  };
  /** Hint at all that stands for the same, and in the graph, tell of it in a tip. */
  const point = (element: Element | null): void => {
    hide();
    const { view } = stage;
    const found = element ? marks(element) : [];
    if (!element || !found.length || !view || !flow) return;
    paint((others, isEdge) => ({ hint: !isEdge && others.some((each) => found.includes(each)) }));
    if (!sheet.contains(element)) return;
    tell(tip, view, flow, found);
    place(tip, boxOf(element));
  };
  const hide = (): void => {
    if (!tip.firstChild && !root.querySelector(".tm-hint")) return;
    tip.replaceChildren();
    paint(() => ({ hint: false }));
  };
  /** Select, or deselect what is selected. */
  const choose = (wanted: Mark | undefined): void => {
    hide(); // the details tell the same
    stage.select(wanted === undefined || wanted === stage.selected ? null : wanted);
  };
  /** Show another view: what was opened stays in its place, and the step, the selection and the focus stay. */
  const show = (view: View, key: string): void => {
    const { now, step, last, selected } = stage;
    const part = (): Element | null =>
      stage.view && sheet.querySelector(nameOfFold(stage.view, key));
    const before = part();
    const at = before && boxOf(before);
    const hadFocus = sheet.contains(document.activeElement);
    const value = stage.view && valueOf(stage.view, selected ?? "")?.key;
    stage.show(view);
    const again = view.values.findIndex((each) => each.key && each.key === value);
    if (again >= 0) stage.select(`n${again}`);
    const same = view.steps.findIndex(
      ({ words, reverse }) => words === now?.words && reverse === now.reverse,
    );
    if (step < last && same >= 0) stage.goTo(same + 1);
    const after = part();
    if (!at || !after) return;
    const { left, top } = boxOf(after);
    port.scrollBy(left - at.left, top - at.top);
    const control = sheet.querySelector(`[data-fold="${key}"] :is(input,button:not([tabindex]))`);
    if (hadFocus) ((control ?? after) as HTMLElement).focus({ preventScroll: true });
  };
  const openings = openingsOf(stage, questions, show, (words) => {
    status.textContent = words;
  });

  /** Do what a key means; false if it means nothing here. */
  const act = (key: string, node: SVGElement | null, target: Element): boolean => {
    const { view, selected } = stage;
    const found = (node && marks(node)[0]) ?? "";
    const size = SIZES[key];
    if (key === "Escape") {
      hide();
      if (selected === null) node?.blur();
      choose(undefined);
      return Boolean(selected ?? node);
    }
    if (size !== undefined && port.contains(target)) {
      zoom.by(size);
      return true;
    }
    if (!node || !view || !flow) return false;
    const operation = operationOf(view, found);
    if (key === "Enter" && operation?.fold) openings.unfold(operation);
    else if (key === "Enter" || key === " ") choose(found);
    else if (key.startsWith("Arrow")) {
      const down = view.dot.includes("rankdir=TB");
      const next = along(flow, found, key, down, (other) => {
        const beside = nodeOf(other);
        return beside ? boxOf(beside)[down ? "left" : "top"] : 0;
      });
      nodeOf(next ?? found)?.focus();
    } else return false;
    return true;
  };

  root.querySelector(".tm-stepper")?.before(bar(stage, sheet, zoom, status));
  panels.after(details);
  root.append(tip);
  listen(root, {
    onpointerover: (event) => {
      point(targetOf(event, MARKED));
    },
    onpointerleave: hide,
    onfocusout: hide,
    onfocusin: (event) => {
      const node = targetOf(event, NODE);
      stopAt(node);
      if (node?.matches(":focus-visible")) point(node);
    },
    onkeydown: (event) => {
      const target = event.target as Element;
      const isTyping = event.key !== "Escape" && target.matches("input,textarea");
      if (!isPlain(event) || isTyping || !act(event.key, targetOf(event, NODE), target)) return;
      event.preventDefault();
      event.stopPropagation();
    },
    onclick: (event) => {
      const element = targetOf(event, "[data-n],[data-r],[data-l]");
      const found = element ? marks(element) : [];
      const inPicture = sheet.contains(event.target as Node);
      const isReading = !inPicture && getSelection()?.isCollapsed === false;
      if (isReading || targetOf(event, "button,input,summary,a")) return;
      if (found.length || inPicture)
        choose(found.filter((each) => each.startsWith("n")).at(-1) ?? found[0]);
    },
  });
  listen(sheet, {
    ondblclick: (event) => {
      const node = targetOf(event, NODE);
      if (node && stage.view) openings.unfold(operationOf(stage.view, marks(node)[0] ?? ""));
    },
  });
  listen(port, { onscroll: hide });
  stage.on("view", draw);
  stage.on("step", name);
  stage.on("selection", light);
  stage.on("tab", hide);
  stage.on("tab", arrange);
  const watch = new ResizeObserver(() => {
    pin();
    arrange();
  });
  watch.observe(sheet);
  watch.observe(frame);
  draw();
  return () => {
    watch.disconnect();
    questions.close();
  };
}
