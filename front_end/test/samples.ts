/** Small contents for tests. */
import type { Content, Step, Value, View } from "../src/content";
import type { Model } from "../src/model";

export function stepOf(words: string): Step {
  return {
    reverse: false,
    row: "",
    entry: null,
    operation: null,
    lines: null,
    words,
    shown: [],
    gradients: [],
  };
}

export function valueOf(name: string): Value {
  const nothing = { type: "", line: null, formula: "", key: "" };
  return { name, text: "", gradient: null, role: "intermediate", ...nothing };
}

export function viewOf(steps: number): View {
  return {
    opened: {},
    svg: "<svg></svg>",
    dot: "digraph {}",
    caption: "",
    trace: "",
    values: [],
    operations: [],
    frames: [],
    steps: Array.from({ length: steps }, (_, k) => stepOf(`step ${k}`)),
  };
}

/** A view with operations that read and make values. */
export function networkOf(inputs: number[][], outputs: number[][]): View {
  const count = 1 + Math.max(...inputs.flat(), ...outputs.flat());
  return {
    ...viewOf(0),
    values: Array.from({ length: count }, (_, k) => valueOf(`v${k}`)),
    operations: inputs.map((read, k) => ({
      name: "f",
      inputs: read,
      outputs: outputs[k] ?? [],
      lines: null,
      tip: "f",
      fold: "",
      iterations: null,
    })),
  };
}

export function contentOf(view: View | null): Content {
  const faces = [
    { title: "Graph", html: "" },
    { title: "Lines", html: "<pre>y</pre>" },
  ];
  return {
    number: 0,
    theme: "auto",
    head: "",
    faces,
    first: "Graph",
    view,
    controls: [],
    marks: "",
    unchecked: false,
    live: true,
  };
}

export function modelOf(): Model {
  return {
    get: () => {
      throw new Error("not asked");
    },
    on: () => undefined,
    off: () => undefined,
    send: () => undefined,
  };
}
