// @vitest-environment happy-dom
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { Content, Control } from "../src/content";
import { Stage } from "../src/stage";
import { whatIf } from "../src/what_if";
import { contentOf, modelOf } from "./samples";

const A: Control = {
  name: "a",
  shape: [],
  entries: [1],
  low: -3,
  high: 3,
  step: 0.02,
  moved: false,
};
const W: Control = { ...A, name: "<w>", shape: [2, 2], entries: [1, 2, 3, 0.1234567] };

let sent: { what_if: Record<string, number[]>; number: number }[];

beforeEach(() => {
  sent = [];
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

function contentWith(controls: Control[], more: Partial<Content> = {}): Content {
  return { ...contentOf(null), controls, ...more };
}

function shown(content: Content): { stage: Stage; bar: HTMLElement } {
  const model = {
    ...modelOf(),
    send: (message: unknown) => sent.push(message as (typeof sent)[0]),
  };
  const stage = new Stage(model, content);
  const bar = whatIf(stage);
  document.body.replaceChildren(bar);
  return { stage, bar };
}

function input(bar: HTMLElement, name: string): HTMLInputElement {
  const found = bar.querySelector<HTMLInputElement>(`input[aria-label="${name}"]`);
  if (!found) throw new Error(name);
  return found;
}

function number(bar: HTMLElement): HTMLInputElement {
  const found = bar.querySelector<HTMLInputElement>("input[type=number]");
  if (!found) throw new Error("number");
  return found;
}

/** Move a slider or type into a field; `done` on release. */
function move(field: HTMLInputElement, value: string, done = true): void {
  field.value = value;
  field.dispatchEvent(new Event("input", { bubbles: true }));
  if (done) field.dispatchEvent(new Event("change", { bubbles: true }));
}

function answer(stage: Stage, controls: Control[]): void {
  stage.replace(contentWith(controls, { number: stage.content.number + 1 }));
}

const words = (bar: HTMLElement): string | null | undefined =>
  bar.querySelector("[role=status]")?.textContent;

test("nothing stands there without sliders", () => {
  expect(shown(contentWith([])).bar.hidden).toBe(true);
});

test("a slider asks on release, and follows the report", () => {
  const { stage, bar } = shown(contentWith([A]));
  const slider = input(bar, "a");
  move(slider, "2", false);
  expect(sent).toEqual([]);
  expect(number(bar).value).toBe("2");
  slider.dispatchEvent(new Event("change", { bubbles: true }));
  expect(sent).toEqual([{ what_if: { a: [2] }, number: 1, ask: "" }]);
  answer(stage, [{ ...A, entries: [2], moved: true }]);
  expect([slider.value, number(bar).value]).toEqual(["2", "2"]);
  expect(slider.getAttribute("aria-valuetext")).toBe("2");
});

test("a pointer that comes back to where it was settles, too", () => {
  const { bar } = shown(contentWith([A]));
  move(input(bar, "a"), "2", false);
  input(bar, "a").dispatchEvent(new Event("pointerup", { bubbles: true }));
  expect(sent).toHaveLength(1);
});

test("one message is under way, and the newest wins", () => {
  const { stage, bar } = shown(contentWith([A]));
  for (const value of ["1.5", "2", "2.5"]) move(input(bar, "a"), value);
  expect(sent).toHaveLength(1);
  answer(stage, [{ ...A, entries: [1.5], moved: true }]);
  expect(sent.map((message) => message.what_if["a"])).toEqual([[1.5], [2.5]]);
  expect(number(bar).value).toBe("2.5");
});

test("after a quick answer the cell runs while a slider moves", () => {
  const { stage, bar } = shown(contentWith([A]));
  move(input(bar, "a"), "2");
  vi.advanceTimersByTime(50);
  answer(stage, [{ ...A, entries: [2], moved: true }]);
  move(input(bar, "a"), "2.5", false);
  expect(sent).toHaveLength(2);
  vi.advanceTimersByTime(200);
  answer(stage, [{ ...A, entries: [2.5], moved: true }]);
  move(input(bar, "a"), "2.6", false);
  expect(sent).toHaveLength(2);
});

test("what the reader is moving is not set by an answer", () => {
  const { stage, bar } = shown(contentWith([A]));
  move(input(bar, "a"), "2");
  move(input(bar, "a"), "2.5", false);
  answer(stage, [{ ...A, entries: [2], moved: true }]);
  expect(number(bar).value).toBe("2.5");
});

test("a run that failed leaves the slider where the report is", () => {
  const { stage, bar } = shown(contentWith([A]));
  move(input(bar, "a"), "0");
  answer(stage, [A]);
  expect(number(bar).value).toBe("1");
  expect(sent).toHaveLength(1);
});

test("a busy kernel, and one that is gone", () => {
  const { stage, bar } = shown(contentWith([A]));
  move(input(bar, "a"), "2");
  vi.advanceTimersByTime(299);
  expect(words(bar)).toBe("");
  vi.advanceTimersByTime(2);
  expect(words(bar)).toBe("running…");
  vi.advanceTimersByTime(5000);
  expect(words(bar)).toBe("The kernel is busy, or gone.");
  expect(number(bar).value).toBe("1");
  move(input(bar, "a"), "3");
  expect(sent).toHaveLength(1);
  answer(stage, [{ ...A, entries: [2], moved: true }]);
  expect(words(bar)).toBe("");
  expect(sent).toHaveLength(2);
});

test("entries of an array have fields of their own, and keep what is not shown of them", () => {
  const { bar } = shown(contentWith([W]));
  expect(input(bar, "<w>[1, 1]").value).toBe("0.123457");
  move(input(bar, "<w>[0, 1]"), "9");
  expect(sent[0]?.what_if).toEqual({ "<w>": [1, 3, 3, 0.1234567] });
});

test("a field that is empty shows its number again", () => {
  const { bar } = shown(contentWith([W]));
  move(input(bar, "<w>[0, 0]"), "");
  expect(sent).toEqual([]);
  expect(input(bar, "<w>[0, 0]").value).toBe("1");
});

test("dragging a field changes its number", () => {
  const { bar } = shown(contentWith([W]));
  const field = input(bar, "<w>[1, 0]");
  field.setPointerCapture = () => undefined;
  const at = (kind: string, clientX: number): void => {
    field.dispatchEvent(new PointerEvent(kind, { clientX, bubbles: true }));
  };
  at("pointerdown", 100);
  at("pointermove", 102);
  at("pointermove", 50);
  expect(field.value).toBe("2");
  at("pointerup", 50);
  expect(sent[0]?.what_if["<w>"]).toEqual([1, 2, 2, 0.1234567]);
  at("pointermove", 0);
  expect(field.value).toBe("2");
});

test("Reset gives every name back to the program", () => {
  const { stage, bar } = shown(contentWith([{ ...A, moved: true }, W]));
  const button = bar.querySelector("button");
  expect(button?.disabled).toBe(false);
  button?.click();
  expect(sent[0]?.what_if).toEqual({});
  answer(stage, [A, W]);
  expect(button?.disabled).toBe(true);
});

test("a name that is not moved follows the program, and is not sent", () => {
  const { stage, bar } = shown(contentWith([A, { ...A, name: "b" }]));
  move(input(bar, "a"), "2");
  answer(stage, [
    { ...A, entries: [2], moved: true },
    { ...A, name: "b", entries: [2] },
  ]);
  move(input(bar, "a"), "3");
  expect(input(bar, "b").value).toBe("2");
  expect(sent[1]?.what_if).toEqual({ a: [3] });
});

test("a saved page has sliders that do not move", () => {
  const { bar } = shown(contentWith([A], { live: false }));
  expect((bar as HTMLFieldSetElement).disabled).toBe(true);
  expect(words(bar)).toBe("(needs the notebook)");
});
