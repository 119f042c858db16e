/** The parts of a picture that stand for values, operations and edges. */

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
  values: SVGElement[][];
  operations: SVGElement[][];
  edges: Edge[];
}

/** The groups of a picture: data-n="n1" is a value, "s2" an operation, and data-e="n1 s2" an edge. */
export function partsOf(picture: Element): Parts {
  const parts: Parts = { values: [], operations: [], edges: [] };
  for (const group of picture.querySelectorAll<SVGElement>("[data-n],[data-e]")) {
    const names = (group.dataset["n"] ?? group.dataset["e"] ?? "").split(" ");
    // "n12" is a value, and "n12_3_0" its box beside the operation 3
    const [value = -1, operation = -1] = ["n", "s"].map((letter) => {
      const name = names.find((each) => each.startsWith(letter));
      return name && parseInt(name.slice(1));
    }) as number[];
    if (names[1]) {
      parts.edges.push({ group, value, operation, isInput: names[0]?.[0] === "n" });
    } else if (value < 0) {
      (parts.operations[operation] ??= []).push(group);
    } else {
      (parts.values[value] ??= []).push(group);
    }
  }
  return parts;
}

/** Give elements the classes that hold, and take away those that do not. */
export function mark(elements: Iterable<Element>, classes: Record<string, boolean>): void {
  for (const element of elements) {
    for (const [name, holds] of Object.entries(classes)) {
      element.classList.toggle(`tm-${name}`, holds);
    }
  }
}
