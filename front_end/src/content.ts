/**
 * The data of a report, as Python writes them: tapemagic/report/live/content.py states the same, field by field; for
 * a View, tapemagic/report/tabs/graph/live_graph.py, and for a Check, tapemagic/report/tabs/gradients/live_gradients.py.
 * Everything called HTML or SVG was made, and escaped, by Python; all else is text.
 */

/** All that a report shows. */
export interface Content {
  /** 0 at first, and one more whenever the cell was run again by "what if". */
  number: number;
  theme: "auto" | "light" | "dark";
  /** HTML: the error that stopped the cell, and the verdict. */
  head: string;
  /**
   * The tabs from left to right. What the tabs Graph and Trace show is in the view; the tab Code is empty where the
   * kernel is to be asked for it.
   */
  faces: Face[];
  /** The title of the tab that is open at first. */
  first: string;
  /** Null if nothing was recorded. */
  view: View | null;
  /** The sliders of --what-if; none without it. */
  controls: Control[];
  /** SVG over the picture of --plot: where this run stands on the curves; empty without a plot. */
  marks: string;
  /** Whether there are gradients that were not checked by finite differences. */
  unchecked: boolean;
  /** Whether a kernel could answer: false on a saved page. */
  live: boolean;
}

export interface Face {
  title: string;
  html: string;
}

/** One layout of the graph, with the trace laid out alike and the steps through both. */
export interface View {
  /** What is opened or closed otherwise than at first: the keys of folds, with 0 for closed, or the number opened. */
  opened: Opened;
  /** The picture; empty without Graphviz. Groups: data-n (n0 a value, s0 an operation), data-e (edges), data-c (frames). */
  svg: string;
  /** Whether a page may draw it, since the kernel cannot; live/front_end.py has the few lines that do. */
  undrawn?: boolean;
  dot: string;
  /** HTML under the picture, or in its place. */
  caption: string;
  /** HTML; rows are marked data-r="PART.ROW", their equations of the reverse sweep data-a="PART.ROW.ENTRY". */
  trace: string;
  values: Value[];
  operations: Operation[];
  frames: Frame[];
  steps: Step[];
}

export type Opened = Record<string, number>;

/** A value of the graph: the box n0 is the first. */
export interface Value {
  name: string;
  text: string;
  gradient: string | null;
  role: string;
  /** Shape and dtype in words. */
  type: string;
  line: number | null;
  /** How it was computed: "x1 · x2"; empty for a watched value or constant. */
  formula: string;
  /** The question for the value in full; empty if there is no more to know. */
  key: string;
}

/** An operation of the graph, or several in a fold: the oval s0 is the first. */
export interface Operation {
  name: string;
  inputs: number[];
  /** The values that it makes; of a fold, those of the variables that it changes, too. */
  outputs: number[];
  lines: [number, number] | null;
  /** Formula and local derivatives in words. */
  tip: string;
  /** The key of the fold; empty for a single operation. */
  fold: string;
  /** The first and the last iteration in the fold of a loop, and the number of all. */
  iterations: [number, number, number] | null;
}

/** A frame of the graph: the cluster c0 is the first. */
export interface Frame {
  label: string;
  /** The key of what it opens; empty if it cannot be closed. */
  fold: string;
  /** The number of the iteration in it, and the number of all. */
  iteration: [number, number] | null;
}

/** A step forward, or one of the reverse sweep. */
export interface Step {
  reverse: boolean;
  /** The row of the trace: "PART.ROW"; empty if it has none. */
  row: string;
  /** In reverse, the equation of the row, in the order of the sweep: it is marked data-a="PART.ROW.ENTRY". */
  entry: number | null;
  operation: number | null;
  lines: [number, number] | null;
  /** HTML. */
  words: string;
  /** The values that are known from this step on. */
  shown: number[];
  /** The values whose gradients change in this step, with the new text. */
  gradients: [number, string][];
}

/** The answer to the question "view:" is a View, to "value:" and "code:" HTML, to "check" a Check; or it is a QueryError. */
export interface Check {
  /** What the comparison came to, in a sentence. */
  words: string;
  /** HTML: the tab Gradients, with the results. */
  html: string;
}

export interface QueryError {
  error: string;
}

/** The slider of a scalar, or those of the entries of a small array. */
export interface Control {
  name: string;
  /** Empty for a scalar. */
  shape: number[];
  /** The entries, in C order. */
  entries: number[];
  low: number;
  high: number;
  step: number;
  /** Whether these entries are in the place of what the program says. */
  moved: boolean;
}
