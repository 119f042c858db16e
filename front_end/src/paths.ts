/** The way of the data through a graph: what a value was computed from, and what was computed from it. */
import type { View } from "./content";

/** A value or an operation, as the picture names it: "n0" is the first value, "s0" the first operation. */
export type Mark = string;

export interface Flow {
  before: (mark: Mark) => Mark[];
  after: (mark: Mark) => Mark[];
  /** All that are as far from the beginning, the mark itself among them. */
  beside: (mark: Mark) => Mark[];
  up: (mark: Mark) => Set<Mark>;
  down: (mark: Mark) => Set<Mark>;
}

type Links = Map<string, Set<Mark>>;

export function flowOf(view: View): Flow {
  const before: Links = new Map();
  const after: Links = new Map();
  const depths = new Map<Mark, number>(view.values.map((_, k) => [`n${k}`, 0]));
  const link = (from: Mark, to: Mark): void => {
    add(after, from, to);
    add(before, to, from);
    depths.set(to, Math.max(depths.get(to) ?? 0, (depths.get(from) ?? 0) + 1));
  };
  view.operations.forEach(({ inputs, outputs }, k) => {
    for (const i of inputs) link(`n${i}`, `s${k}`);
    for (const i of outputs) link(`s${k}`, `n${i}`);
  });
  return {
    before: (mark) => [...(before.get(mark) ?? [])],
    after: (mark) => [...(after.get(mark) ?? [])],
    beside: (mark) => [...depths.keys()].filter((each) => depths.get(each) === depths.get(mark)),
    up: (mark) => reached(mark, before),
    down: (mark) => reached(mark, after),
  };
}

function add(links: Links, key: string, mark: Mark): void {
  const marks = links.get(key) ?? new Set();
  links.set(key, marks.add(mark));
}

function reached(from: Mark, links: Links): Set<Mark> {
  const found = new Set([from]);
  // a set goes on to what is added to it meanwhile
  for (const mark of found) for (const other of links.get(mark) ?? []) found.add(other);
  found.delete(from);
  return found;
}

/** Whatever stands for values or operations. */
export const MARKED = "[data-n],[data-e],[data-r],[data-l]";

/** The marks for which an element of the picture, the trace or the lines stands: of an edge those of its ends. */
export function marksOf(view: View): (element: Element) => Mark[] {
  const places: Links = new Map();
  view.values.forEach(({ line }, k) => {
    add(places, `l${line}`, `n${k}`);
  });
  for (const { reverse, row, shown, operation } of view.steps) {
    if (reverse || !row) continue;
    if (operation !== null) add(places, `r${row}`, `s${operation}`);
    for (const k of shown) add(places, `r${row}`, `n${k}`);
  }
  return (element) => {
    const { n, e, r, l } = (element as HTMLElement).dataset;
    const drawn = n ?? e;
    if (drawn) return drawn.match(/[ns]\d+/g) ?? [];
    return [...(places.get(r === undefined ? `l${l}` : `r${r}`) ?? [])];
  };
}
