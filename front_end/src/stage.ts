/** The state of a report on the screen, and who wants to hear of its changes. */
import type { Content, Step, View } from "./content";
import type { Model } from "./model";

export type Change = "content" | "view" | "step" | "selection" | "tab";

export class Stage {
  content: Content;
  /** The layout of the graph that is shown. */
  view: View | null;
  /** The number of steps done: with all of them done, everything is shown. */
  step: number;
  /** Whether nobody has stepped yet: no step is lit up then. */
  rests = true;
  /** What is selected: "n3" is a value, "s2" an operation, as in the picture. */
  selected: string | null = null;
  /** The title of the open tab. */
  tab: string;
  /** The beginning of the ids of elements: a page may hold several reports, each with a copy of this module. */
  readonly id = `tm${Math.random().toString(36).slice(2)}`;
  private readonly listeners: [Change, () => void][] = [];

  constructor(
    readonly model: Model,
    content: Content,
  ) {
    this.content = content;
    this.view = content.view;
    this.step = this.last;
    this.tab = this.content.first;
  }

  /** The number of all steps. */
  get last(): number {
    return this.view?.steps.length ?? 0;
  }

  /** The step that was done last; null before the first one, and if nobody has stepped yet. */
  get now(): Step | null {
    return this.rests ? null : (this.view?.steps[this.step - 1] ?? null);
  }

  on(change: Change, listener: () => void): void {
    this.listeners.push([change, listener]);
  }

  /** Call a listener now, and after each of some changes. */
  follow(listener: () => void, ...changes: Change[]): void {
    for (const change of changes) this.on(change, listener);
    listener();
  }

  private tell(change: Change): void {
    for (const [wanted, listener] of this.listeners) if (wanted === change) listener();
  }

  goTo(step: number): void {
    this.step = Math.max(0, Math.min(this.last, step));
    this.rests = false;
    this.tell("step");
  }

  select(mark: string | null): void {
    this.selected = mark;
    this.tell("selection");
  }

  openTab(title: string): void {
    this.tab = title;
    this.tell("tab");
  }

  /** Show another layout of the same recording. */
  show(view: View | null): void {
    this.lay(view);
    this.selected = null;
    this.tell("view");
  }

  /** Show another run of the cell: what the reader chose stays, as far as it still exists. */
  replace(content: Content, view = content.view): void {
    this.content = content;
    this.lay(view);
    if (!this.exists(this.selected)) this.selected = null;
    this.tell("content");
    this.tell("view");
  }

  private exists(mark: string | null): boolean {
    const all = mark?.startsWith("n") ? this.view?.values : this.view?.operations;
    return Number(mark?.slice(1)) < (all?.length ?? 0);
  }

  private lay(view: View | null): void {
    const isDone = this.step === this.last;
    this.view = view;
    this.step = isDone ? this.last : Math.min(this.step, this.last);
  }
}
