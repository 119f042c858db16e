/** The picture of the graph, after some of the steps: what is not known yet is quiet, and what a step does lights up. */
import type { Step, View } from "./content";
import { page } from "./dom";
import { mark, partsOf } from "./marks";
import type { Stage } from "./stage";
import { rest, textAfter, type Timeline, timelineOf, valuesOf } from "./timeline";

const UNKNOWN = "…";
const GRADIENT = "gradient ";
/** The most characters of a gradient in a box. */
const LONGEST = 48;

/** The picture, which follows view and step. */
export function picture(stage: Stage): HTMLElement {
  const made = page("tm-picture");
  let follow: (() => void) | null = null;
  const draw = (): void => {
    made.innerHTML = stage.view?.svg ?? "";
    follow = stage.view && follower(made, stage, stage.view);
    follow?.();
  };
  stage.on("step", () => follow?.());
  stage.follow(draw, "view");
  return made;
}

/** The function that brings a picture to the step of the stage. */
function follower(made: Element, stage: Stage, view: View): () => void {
  const { values, operations, edges } = partsOf(made);
  const time = timelineOf(view);
  const boxes = view.values.map(({ name }, k) => linesOf(values[k] ?? [], name));
  return () => {
    const { step, last, now } = stage;
    const lit = litBy(now, view, time);
    const isAhead = (k: number | undefined): boolean => step < (k ?? 0);
    boxes.forEach((lines, k) => {
      const texts = time.gradients[k] ?? [];
      const unknown = isAhead(time.known[k]);
      const incomplete = isAhead(texts.at(-1)?.[0] ?? last);
      const added = lit.gradients.has(k);
      mark(values[k] ?? [], { unknown, incomplete, added, now: lit.values.has(k) });
      const text = textAfter(texts, step);
      const before = added ? textAfter(texts, step - 1) : UNKNOWN;
      for (const line of lines) {
        if (line.isGradient) line.write(gradientIn(line, incomplete ? text : "", before));
        else line.write(unknown ? line.head + UNKNOWN : line.whole);
      }
    });
    operations.forEach((groups, k) => {
      const ahead = rest(time.forward[k], step);
      const back = rest(time.reverse[k], step);
      const unknown = isAhead(time.forward[k]?.[0]);
      mark(groups, {
        unknown,
        unfinished: ahead > 0,
        incomplete: back > 0,
        now: lit.operation === k,
      });
      for (const { style } of groups) {
        style.setProperty("--tm-ahead", `${ahead * 100}%`);
        style.setProperty("--tm-back", `${back * 100}%`);
      }
    });
    for (const { group, value, operation, isInput } of edges) {
      const reached = now?.reverse
        ? !isInput || lit.gradients.has(value)
        : isInput || lit.values.has(value);
      const unknown = isAhead(time.forward[operation]?.[0]);
      mark([group], { unknown, now: lit.operation === operation && reached });
    }
  };
}

interface Lit {
  /** The operation to light up, if there is one. */
  operation: number | null;
  values: Set<number>;
  /** The values whose gradients change. */
  gradients: Set<number>;
}

/** What a step lights up: where the sweep begins, no operation. */
function litBy(now: Step | null, view: View, time: Timeline): Lit {
  const gradients = new Set(now?.gradients.map(([value]) => value));
  const values = new Set(now ? valuesOf(now, time) : []);
  const operation = now?.operation ?? null;
  const outputs = (operation !== null && view.operations[operation]?.outputs) || [];
  const begins = gradients.size > 0 && [...gradients].every((value) => outputs.includes(value));
  return { operation: begins ? null : operation, values, gradients };
}

/** A line of text in a box. */
interface Line {
  isGradient: boolean;
  /** The text as it is drawn. */
  whole: string;
  /** What stands before the value: "x = ". */
  head: string;
  /** The number of letters for which the box has room. */
  room: number;
  /** Write other text, in smaller letters if it is too long for the box. */
  write: (words: string) => void;
}

/** The lines of text in boxes of the value of this name that tell the value or its gradient. */
function linesOf(boxes: Element[], name: string): Line[] {
  return boxes.flatMap((box) => {
    const texts = [...box.querySelectorAll<SVGElement>(":scope > text")];
    const room = Math.max(...texts.map((text) => text.textContent.length));
    const told = texts.filter((text) => text.matches(".v, .g"));
    return told.map((text) => {
      const whole = text.textContent;
      const head = whole.startsWith(`${name} = `) ? `${name} = ` : "";
      const write = (words: string): void => {
        if (text.textContent === words) return;
        text.textContent = words;
        text.style.fontSize = words.length > room ? `${(0.9 * room) / words.length}em` : "";
      };
      return { isGradient: text.matches(".g"), whole, head, room, write };
    });
  });
}

/** The words for a gradient; with what it was before, in the step in which something is added to it, if there is room. */
function gradientIn({ whole, room }: Line, text: string, before: string): string {
  const now = text ? GRADIENT + clipped(text) : whole;
  const sum = `${before} → ${now.slice(GRADIENT.length)}`;
  return before === UNKNOWN || sum.length > 1.6 * room ? now : sum;
}

function clipped(text: string): string {
  return text.length > LONGEST ? `${text.slice(0, LONGEST - 1)}…` : text;
}
