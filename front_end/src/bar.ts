/** The bar under the picture: sizes, and copies. */
import { button, h } from "./dom";
import { copy, savePng, saveSvg, standalone } from "./exports";
import type { Stage } from "./stage";
import type { Zoom } from "./zoom";

/** Steps of the size. */
export const LARGER = 1.25;

/** `status` is the place for words; it is the first in the bar. */
export function bar(
  stage: Stage,
  sheet: HTMLElement,
  zoom: Zoom,
  status: HTMLElement,
): HTMLElement {
  const picture = (): string => standalone(stage.view?.svg ?? "", sheet);
  const actions: [string, string, () => unknown][] = [
    [
      "−",
      "Smaller",
      () => {
        zoom.by(1 / LARGER);
      },
    ],
    [
      "+",
      "Larger",
      () => {
        zoom.by(LARGER);
      },
    ],
    [
      "Fit",
      "Show the whole graph",
      () => {
        zoom.by(0);
      },
    ],
    [
      "Save SVG",
      "Save the whole graph, without highlights",
      () => {
        saveSvg(picture());
      },
    ],
    [
      "Save PNG",
      "Save the whole graph, without highlights",
      () =>
        savePng(picture()).catch(() => {
          status.textContent = "The browser cannot draw a PNG of this size: save it as SVG.";
        }),
    ],
    ["Copy DOT", "Copy the source of the graph", () => copy(stage.view?.dot ?? "", status)],
  ];
  const buttons = actions.map(([words, title, act]) =>
    button(words, {
      title,
      onclick: () => {
        status.textContent = "";
        void act();
      },
    }),
  );
  const element = h("div", { class: "tm-bar" }, status, ...buttons);
  const draw = (): void => {
    element.hidden = stage.tab !== "Graph" || !stage.view;
    for (const each of buttons.slice(0, -1)) each.hidden = !stage.view?.svg;
  };
  stage.follow(draw, "tab", "view");
  return element;
}
