/** Reports in a notebook: the widget where it is alive, and otherwise what the notebook stored. */
import type { Content } from "./content";
import { h } from "./dom";
import type { Output, Panel, PanelClass, Registry, Renderer, Widget } from "./jupyter";
import { type Model, unpack } from "./model";
import report from "./report";

export const DATA = "application/vnd.tapemagic.report+json";
export const VIEW = "application/vnd.jupyter.widget-view+json";
/** As tapemagic/report/live/notebook_data.py. */
export const VERSION = 1;

/** In milliseconds: how long ipywidgets and then the widget may take before the stored report is drawn. */
const [PATIENCE, LOADING] = [250, 1500];
/** In milliseconds: between two looks for ipywidgets. */
const [SOON, SELDOM] = [100, 2000];

const AGAIN = "Run the cell again to see it.";
const WITHOUT_WIDGET = "Run the cell again, with widgets on, to see it.";
export const NEWER =
  "A newer tapemagic stored this report than the one beside JupyterLab, so it is shown without steps. Update " +
  "tapemagic where JupyterLab is installed and reload the page, or run the cell again.";
export const DAMAGED =
  "The data of this report in the notebook are damaged, so it is shown without steps";

const NOTE =
  "margin: 4px 0; padding: 2px 8px; border-left: 4px solid var(--jp-warn-color1, #b45309)";

/** What a notebook stores, if nobody edited it. */
interface Stored {
  version: unknown;
  content?: unknown;
  answers?: unknown;
}

class NewerError extends Error {}

/** A model without a kernel, which shows what a notebook stores. Throws if that is damaged, or of a newer version. */
export async function modelOf(output: Output): Promise<Model> {
  const { version, content, answers } = (output.data[DATA] ?? {}) as Stored;
  if (Number(version) > VERSION) throw new NewerError(NEWER);
  if (version !== VERSION || typeof content !== "string") throw Error("a part is missing");
  const shown = await unpack<Partial<Content> | null>(content);
  if (!shown?.faces?.length) throw Error("it has no tabs");
  const traits = {
    content: JSON.stringify({ ...shown, live: false }),
    answers: await answersOf(answers),
  };
  return {
    get: (name) => traits[name],
    on: () => undefined,
    off: () => undefined,
    send: () => undefined,
    instead: VIEW in output.data ? AGAIN : WITHOUT_WIDGET,
  };
}

/** The answers to questions; none if they are damaged, since the report is whole without them. */
async function answersOf(packed: unknown): Promise<Record<string, string>> {
  try {
    const answers = Object.entries(await unpack<Record<string, unknown>>(packed as string));
    return Object.fromEntries(answers.map(([question, each]) => [question, JSON.stringify(each)]));
  } catch {
    return {};
  }
}

/** Why a report is shown without steps. */
function reasonOf(error: unknown): string {
  if (error instanceof NewerError) return error.message;
  const words = error instanceof Error ? error.message.slice(0, 200) : "";
  return `${DAMAGED}${words && ` (${words})`}. ${AGAIN}`;
}

/** The registry of the notebook around a widget: ipywidgets gives each its own factory for the widgets of its kernel. */
function registryOf(widget: Widget | null): Registry | undefined {
  if (!widget) return undefined;
  return (widget as { rendermime?: Registry }).rendermime ?? registryOf(widget.parent);
}

