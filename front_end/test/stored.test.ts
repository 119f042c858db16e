// @vitest-environment happy-dom
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { Output, Panel, Registry, Renderer, Widget } from "../src/jupyter";
import { DAMAGED, DATA, modelOf, NEWER, rendererClass, VERSION, VIEW } from "../src/stored";
import { contentOf, viewOf } from "./samples";

const CSS = ".tapemagic { color: red }";

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
  vi.stubGlobal(
    "ResizeObserver",
    class {
      observe(): void {}
      disconnect(): void {}
    },
  );
});
afterEach(() => {
  vi.useRealTimers();
  document.body.replaceChildren();
});

/** What Lumino does with widgets, as far as the renderer can see it. */
class Node implements Panel {
  readonly node = document.createElement("div");
  parent: Node | null = null;
  isDisposed = false;
  widgets: Widget[] = [];
  rendermime?: Registry;
  get isAttached(): boolean {
    return this.node.isConnected;
  }
  addWidget(widget: Widget): void {
    this.widgets.push(widget);
    Object.assign(widget, { parent: this });
    this.node.append(widget.node);
  }
  dispose(): void {
    this.isDisposed = true;
    this.node.remove();
    if (this.parent) this.parent.widgets = this.parent.widgets.filter((each) => each !== this);
  }
  hide(): void {
    this.node.hidden = true;
  }
  show(): void {
    this.node.hidden = false;
  }
  onAfterAttach(): void {}
  onBeforeDetach(): void {}
}

/** A renderer of JupyterLab: of HTML, or of widgets, of which `live` says whether they come alive. */
class Simple extends Node implements Renderer {
  constructor(
    readonly kind: string,
    readonly live: () => boolean,
  ) {
    super();
  }
  renderModel({ data }: Output): Promise<void> {
    if (this.kind !== VIEW) this.node.innerHTML = String(data[this.kind]);
    else if (this.live()) this.wake();
    else this.node.textContent = "Error displaying widget: model not found";
    return Promise.resolve();
  }
  wake(): void {
    const alive = new Node();
    alive.node.textContent = "the widget";
    this.node.textContent = "";
    this.addWidget(alive);
  }
}

class Rendermime implements Registry {
  made: Simple[] = [];
  constructor(
    public manager: object,
    readonly live: () => boolean = () => false,
  ) {}
  addFactory(): void {
    throw Error("only the extension adds one");
  }
  getFactory(kind: string): unknown {
    return kind === VIEW ? this.manager : undefined;
  }
  createRenderer(kind: string): Renderer {
    const made = new Simple(kind, this.live);
    this.made.push(made);
    return made;
  }
}

const PLACEHOLDER = {};

/** JSON that is not packed is read as well. */
function packed(data: unknown): string {
  return JSON.stringify(data);
}

function outputOf(changes: Record<string, unknown> = {}, isWidget = true): Output {
  const stored = {
    version: VERSION,
    content: packed(contentOf(viewOf(3))),
    answers: packed({ "value:0.0": "<b>4</b>" }),
    ...changes,
  };
  const widget = isWidget ? { [VIEW]: { model_id: "1" } } : {};
  return {
    data: { ...widget, "text/html": "<i>static</i>", "text/plain": "plain", [DATA]: stored },
  };
}

/** A renderer in the output area of a notebook. */
async function shown(output: Output, notebook: Rendermime): Promise<Node & Renderer> {
  const area = new Node();
  area.rendermime = notebook;
  const all = new Rendermime(PLACEHOLDER);
  const Class = rendererClass(Node, all, CSS);
  const made = new Class() as unknown as Node & Renderer;
  await made.renderModel(output);
  area.addWidget(made);
  document.body.append(area.node);
  made.onAfterAttach();
  await settled();
  return made;
}

const later = globalThis.setTimeout;

/** Give the browser time to unpack, which fake timers do not hold up. */
async function settled(): Promise<void> {
  await vi.advanceTimersByTimeAsync(0);
  await new Promise((done) => later(done, 10));
  await vi.advanceTimersByTimeAsync(0);
}

async function after(milliseconds: number): Promise<void> {
  await vi.advanceTimersByTimeAsync(milliseconds);
  await settled();
  await settled();
}

function tabs(widget: Widget): number {
  return widget.node.querySelectorAll("[role=tab]").length;
}

test("a widget that is alive is shown, and nothing else", async () => {
  const made = await shown(outputOf(), new Rendermime({}, () => true));
  await after(5000);
  expect(made.node.textContent).toBe("the widget");
  expect(tabs(made)).toBe(0);
});

