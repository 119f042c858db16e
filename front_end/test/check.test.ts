// @vitest-environment happy-dom
import { expect, test, vi } from "vitest";
import { check } from "../src/check";
import type { Content } from "../src/content";
import { page } from "../src/dom";
import type { Model } from "../src/model";
import { Stage } from "../src/stage";
import { contentOf } from "./samples";

async function packed(data: unknown): Promise<string> {
  const stream = new Blob([JSON.stringify(data)]).stream();
  const deflated = stream.pipeThrough(new CompressionStream("deflate"));
  const bytes = new Uint8Array(await new Response(deflated).arrayBuffer());
  return btoa(String.fromCharCode(...bytes));
}

/** The gradients with their button, and a kernel that gives an answer when it is told to. */
function sample(more: Partial<Content> = {}) {
  const answers: Record<string, string> = {};
  const listeners = new Set<(message: unknown) => void>();
  const send = vi.fn();
  const model: Model = {
    get: (() => answers) as Model["get"],
    on: (_, listener) => void listeners.add(listener),
    off: (_, listener) => void listeners.delete(listener),
    send,
  };
  const content = { ...contentOf(null), unchecked: true, ...more };
  const stage = new Stage(model, content);
  const made = check(stage, page("tm-face", "plain"), () => "plain");
  const answer = async (data: unknown): Promise<void> => {
    answers["check"] = await packed(data);
    for (const listener of [...listeners]) listener(null);
  };
  const words = (): string => made.querySelector("[role=status]")?.textContent ?? "";
  const face = (): string => made.querySelector(".tm-face")?.innerHTML ?? "";
  return { stage, content, send, made, answer, words, face, button: made.querySelector("button") };
}

test("the button asks, and shows the answer in the place of the gradients", async () => {
  const { send, answer, words, face, button } = sample();
  button?.click();
  await vi.waitFor(() => {
    expect(send).toHaveBeenCalledWith({ ask: "check" });
  });
  expect(words()).toBe("Checking …");

  await answer({ words: "✓ All agree.", html: "<b>agrees</b>" });
  await vi.waitFor(() => {
    expect(words()).toBe("✓ All agree.");
  });
  expect(face()).toBe("<b>agrees</b>");
});

test("an answer that comes after another run is dropped", async () => {
  const { stage, content, answer, words, face, button } = sample();
  button?.click();
  await Promise.resolve();
  stage.replace({ ...content, number: 1 });
  expect(words()).toBe("");

  await answer({ words: "✓ All agree.", html: "<b>agrees</b>" });
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(words()).toBe("");
  expect(face()).toBe("plain");
});

test("errors are told, and nothing is read as HTML", async () => {
  const { answer, words, face, button, made } = sample();
  button?.click();
  await Promise.resolve();
  await answer({ error: "<i>not kept</i>" });
  await vi.waitFor(() => {
    expect(words()).toBe("<i>not kept</i>");
  });
  expect(made.querySelector("i")).toBeNull();
  expect(face()).toBe("plain");
});

test("a saved page without the answer says so", async () => {
  const { words, button, send } = sample({ live: false });
  button?.click();
  await vi.waitFor(() => {
    expect(words()).toContain("saved page");
  });
  expect(send).not.toHaveBeenCalled();
});

test("there is no button where there is nothing to compare", () => {
  const { made } = sample({ unchecked: false });
  expect((made.firstElementChild as HTMLElement).hidden).toBe(true);
});
