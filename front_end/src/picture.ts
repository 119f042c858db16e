/** The picture of the graph, after some of the steps: what is not known yet is quiet, and what a step does lights up. */
import { h, reveal } from "./dom";
import { direct, mark, type Parts, partsOf } from "./marks";
import type { Stage } from "./stage";
import { textAfter, type Timeline, timelineOf } from "./timeline";

const UNKNOWN = "…";
const GRADIENT = "gradient ";
/** The most characters of a text in a box. */
const LONGEST = 48;

/** The picture, which follows view and step. */
export function picture(stage: Stage): HTMLElement {
  const made = h("div", { class: "tm-picture" });
  let follow = (): void => undefined;
  const draw = (): void => {
    const { view } = stage;
    made.innerHTML = view?.svg ?? "";
    if (!view) return;
    const parts = partsOf(made);
    const timeline = timelineOf(view);
    const boxes = view.values.map((value, k) => new Box(parts.values[k] ?? [], value.name));
    follow = () => {
      boxes.forEach((box, k) => {
        box.show(stage, k, timeline);
      });
      light(made, parts, stage, timeline);
    };
    follow();
  };
  stage.on("view", draw);
  stage.on("step", () => {
    follow();
    if (stage.tab === "Graph") [...made.querySelectorAll("[data-n].tm-now")].forEach(reveal);
  });
  draw();
  return made;
}

/** The box of a value, with the boxes that repeat it, and their texts. */
class Box {
  private readonly values: Line[];
  private readonly gradients: Line[];

  constructor(
    private readonly groups: Element[],
    private readonly name: string,
  ) {
    this.values = groups.flatMap((group) => linesOf(group, ".v"));
    this.gradients = groups.flatMap((group) => linesOf(group, ".g"));
  }

  /** Show the value with this index as it is known after the steps done. */
  show(stage: Stage, index: number, timeline: Timeline): void {
    const { step, last, now } = stage;
    const isKnown = step >= (timeline.known[index] ?? 0);
    const texts = timeline.gradients[index] ?? [];
    const gradient = step === last || textAfter(texts, step);
    const isNew = now?.gradients.some(([value]) => value === index) ?? false;
    mark(this.groups, "tm-unknown", !isKnown);
    mark(this.groups, "tm-ungraded", !gradient);
    mark(this.groups, "tm-now", (isKnown && now?.shown.includes(index)) || isNew);
    mark(this.groups, "tm-added", isNew);
    for (const line of this.values)
      line.write(isKnown ? line.whole : unknown(line.whole, this.name));
    for (const line of this.gradients) {
      const before = isNew ? textAfter(texts, step - 1) : undefined;
      if (gradient === true && before === undefined) line.write(line.whole);
      else line.write(gradientIn(line, textAfter(texts, step), before));
    }
  }
}

/** A line of text in a box, as it is drawn, and the number of letters for which the box has room. */
class Line {
  readonly whole: string;

  constructor(
    private readonly text: SVGElement,
    readonly room: number,
  ) {
    this.whole = text.textContent;
  }

  /** Write other text, in smaller letters if it is too long for the box. */
  write(words: string): void {
    if (this.text.textContent === words) return;
    this.text.textContent = words;
    const size = words === this.whole ? 1 : (0.9 * this.room) / words.length;
    this.text.style.fontSize = size < 1 ? `${size}em` : "";
  }
}

function linesOf(group: Element, kind: string): Line[] {
  const texts = [...group.querySelectorAll<SVGElement>("text")];
  const room = Math.max(...texts.map((text) => text.textContent.length));
  return texts.filter((text) => text.closest(kind)).map((text) => new Line(text, room));
}

function unknown(whole: string, name: string): string {
  const head = `${name} = `;
  return (whole.startsWith(head) ? head : "") + UNKNOWN;
}

/** The gradient in a box; in the step in which something is added to it, with what it was before, if there is room. */
function gradientIn(line: Line, now = UNKNOWN, before = UNKNOWN): string {
  const sum = `${before} → ${now}`;
  if (before !== UNKNOWN && sum.length <= 1.6 * line.room) return sum;
  return GRADIENT + (now.length > LONGEST ? `${now.slice(0, LONGEST - 1)}…` : now);
}

/** Light up the operation of the step, and the edges along which it goes; quieten those that are not done yet. */
function light(made: Element, parts: Parts, stage: Stage, timeline: Timeline): void {
  const { step, now } = stage;
  const isReverse = now?.reverse ?? false;
  const isDone = (operation: number): boolean => step >= (timeline.done[operation] ?? 0);
  parts.operations.forEach((groups, k) => {
    mark(groups, "tm-unknown", !isDone(k));
    mark(groups, "tm-now", now?.operation === k);
  });
  const changed = new Set(now?.gradients.map(([value]) => value));
  const isOn = (value: number, isInput: boolean): boolean =>
    !isReverse || !isInput || changed.has(value);
  for (const { group, value, operation, isInput } of parts.edges) {
    mark([group], "tm-unknown", !isDone(operation));
    mark([group], "tm-now", now?.operation === operation && isOn(value, isInput));
  }
  direct([made], now);
}
