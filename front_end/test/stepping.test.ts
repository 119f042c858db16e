// @vitest-environment happy-dom
import { expect, test, vi } from "vitest";
import type { View } from "../src/content";
import { keepKeys } from "../src/keys";
import { picture } from "../src/picture";
import { trace } from "../src/rows";
import { Stage } from "../src/stage";
import { stepper } from "../src/stepper";
import { tabs } from "../src/tabs";
import { contentOf, modelOf, stepOf, valueOf, viewOf } from "./samples";

const LINES = '<text class="v">x = 2.0</text><text class="g">gradient 5.0</text>';
const SVG =
  `<svg><g data-n="n0">${LINES}</g><g data-n="s0"><text>×</text></g><g data-e="n0 s0"></g>` +
  '<g data-e="s0 n1"></g><g data-n="n1"><text class="v">6.0</text><g class="v"></g></g></svg>';

/** y = x · c, where x gets its gradient in two steps. */
function sample(): View {
  const operation = { name: "×", inputs: [0], outputs: [1], lines: null, tip: "", fold: "" };
  return {
    ...viewOf(0),
    svg: SVG,
    trace:
      '<table><tr data-r="0.0"><td>x</tr>' +
      '<tr data-r="0.1"><td>y<td><i data-a="0.1.1">second</i><i data-a="0.1.0">first</i></tr></table>',
    values: [valueOf("x"), valueOf("y")],
    operations: [{ ...operation, iterations: null }],
    steps: [
      { ...stepOf("x"), row: "0.0", shown: [0] },
      { ...stepOf("y"), row: "0.1", operation: 0, shown: [1] },
      {
        ...stepOf("a"),
        reverse: true,
        row: "0.1",
        entry: 0,
        operation: 0,
        gradients: [[0, "2.0"]],
      },
      {
        ...stepOf("b"),
        reverse: true,
        row: "0.1",
        entry: 1,
        operation: 0,
        gradients: [[0, "5.0"]],
      },
    ],
  };
}

function texts(element: Element, query: string): string[] {
  return [...element.querySelectorAll(query)].map((found) => found.textContent);
}

function names(element: Element, query: string): (string | null)[] {
  const found = [...element.querySelectorAll(query)];
  return found.map((each) =>
    ["data-n", "data-e", "data-r", "data-a"]
      .map((name) => each.getAttribute(name))
      .find((name) => name !== null),
  ) as (string | null)[];
}

test("what is not known is not told, in whatever order the steps are visited", () => {
  const stage = new Stage(modelOf(), contentOf(sample()));
  const made = picture(stage);
  expect(texts(made, ".v")).toEqual(["x = 2.0", "6.0", ""]);
  expect(made.querySelector(".tm-now, .tm-unknown")).toBeNull();
  const state = (): string[] =>
    [...made.querySelectorAll("g, text")].map((part) =>
      [...part.classList].sort().concat(part.textContent).join(" "),
    );
  const seen = [0, 1, 2, 3, 4].map((step) => {
    stage.goTo(step);
    return state();
  });
  for (const step of [3, 0, 4, 2, 1]) {
    stage.goTo(step);
    expect(state()).toEqual(seen[step]);
  }
  expect(texts(made, "text")).toEqual(["x = 2.0", "gradient …", "×", "…"]);
  expect(names(made, ".tm-unknown")).toEqual(["s0", "n0 s0", "s0 n1", "n1"]);
});

test("a step lights up its operation, its edges and what it made; a gradient is seen to add up", () => {
  const stage = new Stage(modelOf(), contentOf(sample()));
  const made = picture(stage);
  stage.goTo(2);
  expect(names(made, ".tm-now")).toEqual(["s0", "n0 s0", "s0 n1", "n1"]);
  stage.goTo(3);
  expect(texts(made, ".g")).toEqual(["gradient 2.0"]);
  expect(names(made, ".tm-now")).toEqual(["n0", "s0", "n0 s0", "s0 n1"]);
  stage.goTo(4);
  expect(texts(made, ".g")).toEqual(["2.0 → 5.0"]);
  expect(names(made, ".tm-added")).toEqual(["n0"]);
});

test("the trace shows the equations of the reverse sweep one by one", () => {
  const stage = new Stage(modelOf(), contentOf(sample()));
  const made = trace(stage);
  stage.goTo(1);
  expect(names(made, ".tm-unknown")).toEqual(["0.1", "0.1.1", "0.1.0"]);
  stage.goTo(3);
  expect(names(made, ".tm-unknown")).toEqual(["0.1.1"]);
  expect(names(made, ".tm-now")).toEqual(["0.1.0"]);
});

