/** Trace and lines, after some of the steps. */
import { page } from "./dom";
import { mark } from "./marks";
import type { Stage } from "./stage";
import { rowOf, type Timeline, timelineOf } from "./timeline";

/** The trace: the row of the step, or its equation, lights up, and what is not reached yet is quiet. */
export function trace(stage: Stage): HTMLElement {
  const made = page("tm-trace");
  let timeline: Timeline | null = null;
  const follow = (): void => {
    const { step, last, now } = stage;
    const lit = now && rowOf(now);
    for (const row of made.querySelectorAll<HTMLElement>("[data-r],[data-a]")) {
      const { r, a = "" } = row.dataset;
      const rows = timeline?.rows;
      const k = r ? rows?.get(r) : (rows?.get(a) ?? rows?.get(a.replace(/\d+$/, "")) ?? last);
      const isLit = (r ?? a) === lit;
      mark([row], { unknown: step < (k ?? 0), now: isLit });
      const part = row.closest("details");
      if (part && isLit) part.open = true;
    }
  };
  const draw = (): void => {
    const open = [...made.querySelectorAll("details")].map((part) => part.open);
    made.innerHTML = stage.view?.trace ?? "";
    made.querySelectorAll("details").forEach((part, k) => {
      part.open = open[k] ?? part.open;
    });
    timeline = stage.view && timelineOf(stage.view);
    follow();
  };
  stage.on("step", follow);
  stage.follow(draw, "view");
  return made;
}

/** The lines of the cell: those of the step light up. */
export function lines(stage: Stage, face: HTMLElement): HTMLElement {
  const follow = (): void => {
    const [first, last] = stage.now?.lines ?? [1, 0];
    for (const line of face.querySelectorAll<HTMLElement>("[data-l]")) {
      const number = Number(line.dataset["l"]);
      mark([line], { now: first <= number && number <= last });
    }
  };
  stage.follow(follow, "view", "step");
  return face;
}
