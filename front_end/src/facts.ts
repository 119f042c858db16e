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

/** What a screen reader says of a box or an oval. */
export function labelOf(view: View, mark: Mark): string {
  const value = valueOf(view, mark);
  const operation = operationOf(view, mark);
  if (operation) return operation.tip + (operation.fold && ": Enter opens it");
  if (!value) return "";
  const gradient = value.gradient && `gradient ${value.gradient}`;
  const role = value.role !== "intermediate" && value.role;
  return [value.name, `value ${value.text}`, gradient, role].filter(Boolean).join(", ");
}

/** Pairs of a heading and words. */
export function factsOf(view: View, flow: Flow, mark: Mark): [string, string][] {
  const value = valueOf(view, mark);
  const operation = operationOf(view, mark);
  const made = flow.before(mark).map((each) => operationOf(view, each)?.tip);
  const lines = operation?.lines ?? [value?.line, value?.line];
  const facts = {
    role: value?.role,
    formula: value?.formula,
    operation: operation?.tip ?? made.join("\n"),
    value: value?.text,
    gradient: value?.gradient,
    type: value?.type,
    line: [...new Set(lines)].join("–"),
  };
  return Object.entries(facts).filter((fact): fact is [string, string] => Boolean(fact[1]));
}
