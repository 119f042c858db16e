// @vitest-environment happy-dom
import { beforeEach, expect, test, vi } from "vitest";
import type { Factory, Plugin } from "../src/jupyter";
import { container, type Scope } from "../src/lab";
import { OFF, RUN } from "../src/on_tape";
import { DATA } from "../src/stored";

beforeEach(() => {
  vi.stubGlobal("REPORT_CSS", "");
});

function sharing(module: unknown): { get: () => Promise<() => unknown> } {
  return { get: () => Promise.resolve(() => module) };
}

class Panel {
  readonly isAttached = false;
}
const SHARED: Scope = {
  "@jupyterlab/rendermime": {
    "4.0.0": sharing({ IRenderMimeRegistry: "an older one" }),
    "4.1.0": { ...sharing({ IRenderMimeRegistry: "registry" }), loaded: 1 },
    "4.2.0": sharing({ IRenderMimeRegistry: "not loaded" }),
  },
  "@lumino/widgets": { "2.0.0": sharing({ Panel }) },
  "@jupyterlab/notebook": { "4.0.0": sharing({ INotebookTracker: "tracker" }) },
  "@jupyterlab/apputils": {
    "4.0.0": sharing({ ICommandPalette: "palette", Notification: {} }),
  },
};

async function plugins(scope: Scope): Promise<Plugin[]> {
  container.init(scope);
  const module = (await container.get())() as { default: Plugin[]; __scope__?: string };
  module.__scope__ = "written by JupyterLab";
  return module.default;
}

test("JupyterLab finds the container and the plugins in it", async () => {
  expect((window as { _JUPYTERLAB?: unknown })._JUPYTERLAB).toMatchObject({ tapemagic: container });
  const [reports, commands] = await plugins(SHARED);
  expect(reports?.requires).toEqual(["registry"]);
  expect(commands?.optional).toEqual(["tracker", "palette"]);
  expect(commands?.id).toBe("tapemagic:commands");
});

test("reports are not drawn in notebooks that are not trusted, and come before widgets", async () => {
  const [reports] = await plugins(SHARED);
  const added: [Factory, number][] = [];
  const registry = { addFactory: (...both: [Factory, number]) => added.push(both) };
  reports?.activate({ commands: {} as never }, registry as never);
  const [[factory, rank] = []] = added;
  expect(factory).toMatchObject({ safe: false, mimeTypes: [DATA] });
  expect(rank).toBeLessThan(-10);
  expect(factory?.createRenderer()).toBeInstanceOf(Panel);
});

test("the commands are there where there are notebooks", async () => {
  const [, commands] = await plugins(SHARED);
  const added: string[] = [];
  const app = { commands: { addCommand: (id: string) => added.push(id) } };
  commands?.activate(app as never, null as never, null as never);
  expect(added).toEqual([]);
  const palette = { addItem: vi.fn() };
  commands?.activate(app as never, {} as never, palette as never);
  expect(added).toEqual([RUN, OFF]);
  expect(palette.addItem).toHaveBeenCalledTimes(2);
});

test("a front end that shares too little is named", async () => {
  container.init({});
  await expect(container.get()).rejects.toThrow("shares no @jupyterlab/rendermime");
});
