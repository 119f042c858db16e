/** The derivatives as a program, which the kernel writes when the tab is opened; the lines of the step light up. */
import type { View } from "./content";
import { page } from "./dom";
import { mark } from "./marks";
import { questionOf } from "./opening";
import { fill } from "./panel";
import { questionsOf } from "./questions";
import type { Stage } from "./stage";

/** The program; `given` is that beside the first layout of the graph, if it came with the report. */
export function code(stage: Stage, given: () => string): HTMLElement {
  const { ask } = questionsOf(stage);
  const face = page("tm-face");
  let shown: View | null = null;
  const follow = (): void => {
    for (const line of face.querySelectorAll("[data-k]"))
      mark([line], { now: !!stage.now && line.matches(`[data-k~="${stage.step}"]`) });
  };
  const renew = (): void => {
    const { tab, view } = stage;
    if (tab !== "Code" || shown === view) return;
    shown = view;
    const question = questionOf(view?.opened ?? {}).replace("view", "code");
    const made = page("");
    face.replaceChildren(made);
    const html = question === "code:{}" && given();
    void fill(made, async (say) => html || ask<string>(question, say)).then(follow);
  };
  stage.follow(renew, "view", "tab");
  stage.on("step", follow);
  return face;
}
