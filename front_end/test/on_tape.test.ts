import { expect, test } from "vitest";
import type { Cell, Commands, NotebookPanel, Reply, Tracker } from "../src/jupyter";
import { addCommands, OFF, RUN } from "../src/on_tape";

const LOADED = "%load_ext tapemagic\nimport numpy as np";

interface Made {
  sources: () => string[];
  said: string[];
  done: string[];
  run: (command?: string) => Promise<void>;
  column: () => number | undefined;
}

/** A notebook whose last cell is active, and a kernel that gives this advice, or fails in these words. */
function notebook(
  sources: string[],
  advice: Record<string, unknown> | string,
  { kind = "code", active = sources.length - 1, hasKernel = true } = {},
): Made {
  const said: string[] = [];
  const done: string[] = [];
  const options = new Map<string, () => unknown>();
  let column: number | undefined;
  const cellOf = (source: string): Cell => ({
    model: {
      type: kind,
      sharedModel: {
        getSource: () => source,
        setSource: (changed) => {
          source = changed;
        },
      },
    },
    editor: {
      setCursorPosition: (position) => {
        column = position.column;
      },
      focus: () => undefined,
    },
  });
  const cells = sources.map(cellOf);
  const content = { widgets: cells, activeCellIndex: active, mode: "command" };
  const reply: Reply["user_expressions"] =
    typeof advice === "string"
      ? { advice: { status: "error", evalue: advice } }
      : { advice: { status: "ok", data: { "application/json": advice } } };
  const kernel = {
    requestExecute: (request: Record<string, unknown>) => {
      expect([true, false]).toEqual([request.silent, request.store_history]);
      if (request.code) done.push(`silently ${request.code as string}`);
      return { done: Promise.resolve({ content: { status: "ok", user_expressions: reply } }) };
    },
  };
  const panel: NotebookPanel = {
    content,
    sessionContext: {
      ready: Promise.resolve(),
      session: { kernel: hasKernel ? kernel : null },
    },
  };
  const tracker: Tracker = {
    currentWidget: panel,
    get activeCell() {
      return cells[content.activeCellIndex] ?? null;
    },
  };
  const commands: Commands = {
    addCommand: (id, { execute }) => {
      options.set(id, execute as () => unknown);
    },
    execute: (id) => {
      if (id === "notebook:insert-cell-above") cells.splice(content.activeCellIndex, 0, cellOf(""));
      else done.push(tracker.activeCell?.model.sharedModel.getSource() ?? "");
      return Promise.resolve();
    },
  };
  const say = (words: string): unknown => said.push(words);
  addCommands(commands, tracker, null, { warning: say, info: say });
  return {
    sources: () => cells.map((cell) => cell.model.sharedModel.getSource()),
    said,
    done,
    run: async (command = RUN) => {
      await options.get(command)?.();
    },
    column: () => column,
  };
}

test("what the kernel names is watched, and the cell runs", async () => {
  const made = notebook([LOADED, "y = w * x"], { loaded: true, names: ["w", "x"], ready: true });
  await made.run();
  expect(made.sources()).toEqual([LOADED, "%%tape w x\ny = w * x"]);
  expect(made.done).toEqual(["%%tape w x\ny = w * x"]);
  expect(made.said).toEqual([]);
});

test("Variables are watched by themselves", async () => {
  const made = notebook(["y = v * 2"], { loaded: true, names: [], ready: true });
  await made.run();
  expect(made.done).toEqual(["%%tape\ny = v * 2"]);
});

test("with nothing to watch, the cursor is where names go", async () => {
  const made = notebook(["x = 3.0\ny = x**2"], { loaded: true, names: [], ready: false });
  await made.run();
  expect(made.sources()).toEqual(["%%tape \nx = 3.0\ny = x**2"]);
  expect(made.column()).toBe("%%tape ".length);
  expect(made.done).toEqual([]);
  expect(made.said[0]).toContain("as in %%tape x");
});

test("the magics are loaded in a new cell above, so that the notebook runs from top to bottom", async () => {
  const made = notebook(["y = x"], { loaded: false, names: ["x"], ready: true });
  await made.run();
  expect(made.sources()).toEqual(["%load_ext tapemagic", "%%tape x\ny = x"]);
  expect(made.done).toEqual(["%load_ext tapemagic", "%%tape x\ny = x"]);
});

test("if a cell loads them, they are loaded silently", async () => {
  const made = notebook([LOADED, "y = x"], { loaded: false, names: ["x"], ready: true });
  await made.run();
  expect(made.sources()).toEqual([LOADED, "%%tape x\ny = x"]);
  expect(made.done).toEqual(["silently %load_ext tapemagic", "%%tape x\ny = x"]);
});

test("a cell on a tape is run as it is, and taken off", async () => {
  const made = notebook(["%%tape x -o 2\ny = x"], { loaded: true, names: ["z"], ready: true });
  await made.run();
  expect(made.done).toEqual(["%%tape x -o 2\ny = x"]);
  await made.run(OFF);
  expect(made.sources()).toEqual(["y = x"]);
  await made.run(OFF);
  expect(made.said).toEqual(["This cell is not on a tape: it does not begin with %%tape."]);
});

test.each(["%%time\ny = x", "\n%%timeit\ny", "%%tapes\ny"])(
  "another magic stays: %j",
  async (source) => {
    const made = notebook([source], { loaded: true, names: [], ready: true });
    await made.run();
    expect(made.sources()).toEqual([source]);
    expect(made.done).toEqual([]);
    expect(made.said[0]).toContain(`This cell begins with ${source.trim().split("\n")[0] ?? ""},`);
  },
);

test("what is not possible is said", async () => {
  const text = notebook(["words"], {}, { kind: "markdown" });
  await text.run();
  expect(text.said[0]).toContain("Click a code cell first");
  const none = notebook(["y"], {}, { hasKernel: false });
  await none.run();
  expect(none.said).toEqual(["This notebook has no kernel: choose one first."]);
  const missing = notebook(["y"], "No module named 'tapemagic'");
  await missing.run();
  expect(missing.said[0]).toContain("(No module named 'tapemagic')");
  expect(missing.said[0]).toContain("%pip install");
  expect([...text.sources(), ...none.sources(), ...missing.sources()]).toEqual(["words", "y", "y"]);
});
