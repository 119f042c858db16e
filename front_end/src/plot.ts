/** The plot: marks over the picture say where this run of the cell stands on the curves. */
import type { Stage } from "./stage";

/** The face with its marks; whether the table of values is open stays as it is from run to run. */
export function plot(stage: Stage, face: HTMLElement): HTMLElement {
  let open = false;
  const draw = (): void => {
    face.querySelector("svg")?.remove();
    face.querySelector("img")?.insertAdjacentHTML("afterend", stage.content.marks);
    const values = face.querySelector("details");
    if (!values) return;
    values.open = open;
    values.ontoggle = () => {
      open = values.open;
    };
  };
  stage.follow(draw, "content");
  return face;
}
