/** The steps of a view turned round: for each of its parts, after how many steps it is there. */
import type { Step, View } from "./content";

export interface Timeline {
  /** For each value, the number of steps after which it is known: 0 if it is known before the first. */
  known: number[];
  /** For each operation, the number of steps after which it is done. */
  done: number[];
  /** For each value, the texts of its gradient, each with the number of steps after which it holds. */
  gradients: [number, string][][];
  /** For each row of the trace, and each equation of the reverse sweep, the number of steps after which it is there. */
  rows: Map<string, number>;
}

/** When each part of a view is there. */
export function timelineOf(view: View): Timeline {
  const known = view.values.map(() => 0);
  const done = view.operations.map(() => 0);
  const gradients: [number, string][][] = view.values.map(() => []);
  const rows = new Map<string, number>();
  view.steps.forEach((step, before) => {
    const k = before + 1;
    for (const value of step.shown) known[value] ||= k;
    for (const [value, text] of step.gradients) gradients[value]?.push([k, text]);
    if (step.operation !== null && !step.reverse) done[step.operation] ||= k;
    const row = rowOf(step);
    if (!rows.has(row)) rows.set(row, k);
  });
  return { known, done, gradients, rows };
}

/** What stands for a step in the trace: a row, "PART.ROW", or one of its equations, "PART.ROW.ENTRY". */
export function rowOf({ row, entry }: Step): string {
  return entry === null ? row : `${row}.${entry}`;
}

/** The text that holds after some steps, if there is one. */
export function textAfter(texts: [number, string][], steps: number): string | undefined {
  return texts.filter(([k]) => k <= steps).at(-1)?.[1];
}
