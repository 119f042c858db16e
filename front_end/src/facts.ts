/** Words on values and operations. */
import type { Operation, Value, View } from "./content";
import type { Flow, Mark } from "./paths";

export function valueOf(view: View, mark: Mark): Value | undefined {
  return mark.startsWith("n") ? view.values[Number(mark.slice(1))] : undefined;
}

export function operationOf(view: View, mark: Mark): Operation | undefined {
  return mark.startsWith("s") ? view.operations[Number(mark.slice(1))] : undefined;
}

/** The name; of a constant the number. */
export function nameOf(view: View, mark: Mark): string {
  const value = valueOf(view, mark);
  return (value ? value.name || value.text : operationOf(view, mark)?.name) ?? "";
}

/** Heading and words; those that the value in full tells again have a class. */
export type Fact = [name: string, words: string, kind?: string];

export function factsOf(view: View, flow: Flow, mark: Mark): Fact[] {
  const value = valueOf(view, mark);
  const operation = operationOf(view, mark);
  const made = flow.before(mark).map((each) => operationOf(view, each));
  const [first, last] = operation?.lines ?? [];
  const facts: [string, string | number | null | undefined, string?][] = [
    ["role", value?.role],
    ["formula", value?.formula],
    [
      "operation",
      operation
        ? rule(operation)
        : made.map((each) => each?.tip.replaceAll("; ∂", "\n∂")).join("\n"),
    ],
    ["value", value?.text, "tm-short"],
    ["gradient", value?.gradient, "tm-short"],
    ["type", value?.type, "tm-short"],
    ["line", value?.line],
    ["lines", first === last ? "" : `${first} to ${last}`],
  ];
  return facts.flatMap(([name, words, kind = ""]) => (words ? [[name, String(words), kind]] : []));
}

/** What is told of an operation beside its name. */
function rule({ name, tip }: Operation): string {
  return tip.replace(`${name}; `, "").replaceAll("; ∂", "\n∂");
}
