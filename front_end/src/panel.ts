/** The details of what is selected. */
import type { View } from "./content";
import { h, page } from "./dom";
import { factsOf, nameOf, valueOf } from "./facts";
import type { Flow, Mark } from "./paths";

const MOST_NAMES = 12;

/** Name and facts, what it was computed from and is used for, and in `full`, what the kernel tells more. */
export function detailsOf(view: View, flow: Flow, mark: Mark, full: HTMLElement): Node[] {
  const names = (marks: Set<Mark>): string => {
    const all = [...marks].filter((each) => valueOf(view, each)).map((each) => nameOf(view, each));
    const more = all.length - MOST_NAMES;
    return (more > 1 ? [...all.slice(0, MOST_NAMES), `${more} more`] : all).join(", ");
  };
  const facts = [
    ...factsOf(view, flow, mark),
    ["computed from", names(flow.up(mark)), "tm-up"],
    ["used for", names(flow.down(mark)), "tm-down"],
  ];
  const terms = facts.flatMap(([name = "", words = "", kind = ""]) =>
    words ? [h("dt", { class: kind }, name), h("dd", { class: kind }, words)] : [],
  );
  return [h("b", {}, nameOf(view, mark)), h("dl", {}, ...terms), full];
}

/** Show the answer to a question as soon as it is there, and until then that it is waited for. */
export async function fill(
  element: HTMLElement,
  ask: (say: (words: string) => void) => Promise<string>,
): Promise<void> {
  const say = (words: string): void => {
    element.textContent = words;
  };
  const later = setTimeout(say, 150, "…");
  try {
    element.replaceChildren(page("tm-full", await ask(say)));
  } catch (error) {
    say((error as Error).message);
  }
  clearTimeout(later);
}
