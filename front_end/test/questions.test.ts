// @vitest-environment happy-dom
import { expect, test, vi } from "vitest";
import type { Model } from "../src/model";
import { questionsOf, SAVED, SILENT } from "../src/questions";
import { Stage } from "../src/stage";
import { contentOf, viewOf } from "./samples";

vi.mock("../src/model", () => ({
  unpack: (text: string): Promise<unknown> => Promise.resolve(JSON.parse(text)),
}));

class Kernel implements Model {
  answers: Record<string, string> = {};
  readonly sent: unknown[] = [];
  readonly listeners: ((message: unknown) => void)[] = [];

  get(name: "content" | "answers"): never {
    return (name === "answers" ? this.answers : "") as never;
  }
  on(_: string, listener: (message: unknown) => void): void {
    this.listeners.push(listener);
  }
  off(_: string, listener: (message: unknown) => void): void {
    const place = this.listeners.indexOf(listener);
    if (place >= 0) this.listeners.splice(place, 1);
  }
  send(message: unknown): void {
    this.sent.push(message);
  }
  answer(question: string, answer: unknown): void {
    this.answers = { ...this.answers, [question]: JSON.stringify(answer) };
    for (const listener of [...this.listeners]) listener(undefined);
  }
}

function asked(live = true): { kernel: Kernel; questions: ReturnType<typeof questionsOf> } {
  const kernel = new Kernel();
  const stage = new Stage(kernel, { ...contentOf(viewOf(0)), live });
  return { kernel, questions: questionsOf(stage) };
}

const ignore = (): void => undefined;

test("several questions wait at once, and nothing listens when all are answered", async () => {
  const { kernel, questions } = asked();
  const both = [questions.ask("value:a", ignore), questions.ask("value:b", ignore)];
  await Promise.resolve();
  expect(kernel.sent).toEqual([{ ask: "value:a" }, { ask: "value:b" }]);
  expect(kernel.listeners.length).toBe(1);
  kernel.answer("value:b", "B");
  expect(kernel.listeners.length).toBe(1);
  kernel.answer("value:a", "A");
  expect(kernel.listeners.length).toBe(0);
  expect(await Promise.all(both)).toEqual(["A", "B"]);
});

test("an answer that is there is not asked for, even on a saved page", async () => {
  const { kernel, questions } = asked(false);
  kernel.answer("value:a", "A");
  expect(await questions.ask("value:a", ignore)).toBe("A");
  expect(kernel.sent).toEqual([]);
  await expect(questions.ask("value:b", ignore)).rejects.toThrow(SAVED);
});

test("an error is thrown in its own words", async () => {
  const { kernel, questions } = asked();
  kernel.answer("value:a", { error: "It is <gone>." });
  await expect(questions.ask("value:a", ignore)).rejects.toThrow("It is <gone>.");
});

test("of a silent kernel one hears after a while, and a late answer is still an answer", async () => {
  vi.useFakeTimers();
  const { kernel, questions } = asked();
  const words: string[] = [];
  const answer = questions.ask("value:a", (each) => words.push(each));
  await vi.advanceTimersByTimeAsync(3900);
  expect(words).toEqual([]);
  await vi.advanceTimersByTimeAsync(200);
  expect(words).toEqual([SILENT]);
  vi.useRealTimers();
  kernel.answer("value:a", "late");
  expect(await answer).toBe("late");
});

test("without a kernel to ask, a notebook says what to do", async () => {
  const { kernel, questions } = asked(false);
  Object.assign(kernel, { instead: "Run the cell." });
  await expect(questions.ask("value:a", ignore)).rejects.toThrow("Run the cell.");
  expect(kernel.sent).toEqual([]);
});
