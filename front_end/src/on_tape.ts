/** The commands that put a cell on a tape, and take it off again. */
import type {
  Cell,
  Commands,
  Kernel,
  NotebookPanel,
  Notification,
  Palette,
  Tracker,
} from "./jupyter";

export const RUN = "tapemagic:run-on-tape";
export const OFF = "tapemagic:take-off-tape";
const LOAD = "%load_ext tapemagic";
const LOADS = /^\s*%(re)?load_ext\s+tapemagic\b/m;
const ON_TAPE = /^\s*%%tape(?!\S).*\n?/;
const OTHER_MAGIC = /^\s*%%\w*/;
const NO_CELL = "Click a code cell first: it is the one that goes on the tape.";

/** What the kernel says of a cell: tapemagic/ipython/on_tape.py. */
interface Advice {
  /** Whether the magics are there. */
  loaded: boolean;
  /** The names to watch. */
  names: string[];
  /** Whether the tape has something to watch by itself. */
  ready: boolean;
}

export function addCommands(
  commands: Commands,
  tracker: Tracker,
  palette: Palette | null,
  say: Notification,
): void {
  const warn = (words: string): void => {
    say.warning(words, { autoClose: 8000 });
  };
  const run = async (): Promise<void> => {
    const { currentWidget: panel, activeCell: cell } = tracker;
    if (!panel || cell?.model.type !== "code") {
      warn(NO_CELL);
      return;
    }
    const source = sourceOf(cell);
    const isOn = ON_TAPE.test(source);
    const [magic] = OTHER_MAGIC.exec(source) ?? [];
    if (magic && !isOn) {
      warn(
        `This cell begins with ${magic.trim()}, and a cell has one such line: take it away first.`,
      );
      return;
    }
    try {
      const advice = await askKernel(panel, source.replace(ON_TAPE, ""));
      if (!advice.loaded) await load(commands, panel);
      if (!isOn) cell.model.sharedModel.setSource(`${lineOf(advice)}\n${source}`);
      if (isOn || advice.ready) await commands.execute("notebook:run-cell");
      else writeNames(panel, cell, say);
    } catch (error) {
      warn((error as Error).message);
    }
  };
  const takeOff = (): void => {
    const cell = tracker.activeCell;
    const source = cell ? sourceOf(cell) : "";
    if (!cell || !ON_TAPE.test(source))
      warn("This cell is not on a tape: it does not begin with %%tape.");
    else cell.model.sharedModel.setSource(source.replace(ON_TAPE, ""));
  };
  const isEnabled = (): boolean => tracker.currentWidget !== null;
  commands.addCommand(RUN, {
    label: "Run This Cell on a Tape",
    caption: "Write %%tape above the cell and run it: its gradients are shown",
    isEnabled,
    execute: run,
  });
  commands.addCommand(OFF, { label: "Take This Cell off the Tape", isEnabled, execute: takeOff });
  for (const command of [RUN, OFF]) palette?.addItem({ command, category: "Tape" });
}

function sourceOf(cell: Cell): string {
  return cell.model.sharedModel.getSource();
}

/** The first line of a cell; the space at its end is where names go. */
function lineOf({ names, ready }: Advice): string {
  return ["%%tape", ...(names.length || ready ? names : [""])].join(" ");
}

/** Ask what the cell reads, in the kernel and without a trace in the notebook. */
async function askKernel(panel: NotebookPanel, source: string): Promise<Advice> {
  await panel.sessionContext.ready;
  const kernel = kernelOf(panel);
  // JSON.stringify writes what is a string in Python, too
  const advice = `__import__("tapemagic.ipython.on_tape", fromlist=["advise"]).advise(${JSON.stringify(source)})`;
  const { content } = await kernel.requestExecute({
    ...SILENT,
    code: "",
    user_expressions: { advice },
  }).done;
  const reply = content.user_expressions?.advice;
  if (reply?.status === "ok" && reply.data?.["application/json"])
    return reply.data["application/json"] as Advice;
  const why = reply?.evalue ? ` (${reply.evalue})` : "";
  throw Error(
    `The kernel of this notebook cannot record${why}: install or update tapemagic in its environment, ` +
      "with %pip install --upgrade tapemagic, and restart it.",
  );
}

const SILENT = { silent: true, store_history: false, stop_on_error: false };

function kernelOf({ sessionContext }: NotebookPanel): Kernel {
  const kernel = sessionContext.session?.kernel;
  if (!kernel) throw Error("This notebook has no kernel: choose one first.");
  return kernel;
}

/** Load the magics: as the notebook does already, or in a new cell above, so that it runs from top to bottom. */
async function load(commands: Commands, panel: NotebookPanel): Promise<void> {
  const { content } = panel;
  if (content.widgets.some((cell) => cell.model.type === "code" && LOADS.test(sourceOf(cell)))) {
    await kernelOf(panel).requestExecute({ ...SILENT, code: LOAD }).done;
    return;
  }
  await commands.execute("notebook:insert-cell-above");
  content.widgets[content.activeCellIndex]?.model.sharedModel.setSource(LOAD);
  await commands.execute("notebook:run-cell");
  content.activeCellIndex += 1;
}

/** Let the reader write which names to watch. */
function writeNames(panel: NotebookPanel, cell: Cell, say: Notification): void {
  panel.content.mode = "edit";
  cell.editor?.setCursorPosition({
    line: 0,
    column: lineOf({ names: [], ready: false, loaded: true }).length,
  });
  cell.editor?.focus();
  say.info(
    "Write the variables to differentiate by after %%tape, as in %%tape x, and run the cell.",
    {
      autoClose: 8000,
    },
  );
}
