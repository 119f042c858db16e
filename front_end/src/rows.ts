/** Trace and lines, after some of the steps. */
import { page, reveal } from "./dom";
import { direct, mark } from "./marks";
import type { Stage } from "./stage";
import { rowOf, type Timeline, timelineOf } from "./timeline";

/** The trace: the row of the step lights up, and what is not reached yet is quiet. */
export function trace(stage: Stage): HTMLElement {
  const made = page("tm-trace");
  let timeline: Timeline | null = null;
  let rows: HTMLElement[] = [];
  const follow = (): void => {
    const { step, now } = stage;
    const lit = now && rowOf(now);
    for (const row of rows) {
      const name = row.dataset["r"] ?? row.dataset["a"];
      mark([row], "tm-unknown", step < (timeline?.rows.get(name ?? "") ?? 0));
      mark([row], "tm-now", name === lit);
      const part = row.closest("details");
      if (part && name === lit) part.open = true;
    }
    direct([made], now);
    if (stage.tab === "Trace") reveal(made.querySelector(".tm-now"));
  };
  const draw = (): void => {
    const open = [...made.querySelectorAll("details")].map((part) => part.open);
    made.innerHTML = stage.view?.trace ?? "";
    made.querySelectorAll("details").forEach((part, k) => {
      part.open = open[k] ?? part.open;
    });
    timeline = stage.view && timelineOf(stage.view);
    rows = [...made.querySelectorAll<HTMLElement>("[data-r], [data-a]")];
    follow();
  };
  stage.on("view", draw);
  stage.on("step", follow);
  stage.on("tab", follow);
  draw();
  return made;
}

/** The lines of the cell: those of the step light up. */
export function lines(stage: Stage, face: HTMLElement): HTMLElement {
  const follow = (): void => {
    const [first, last] = stage.now?.lines ?? [0, -1];
    for (const line of face.querySelectorAll<HTMLElement>("[data-l]")) {
      const number = Number(line.dataset["l"]);
      mark([line], "tm-now", first <= number && number <= last);
    }
    direct([face], stage.now);
    if (stage.tab === "Lines") reveal(face.querySelector(".tm-now"));
  };
  stage.on("view", follow);
  stage.on("step", follow);
  stage.on("tab", follow);
  follow();
  return face;
}