/** The class of renderers; `all` is the registry from which notebooks copy theirs, and `css` the style of reports. */
export function rendererClass(Base: PanelClass, all: Registry, css: string): new () => Renderer {
  return class extends Base {
    private output: Output | null = null;
    private timer = 0;
    private since = 0;
    /** The renderer of ipywidgets, once its manager is there. */
    private widget: (Panel & Renderer) | null = null;
    private readonly watch = new MutationObserver(() => {
      this.settle();
    });
    /** The report that was drawn from the stored data, or the static one with the reason. */
    private stored: HTMLElement | null = null;
    private fallback: Renderer | null = null;
    private close: () => void = () => undefined;

    /** JupyterLab calls this before the widget is attached, and again when the output changes. */
    renderModel(output: Output): Promise<void> {
      this.reset();
      this.output = output;
      if (this.isAttached) this.start();
      return Promise.resolve();
    }

    override onAfterAttach(message: unknown): void {
      super.onAfterAttach(message);
      if (this.output) this.start();
    }

    override onBeforeDetach(message: unknown): void {
      clearTimeout(this.timer); // a cell that is scrolled out of sight is detached
      super.onBeforeDetach(message);
    }

    override dispose(): void {
      this.reset();
      super.dispose();
    }

    private reset(): void {
      clearTimeout(this.timer);
      this.watch.disconnect();
      this.erase();
      this.widget?.dispose();
      this.widget = null;
    }

    private start(): void {
      this.since = performance.now();
      this.look(SOON);
    }

    /** Look whether ipywidgets has a manager for this notebook; its placeholder in `all` would wait for ever. */
    private look(pause: number): void {
      clearTimeout(this.timer);
      if (!this.output || this.isDisposed || this.widget) return;
      const isWidget = VIEW in this.output.data;
      const registry = registryOf(this);
      const factory = registry?.getFactory(VIEW);
      if (isWidget && registry && factory && factory !== all.getFactory(VIEW)) {
        void this.delegate(registry, this.output);
        return;
      }
      if (!isWidget || performance.now() - this.since >= PATIENCE) void this.draw();
      if (isWidget)
        this.timer = setTimeout(() => {
          this.look(Math.min(2 * pause, SELDOM));
        }, pause);
    }

    /** Let ipywidgets show the widget, if it is alive. */
    private async delegate(registry: Registry, output: Output): Promise<void> {
      const inner = registry.createRenderer(VIEW) as Panel & Renderer;
      this.widget = inner;
      inner.hide();
      this.addWidget(inner);
      // a manager that is restored later renders again by itself
      this.watch.observe(inner.node, { childList: true });
      this.timer = setTimeout(() => {
        this.settle();
      }, LOADING);
      await inner.renderModel(output).catch(() => undefined);
      this.settle();
    }

    /** Show the widget while it is alive, and otherwise what is stored. */
    private settle(): void {
      const { widget } = this;
      if (!widget || widget.isDisposed) return;
      if (widget.widgets.length > 0) {
        widget.show();
        this.erase();
      } else {
        widget.hide();
        void this.draw();
      }
    }

    /** Remove what was drawn from the stored data. */
    private erase(): void {
      this.close();
      this.close = () => undefined;
      this.fallback?.dispose();
      this.stored?.remove();
      this.fallback = this.stored = null;
    }

    private async draw(): Promise<void> {
      const { output } = this;
      if (!output || this.stored) return;
      const place = (this.stored = h("div"));
      this.node.append(place);
      try {
        const model = await modelOf(output);
        if (this.stored !== place) return;
        addStyle(css);
        const close = await report.render({ model, el: place });
        // it may have been erased meanwhile
        if (this.stored === place) this.close = close;
        else close();
      } catch (error) {
        if (this.stored === place) this.drawStatic(place, output, reasonOf(error));
      }
    }

    /** Show the static report, below the reason. */
    private drawStatic(place: HTMLElement, output: Output, reason: string): void {
      place.replaceChildren(h("p", { role: "note", style: NOTE }, reason));
      const kind = ["text/html", "text/plain"].find((each) => each in output.data);
      if (!kind) return;
      this.fallback = (registryOf(this) ?? all).createRenderer(kind);
      this.addWidget(this.fallback);
      void this.fallback.renderModel(output);
    }
  };
}

/** Add the style of reports to the page, once. */
function addStyle(css: string): void {
  const id = "tapemagic-style";
  if (!document.getElementById(id)) document.head.append(h("style", { id }, css));
}
