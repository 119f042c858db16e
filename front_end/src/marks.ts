/** The parts of a picture that stand for values, operations and edges. */

import type { Step } from "./content";

/** An edge between a value and an operation. */
export interface Edge {
  group: Element;
  value: number;
  operation: number;
  /** Whether it leads into the operation. */
  isInput: boolean;
}

export interface Parts {
  /** For each value its boxes: one beside each operation that reads it, if there are many. */
  values: Element[][];
  operations: Element[][];
  edges: Edge[];
}

/** The groups of a picture: data-n="n1" is a value, "s2" an operation, and data-e="n1 s2" an edge. */
export function partsOf(picture: Element): Parts {
  const parts: Parts = { values: [], operations: [], edges: [] };
  for (const group of picture.querySelectorAll("[data-n]")) {
    const name = group.getAttribute("data-n") ?? "";
    const list = name.startsWith("n") ? parts.values : parts.operations;
    (list[indexOf(name)] ??= []).push(group);
  }
  for (const group of picture.querySelectorAll("[data-e]")) {
    const [from = "", to = ""] = (group.getAttribute("data-e") ?? "").split(" ");
    const isInput = from.startsWith("n");
    const [value, operation] = (isInput ? [from, to] : [to, from]).map(indexOf);
    parts.edges.push({ group, value: value ?? -1, operation: operation ?? -1, isInput });
  }
  return parts;
}

/** The number in the name of a node: "n12", or "n12_3_0" for the box of a value that is repeated. */
function indexOf(name: string): number {
  return parseInt(name.slice(1));
}

/** Give each of several elements a class, or take it away. */
export function mark(elements: Iterable<Element> | undefined, name: string, on: boolean): void {
  for (const element of elements ?? []) element.classList.toggle(name, on);
}

/** Give elements the colour of a direction. */
export function direct(elements: Iterable<Element>, step: Step | null): void {
  mark(elements, "tm-forward", step?.reverse === false);
  mark(elements, "tm-reverse", step?.reverse === true);
}
