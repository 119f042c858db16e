// @vitest-environment happy-dom
import { expect, test, vi } from "vitest";
import { code } from "../src/code";
import type { Content, Step } from "../src/content";
import type { Model } from "../src/model";
import { SAVED } from "../src/questions";
import { Stage } from "../src/stage";
import { contentOf, modelOf, stepOf, viewOf } from "./samples";

const LINES = '<pre><span data-k="1">y</span>\n<span data-k="2 4">dx</span></pre>';
const STEPS: Step[] = [
  { ...stepOf("forward"), operation: 0, row: "0.1" },
  { ...stepOf("reverse"), operation: 0, row: "0.1", reverse: true },
  { ...stepOf("watched"), operation: null, row: "0.0" },
];

function sample(more: Partial<Content> = {}) {
  const send = vi.fn();
  const model: Model = { ...modelOf(), get: (() => ({})) as unknown as Model["get"], send };
  const stage = new Stage(model, { ...contentOf({ ...viewOf(0), steps: STEPS }), ...more });
  const face = code(stage, () => LINES);
  const lit = (): string =>
    [...face.querySelectorAll(".tm-now")].map((line) => line.textContent).join();
  return { stage, face, lit, send };
}

test("the program is asked for when its tab is opened, and no earlier", async () => {
  const send = vi.fn();
  const model: Model = { ...modelOf(), get: (() => ({})) as unknown as Model["get"], send };
  const stage = new Stage(model, contentOf(viewOf(1)));
  code(stage, () => "");
  stage.openTab("Lines");
  expect(send).not.toHaveBeenCalled();

  stage.openTab("Code");
  await vi.waitFor(() => {
    expect(send).toHaveBeenCalledWith({ ask: "code:{}" });
  });
});

test("the lines of a step light up, forward and in reverse", async () => {
  const { stage, face, lit, send } = sample();
  stage.openTab("Code");
  await vi.waitFor(() => {
    expect(face.querySelector("pre")).not.toBeNull();
  });
  const seen = [1, 2, 3].map((step) => {
    stage.goTo(step);
    return lit();
  });
  expect(seen).toEqual(["y", "dx", ""]);
  expect(send).not.toHaveBeenCalled();
});

test("without a kernel, there is no program beside another layout", async () => {
  const { stage, face, lit } = sample({ live: false });
  stage.openTab("Code");
  stage.show({ ...viewOf(0), steps: STEPS, opened: { "1": 1 } });
  await vi.waitFor(() => {
    expect(face.textContent).toBe(SAVED);
  });
  stage.goTo(1);
  expect(lit()).toBe("");
});
