/** The button that checks the gradients by finite differences. */
import type { Check } from "./content";
import { button, h } from "./dom";
import { questionsOf } from "./questions";
import type { Stage } from "./stage";

/** The gradients, behind a button that puts their comparison in their place; `plain` reads them without it. */
export function check(stage: Stage, face: HTMLElement, plain: () => string): HTMLElement {
  const questions = questionsOf(stage);
  let run = stage.content;
  const say = (text: string): void => {
    words.textContent = text;
  };
  const compare = async (): Promise<void> => {
    const asked = run;
    say("Checking …");
    try {
      const found = await questions.ask<Check>("check", say);
      if (asked !== run) return;
      say(found.words);
      face.innerHTML = found.html;
    } catch (error) {
      if (asked === run) say((error as Error).message);
    }
  };
  const words = h("span", { role: "status" });
  const start = button("Check by finite differences", {
    class: "tm-check",
    onclick: () => void compare(),
  });
  const bar = h("div", {}, start, " ", words);
  const renew = (): void => {
    run = stage.content;
    bar.hidden = !run.unchecked;
    say("");
    face.innerHTML = plain();
  };
  stage.follow(renew, "content");
  return h("div", {}, bar, face);
}
