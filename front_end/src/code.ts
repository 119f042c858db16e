/** The derivatives as a program, which the kernel writes when the tab is opened; the lines of the step light up. */
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
  let shown = "";
  let run = stage.content;
  const follow = (): void => {
    const { operation, reverse, row } = stage.now ?? {};
    const lit = reverse ? `${parseInt(row ?? "")}.${operation}` : operation;
    mark(face.querySelectorAll("[data-k]"), { now: false });
    mark(face.querySelectorAll(`[data-k~="${lit}"]`), { now: true });
  };
  const renew = async (): Promise<void> => {
    const { content, tab, view } = stage;
    const question = questionOf(view?.opened ?? {}).replace("view", "code");
    if (tab !== "Code" || (shown === question && run === content)) return;
    shown = question;
    run = content;
    const made = page("");
    face.replaceChildren(made);
    const isFirst = question === "code:{}";
    // without a kernel, nobody can tell to what else its lines belong
    const html = isFirst ? given() : content.live ? "" : given().replace(/ data-k="[^"]*"/g, "");
    await fill(made, async (say) => html || ask<string>(question, say));
    follow();
  };
  stage.on("step", follow);
  stage.follow(() => void renew(), "content", "view", "tab");
  return face;
}