test("another run of the cell keeps step and tab, and is drawn anew", () => {
  const stage = new Stage(modelOf(), contentOf(sample()));
  const made = picture(stage);
  stage.goTo(2);
  stage.replace(contentOf({ ...sample(), svg: SVG.replace("6.0", "7.0") }));
  expect(stage.step).toBe(2);
  expect(texts(made, ".v")).toEqual(["x = 2.0", "7.0", ""]);
  expect(names(made, ".tm-now")).toEqual(["s0", "n0 s0", "s0 n1", "n1"]);
});

test("a play from the end begins at the start, stops at the end, and stops where no steps are shown", () => {
  vi.useFakeTimers();
  const stage = new Stage(modelOf(), contentOf(sample()));
  const bar = stepper(stage);
  document.body.append(bar);
  const play = bar.querySelector<HTMLButtonElement>(".tm-play");
  play?.click();
  expect([stage.step, play?.title]).toEqual([0, "Pause"]);
  vi.advanceTimersByTime(2500);
  expect(stage.step).toBe(2);
  stage.openTab("Lines");
  vi.advanceTimersByTime(9000);
  expect([stage.step, play?.title]).toEqual([4, "Play"]);
  play?.click();
  stage.openTab("Variables");
  vi.advanceTimersByTime(9000);
  expect([stage.step, bar.hidden]).toEqual([0, true]);
  stage.openTab("Graph");
  play?.click();
  bar.remove();
  vi.advanceTimersByTime(9000);
  expect(stage.step).toBe(0);
  vi.useRealTimers();
});

test("without a picture the bar stands under trace and lines alone, and without steps nowhere", () => {
  const bar = (view: View | null, tab: string): boolean => {
    const stage = new Stage(modelOf(), contentOf(view));
    stage.openTab(tab);
    return !stepper(stage).hidden;
  };
  expect(bar({ ...sample(), svg: "" }, "Graph")).toBe(false);
  expect(bar({ ...sample(), svg: "" }, "Trace")).toBe(true);
  expect(bar(viewOf(0), "Trace")).toBe(false);
  expect(bar(null, "Lines")).toBe(false);
});

test("keys move through the steps and the tabs, and the notebook does not hear of them", () => {
  const stage = new Stage(modelOf(), contentOf(sample()));
  const bar = stepper(stage);
  const list = tabs(stage, (title) => document.createElement(title));
  const heard = vi.fn();
  const root = document.createElement("div");
  const end = keepKeys(root);
  root.append(bar, list);
  document.body.replaceChildren(root);
  document.body.addEventListener("keydown", heard);
  const press = (target: Element | null, key: string, more = {}): void => {
    target?.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, ...more }));
  };
  const button = bar.querySelector("button");
  press(button, "ArrowLeft");
  expect(stage.step).toBe(3);
  expect(button?.hasAttribute("data-lm-suppress-shortcuts")).toBe(true);
  press(list.querySelector("[aria-selected=true]"), "ArrowLeft");
  expect(stage.tab).toBe("Lines");
  expect(document.activeElement?.textContent).toBe("Lines");
  expect(heard).not.toHaveBeenCalled();
  press(button, "Enter", { shiftKey: true });
  expect(heard).toHaveBeenCalledOnce();
  expect(button?.hasAttribute("data-lm-suppress-shortcuts")).toBe(false);
  end();
});

test("at rest the bar says what Play does, and the last step is named as the last", () => {
  const stage = new Stage(modelOf(), contentOf(sample()));
  const bar = stepper(stage);
  expect(texts(bar, ".tm-words, .tm-count")).toEqual([
    "",
    "Play shows this computation in 4 steps: values forward, then gradients backward.",
  ]);
  stage.goTo(4);
  expect(texts(bar, ".tm-words, .tm-count")).toEqual(["step 4 of 4", "backwardb (the last step)"]);
  const forward = { ...sample(), steps: [stepOf("x")] };
  const short = stepper(new Stage(modelOf(), contentOf(forward)));
  expect(texts(short, ".tm-words, .tm-count")).toEqual([
    "",
    "Play shows this computation in 1 step.",
  ]);
});

test("the sentence of a step is HTML: one line goes over all of a name with a bar", () => {
  const bar = "<u style=text-decoration:overline>loss</u> &lt; 1";
  const stage = new Stage(modelOf(), contentOf({ ...viewOf(0), steps: [stepOf(bar)] }));
  const made = stepper(stage);
  stage.goTo(1);

  expect(texts(made, "u")).toEqual(["loss"]);
  expect(texts(made, ".tm-words span:last-of-type")).toEqual(["loss < 1"]);
});
