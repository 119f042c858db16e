/** Folds and frames of the graph, opened and closed in place. */
import type { Frame, Opened, Operation, View } from "./content";
import { button, h } from "./dom";
import type { Questions } from "./questions";
import type { Stage } from "./stage";
import type { Zoom } from "./zoom";

/** The question for a view: the same for the same openings, in whatever order they were made. */
export function questionOf(opened: Opened): string {
  return `view:${JSON.stringify(Object.fromEntries(Object.entries(opened).sort()))}`;
}

/** The question for the view of another run that is open where this one is; empty if it is the first view. */
export function reopening({ view }: Stage): string {
  return Object.keys(view?.opened ?? {}).length ? questionOf(view?.opened ?? {}) : "";
}

function parsed(question: string): Opened {
  return JSON.parse(question.slice(5)) as Opened;
}

/** The openings after one more; what is as it was at first is not among them. */
export function withOpening(opened: Opened, key: string, number: number, first: View): Opened {
  const frame = first.frames.find(({ fold }) => fold === key);
  const isFold = first.operations.some(({ fold }) => fold === key);
  const before = frame ? (frame.iteration?.[0] ?? 1) : isFold ? 0 : -1;
  const others = Object.entries(opened).filter(([other]) => other !== key);
  if (number !== before) others.push([key, number]);
  return Object.fromEntries(others);
}

/** The element, in a view, of the frame of a part, or of the first oval that stands for it. */
export function nameOfFold({ frames, operations }: View, key: string): string {
  const isIt = ({ fold }: { fold: string }): boolean => fold === key;
  const frame = frames.findIndex(isIt);
  return frame < 0 ? `[data-n="s${operations.findIndex(isIt)}"]` : `[data-c="${frame}"]`;
}

export interface Openings {
  /** Open a fold: of a loop, the first iteration in it. */
  unfold: (operation: Operation | undefined) => void;
  /** Lay the controls over the picture. */
  pin: (view: View, zoom: Zoom) => void;
}

/** The views that were laid out already, and the way to others; `show` shows one, `say` tells of waiting and failure. */
export function openingsOf(
  stage: Stage,
  { ask }: Questions,
  show: (view: View, key: string) => void,
  say: (words: string) => void,
): Openings {
  const views = new Map<string, View>();
  let content = stage.content;
  let wanted = "";
  const open = async (key: string, number: number): Promise<void> => {
    if (content !== stage.content) views.clear();
    const run = (content = stage.content);
    if (!stage.view || !run.view) return;
    for (const view of [run.view, stage.view]) views.set(questionOf(view.opened), view);
    const question = questionOf(withOpening(stage.view.opened, key, number, run.view));
    wanted = question;
    const later = setTimeout(say, 150, "…");
    let words = "";
    try {
      const view = views.get(question) ?? (await ask<View>(question, say));
      if (run !== stage.content) return;
      views.set(question, view);
      if (wanted === question) show(view, key);
    } catch (error) {
      words = (error as Error).message + held(key, number);
    } finally {
      clearTimeout(later);
    }
    if (wanted === question) say(words);
  };
  /** The iterations of a loop to which there are answers already, if there is no kernel. */
  const held = (key: string, number: number): string => {
    const { content, model, view } = stage;
    if (content.live || !number || !view || !content.view) return "";
    const found = [];
    for (const question of Object.keys(model.get("answers"))) {
      const other = question.startsWith("view:") ? parsed(question)[key] : 0;
      if (other && question === questionOf(withOpening(view.opened, key, other, content.view)))
        found.push(other);
    }
    return found.length ? ` It holds iterations ${found.sort((a, b) => a - b).join(", ")}.` : "";
  };
  const unfold = (operation: Operation | undefined): void => {
    if (operation?.fold) void open(operation.fold, operation.iterations?.[0] ?? 1);
  };
  const closer = ({ fold, iteration, label }: Frame): (Node | string)[] => {
    const close = button("−", {
      "aria-label": `Close ${label}`,
      onclick: () => void open(fold, 0),
    });
    if (!iteration) return [close];
    const [value, max] = iteration;
    const style = `width: ${String(max).length + 3}ch`;
    const field = h("input", {
      ...{ type: "number", min: 1, max, value, style, "aria-label": "iteration" },
      onchange: () => {
        const number = Math.max(1, Math.min(max, Math.round(field.valueAsNumber || value)));
        // if another is opened, there is another field
        field.value = String(value);
        // not before the Tab key has moved the focus on
        if (number !== value) setTimeout(() => void open(fold, number));
      },
    });
    const [before = "iteration "] = label.split(/[\d,]+ of [\d,]+$/);
    return [before, field, ` of ${max.toLocaleString("en")} `, close];
  };
  return {
    unfold,
    pin: (view, zoom) => {
      const pin = (name: string, fold: string, ...parts: (Node | string)[]): void => {
        const isTitle = parts.length > 1;
        const kind = `tm-control${isTitle ? " tm-title" : ""}`;
        zoom.pin(h("span", { class: kind, "data-fold": fold }, ...parts), name, isTitle);
      };
      view.operations.forEach((operation, k) => {
        if (!operation.fold) return;
        const opener = button("+", {
          "aria-label": `Open ${operation.name}`,
          tabindex: -1, // by keyboard, the node itself opens
          onclick: () => {
            unfold(operation);
          },
        });
        pin(`[data-n="s${k}"]`, operation.fold, opener);
      });
      view.frames.forEach((frame, k) => {
        if (frame.fold) pin(`[data-c="${k}"]`, frame.fold, ...closer(frame));
      });
    },
  };
}