test("without the model of the widget, the stored report is shown at once", async () => {
  const made = await shown(outputOf(), new Rendermime({}));
  await after(0);
  expect(tabs(made)).toBe(2);
  const [inner] = made.widgets;
  expect(inner?.node.hidden).toBe(true);
  expect(document.querySelectorAll("#tapemagic-style").length).toBe(1);
});

test("a model that is restored later takes the place of the stored report, and gives it back when it is closed", async () => {
  const made = await shown(outputOf(), new Rendermime({}));
  await after(0);
  const inner = made.widgets[0] as Simple;
  inner.wake();
  await after(0);
  expect(tabs(made)).toBe(0);
  expect(inner.node.hidden).toBe(false);
  inner.widgets[0]?.dispose();
  await after(0);
  expect(tabs(made)).toBe(2);
  expect(inner.node.hidden).toBe(true);
});

test("before there is a kernel, the placeholder of ipywidgets is not asked; afterwards the widget is shown", async () => {
  const notebook = new Rendermime(PLACEHOLDER, () => true);
  const made = await shown(outputOf(), notebook);
  expect(tabs(made)).toBe(0);
  await after(400);
  expect(tabs(made)).toBe(2);
  expect(notebook.made).toEqual([]);
  notebook.manager = {};
  await after(4000);
  expect(made.node.textContent).toBe("the widget");
});

test("without a widget in the output, the stored report is shown at once", async () => {
  const made = await shown(outputOf({}, false), new Rendermime(PLACEHOLDER));
  await after(0);
  expect(tabs(made)).toBe(2);
});

test("an output that changes is drawn anew", async () => {
  const made = await shown(outputOf({}, false), new Rendermime(PLACEHOLDER));
  await after(0);
  await made.renderModel({ data: { "text/html": "<i>newer</i>", [DATA]: { version: 99 } } });
  await after(0);
  expect(tabs(made)).toBe(0);
  expect(made.node.textContent).toBe(`${NEWER}newer`);
});

test("a report of a newer version is static, with the reason", async () => {
  const made = await shown(outputOf({ version: VERSION + 1 }), new Rendermime({}));
  await after(0);
  expect(made.node.querySelector("[role=note]")?.textContent).toBe(NEWER);
  expect(made.node.querySelector("i")?.textContent).toBe("static");
});

const DAMAGES: Record<string, Record<string, unknown>> = {
  "no version": { version: undefined },
  "a version in words": { version: "new" },
  "no content": { content: undefined },
  "a number as content": { content: 3 },
  "no base64": { content: "%%%" },
  "base64 that was cut": { content: packed(contentOf(viewOf(3))).slice(0, 40) },
  "other bytes": { content: btoa("nothing packed") },
  "an empty content": { content: packed({}) },
  "no object": { content: packed(null) },
  "no tabs": { content: packed({ ...contentOf(viewOf(3)), faces: [] }) },
  "tabs of another kind": { content: packed({ ...contentOf(viewOf(3)), faces: "Graph" }) },
  "a view of another kind": { content: packed({ ...contentOf(null), view: {} }) },
};

test.each(Object.entries(DAMAGES))(
  "what is damaged is static, with the reason: %s",
  async (_, changes) => {
    const made = await shown(outputOf(changes), new Rendermime({}));
    await after(0);
    expect(made.node.textContent).toContain(DAMAGED);
    expect(made.node.textContent).toContain("Run the cell again");
    expect(made.node.querySelector("i")?.textContent).toBe("static");
    expect(tabs(made)).toBe(0);
  },
);

test("without HTML, the text is shown; without both, the reason", async () => {
  const { data } = outputOf({ version: 2 });
  const made = await shown(
    { data: { [DATA]: data[DATA], "text/plain": "plain" } },
    new Rendermime({}),
  );
  await after(0);
  expect(made.node.textContent).toBe(`${NEWER}plain`);
  const other = await shown({ data: { [DATA]: 3 } }, new Rendermime({}));
  await after(0);
  expect(other.node.textContent).toContain(DAMAGED);
});

test("answers that are stored are given, and damaged ones are none", async () => {
  const model = await modelOf(outputOf());
  expect(model.get("answers")).toEqual({ "value:0.0": '"<b>4</b>"' });
  for (const answers of [undefined, 3, "%%%", packed(null), packed([1]).slice(0, 8)])
    expect((await modelOf(outputOf({ answers }))).get("answers")).toEqual({});
});

test("it says what to do to see more", async () => {
  expect((await modelOf(outputOf())).instead).toBe("Run the cell again to see it.");
  expect((await modelOf(outputOf({}, false))).instead).toContain("with widgets on");
});

test("nothing is left when it is closed", async () => {
  const made = await shown(outputOf(), new Rendermime({}));
  await after(0);
  made.dispose();
  expect(vi.getTimerCount()).toBe(0);
  expect(document.querySelectorAll(".tapemagic").length).toBe(0);
});
