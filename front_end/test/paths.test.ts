import { expect, test } from "vitest";
import { along } from "../src/keyboard";
import { flowOf } from "../src/paths";
import { networkOf, viewOf } from "./samples";

/** y = (a * b) + b, and z = sin(a). */
const view = networkOf([[0, 1], [2, 1], [0]], [[2], [3], [4]]);

test("up is what a value was computed from, down is what was computed from it", () => {
  const flow = flowOf(view);
  expect([...flow.up("n3")].sort()).toEqual(["n0", "n1", "n2", "s0", "s1"]);
  expect([...flow.down("n0")].sort()).toEqual(["n2", "n3", "n4", "s0", "s1", "s2"]);
  expect([...flow.up("s2")]).toEqual(["n0"]);
  expect(flow.up("n0").size).toBe(0);
});

test("a fold that reads what was computed from its own output is no endless way", () => {
  const flow = flowOf(networkOf([[0, 2], [1]], [[1], [2]]));
  expect([...flow.up("n1")].sort()).toEqual(["n0", "n2", "s0", "s1"]);
});

test("paths through ten thousand operations are found at once", () => {
  const chain = Array.from({ length: 10_000 }, (_, k) => k);
  const flow = flowOf(
    networkOf(
      chain.map((k) => [k, k]),
      chain.map((k) => [k + 1]),
    ),
  );
  const start = performance.now();
  expect(flow.down("n0").size).toBe(20_000);
  expect(performance.now() - start).toBeLessThan(500);
});

test("arrow keys lead to an input, an output and the neighbours, in the direction of the picture", () => {
  const flow = flowOf(view);
  const place = (mark: string): number => Number(mark.slice(1));
  expect(along(flow, "s1", "ArrowLeft", false, place)).toBe("n2");
  expect(along(flow, "n2", "ArrowRight", false, place)).toBe("s1");
  expect(along(flow, "n0", "ArrowDown", false, place)).toBe("n1");
  expect(along(flow, "n1", "ArrowUp", false, place)).toBe("n0");
  expect(along(flow, "n1", "ArrowDown", false, place)).toBeUndefined();
  expect(along(flow, "n2", "ArrowDown", true, place)).toBe("s1");
  expect(along(flow, "s1", "ArrowUp", true, place)).toBe("n2");
  expect(along(flow, "n0", "ArrowRight", true, place)).toBe("n1");
});

test("a view without values has no ways", () => {
  expect(flowOf(viewOf(0)).down("n0").size).toBe(0);
});
