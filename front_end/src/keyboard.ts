/** The graph by keyboard: one stop of the Tab key, and arrows that follow the data. */
import type { View } from "./content";
import { operationOf } from "./facts";
import type { Flow, Mark } from "./paths";

/** To what an arrow key leads; neighbours are in the order of their places on the screen. */
export function along(
  flow: Flow,
  mark: Mark,
  key: string,
  down: boolean,
  place: (mark: Mark) => number,
): Mark | undefined {
  const keys = ["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown"];
  const way = down ? keys.indexOf(key) ^ 2 : keys.indexOf(key);
  if (way === 0) return flow.before(mark)[0];
  if (way === 1) return flow.after(mark)[0];
  const beside = flow.beside(mark).sort((a, b) => place(a) - place(b));
  return beside[beside.indexOf(mark) + (way === 2 ? -1 : 1)];
}

/** Make the boxes and ovals of a picture buttons. */
export function enable(sheet: HTMLElement): void {
  const svg = sheet.querySelector("svg");
  svg?.setAttribute("role", "group");
  svg?.setAttribute("aria-label", "Graph: arrow keys follow the data, Enter selects");
  for (const node of nodesOf(sheet)) {
    node.tabIndex = -1;
    node.setAttribute("role", "button");
    // without spaces, the texts that are seen would be one word, and so not those of the label
    for (const text of node.querySelectorAll("text")) text.after(" ");
  }
}

/** Name them: by the texts that they show now; an operation, which shows a symbol, by its rule. */
export function label(sheet: HTMLElement, view: View): void {
  for (const node of nodesOf(sheet)) {
    const operation = operationOf(view, node.dataset["n"] ?? "");
    const texts = [...node.querySelectorAll("text")]
      .filter((text) => getComputedStyle(text).visibility !== "hidden")
      .map((text) => text.textContent)
      .join(", ");
    const fold = operation?.fold ? ": Enter opens it" : "";
    node.setAttribute("aria-label", operation && !fold ? operation.tip : texts + fold);
  }
}

function nodesOf(sheet: HTMLElement): NodeListOf<SVGElement> {
  return sheet.querySelectorAll("[data-n]");
}
