import { expect, test } from "vitest";
import { questionOf, withOpening } from "../src/opening";
import { viewOf } from "./samples";

const first = {
  ...viewOf(0),
  operations: [
    { name: "f", inputs: [], outputs: [], lines: null, tip: "f", fold: "2", iterations: null },
  ],
  frames: [{ label: "iteration 7 of 9", fold: "0", iteration: [7, 9] as [number, number] }],
};

test("the question for a view does not depend on the order of the openings", () => {
  expect(questionOf({ "3.0": 1, "0": 7, "10": 0 })).toBe(questionOf({ "10": 0, "3.0": 1, "0": 7 }));
  expect(questionOf({})).toBe("view:{}");
});

test("what is as it was at first is not asked for", () => {
  expect(withOpening({}, "2", 1, first)).toEqual({ "2": 1 });
  expect(withOpening({ "2": 1, "2.0": 1 }, "2", 0, first)).toEqual({ "2.0": 1 });
  expect(withOpening({}, "0", 3, first)).toEqual({ "0": 3 });
  expect(withOpening({ "0": 3 }, "0", 7, first)).toEqual({});
  expect(withOpening({ "0": 3 }, "0", 0, first)).toEqual({ "0": 0 });
  expect(withOpening({}, "5", 0, first)).toEqual({ "5": 0 });
});
