/** A small tip beside what the pointer or the keyboard is on. */
import type { View } from "./content";
import { boxOf, h } from "./dom";
import { factsOf, nameOf } from "./facts";
import type { Flow, Mark } from "./paths";

const GAP = 6;

/** Write into a tip what is known of a value or an operation, of an edge what is known of the operation at its end. */
export function tell(tip: HTMLElement, view: View, flow: Flow, marks: Mark[]): void {
  const mark = marks.find((each) => each.startsWith("s")) ?? marks[0] ?? "";
  tip.replaceChildren(
    h("b", {}, marks.map((each) => nameOf(view, each)).join(" → ")),
    ...factsOf(view, flow, mark).map(([name, words]) => h("div", {}, h("i", {}, name), words)),
  );
}

/** Place a tip below a rectangle, or above it where there is room: inside the report, and inside the window. */
export function place(tip: HTMLElement, at: DOMRect): void {
  const report = tip.offsetParent ? boxOf(tip.offsetParent) : at;
  const { width, height } = boxOf(tip);
  const above = at.top - GAP - height;
  const isBelow =
    at.bottom + GAP + height <= Math.min(report.bottom, innerHeight) ||
    above < Math.max(report.top, 0);
  tip.style.left = `${Math.max(0, Math.min(at.left - report.left, report.width - width))}px`;
  tip.style.top = `${(isBelow ? at.bottom + GAP : above) - report.top}px`;
}
