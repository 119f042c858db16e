/**
 * The extension of JupyterLab 4 and Notebook 7, a module container as webpack makes them: JupyterLab loads this script,
 * calls `init` with the modules that it shares, and `get` for the plugins.
 */
import type {
  Factory,
  Notification,
  Palette,
  PanelClass,
  Plugin,
  Registry,
  Tracker,
} from "./jupyter";
import { addCommands } from "./on_tape";
import { DATA, rendererClass } from "./stored";

/** The style of reports; build.js writes it here. */
declare const REPORT_CSS: string;

/** Of each shared package, its versions. */
export type Scope = Record<
  string,
  Record<string, { get: () => Promise<() => unknown>; loaded?: number | boolean }>
>;

let scope: Scope = {};

/** A shared package. Its classes and tokens are known by identity, so they must be those that JupyterLab uses. */
async function shared<T>(name: string): Promise<T> {
  const versions = Object.values(scope[name] ?? {});
  const chosen = versions.find(({ loaded }) => loaded) ?? versions.at(-1);
  if (!chosen) throw Error(`tapemagic: this front end shares no ${name}`);
  return (await chosen.get())() as T;
}

/** Before those of ipywidgets (-10), which would say "model not found" where no kernel has the widget. */
const RANK = -20;

async function plugins(): Promise<Plugin[]> {
  const [{ IRenderMimeRegistry }, { Panel }, { INotebookTracker }, apputils] = await Promise.all([
    shared<{ IRenderMimeRegistry: unknown }>("@jupyterlab/rendermime"),
    shared<{ Panel: PanelClass }>("@lumino/widgets"),
    shared<{ INotebookTracker: unknown }>("@jupyterlab/notebook"),
    shared<{ ICommandPalette: unknown; Notification: Notification }>("@jupyterlab/apputils"),
  ]);
  const reports: Plugin = {
    id: "tapemagic:reports",
    autoStart: true,
    requires: [IRenderMimeRegistry],
    activate: (_app, registry: Registry) => {
      const Report = rendererClass(Panel, registry, REPORT_CSS);
      // not safe: JupyterLab then skips it in notebooks that are not trusted, and shows text/html, sanitized
      const factory: Factory = {
        safe: false,
        mimeTypes: [DATA],
        createRenderer: () => new Report(),
      };
      registry.addFactory(factory, RANK);
    },
  };
  const commands: Plugin = {
    id: "tapemagic:commands", // as the file of its settings is called
    autoStart: true,
    optional: [INotebookTracker, apputils.ICommandPalette],
    activate: ({ commands }, tracker: Tracker | null, palette: Palette | null) => {
      if (tracker) addCommands(commands, tracker, palette, apputils.Notification);
    },
  };
  return [reports, commands];
}

export const container = {
  init(shared: Scope): void {
    scope = shared;
  },
  async get(): Promise<() => object> {
    // a plain object: JupyterLab writes into it
    const found = { __esModule: true, default: await plugins() };
    return () => found;
  },
};

const page = window as { _JUPYTERLAB?: Record<string, unknown> };
page._JUPYTERLAB = { ...page._JUPYTERLAB, tapemagic: container };
