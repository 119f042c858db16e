/** The steps of a view turned round: for each of its parts, after how many steps it is there. */
import type { Step, View } from "./content";

type Stretch = [number, number];

export interface Timeline {
  /** For each value, the number of steps after which it is known: 0 if it is known before the first. */
  known: number[];
  /** For each value, the texts of its gradient, each with the number of steps after which it holds. */
  gradients: [number, string][][];
  /** For each operation, its first and its last step forward: a loop has one for every iteration. */
  forward: Stretch[];
  /** The same in reverse; the end if there are none. */
  reverse: Stretch[];
  /** For each row of the trace, and each equation of the reverse sweep, the number of steps after which it is there. */
  rows: Map<string, number>;
  /** For each row of the trace, the values that are known from it on. */
  shown: Map<string, number[]>;
}

/** When each part of a view is there. */
export function timelineOf({ steps, values, operations }: View): Timeline {
  const known = values.map(() => 0);
  const gradients: [number, string][][] = values.map(() => []);
  const forward: Stretch[] = [];
  const back: Stretch[] = [];
  const rows = new Map<string, number>();
  const shown = new Map<string, number[]>();
  steps.forEach((step, before) => {
    const k = before + 1;
    const { operation, row, reverse, entry } = step;
    for (const value of step.shown) known[value] ||= k;
    for (const [value, text] of step.gradients) gradients[value]?.push([k, text]);
    if (operation !== null) ((reverse ? back : forward)[operation] ??= [k, k])[1] = k;
    if (!reverse) shown.set(row, step.shown);
    if (reverse && entry === null) rows.set(`${row}.`, k);
    else if (!rows.has(rowOf(step))) rows.set(rowOf(step), k);
  });
  operations.forEach((_, k) => {
    forward[k] ??= [0, 0];
    back[k] ??= [steps.length, steps.length];
  });
  return { known, gradients, forward, reverse: back, rows, shown };
}

/** What stands for a step in the trace: a row, "PART.ROW", or one of its equations, "PART.ROW.ENTRY". */
export function rowOf({ row, entry }: Step): string {
  return entry === null ? row : `${row}.${entry}`;
}

/** The values that a step makes, or whose gradients it changes; those of its row if it says that one is complete. */
export function valuesOf(step: Step, time: Timeline): number[] {
  const { reverse, operation, row, shown, gradients } = step;
  const made = reverse && operation === null ? (time.shown.get(row) ?? []) : shown;
  return [...made, ...gradients.map(([value]) => value)];
}

/** The part, from 0 to 1, of the steps from a first to a last one that is still to be done. */
export function rest([first, last]: Stretch = [0, 0], step: number): number {
  return Math.min(1, Math.max(0, (last - step) / (last - first + 1)));
}

/** The text that holds after some steps; an ellipsis before the first. */
export function textAfter(texts: [number, string][], steps: number): string {
  return texts.filter(([k]) => k <= steps).at(-1)?.[1] ?? "…";
}
