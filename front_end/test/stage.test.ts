// @vitest-environment happy-dom
import { expect, test } from "vitest";
import { Stage } from "../src/stage";
import { contentOf, modelOf, viewOf } from "./samples";

test("a report begins with every step done, and a step stays within bounds", () => {
  const stage = new Stage(modelOf(), contentOf(viewOf(3)));
  expect(stage.step).toBe(3);
  stage.goTo(-1);
  expect(stage.step).toBe(0);
  stage.goTo(99);
  expect(stage.step).toBe(3);
});
