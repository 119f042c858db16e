/** The parts of JupyterLab 4 that the extension uses. Their packages would bring 400 MB for these types alone. */

export interface Widget {
  readonly node: HTMLElement;
  readonly parent: Widget | null;
  readonly isAttached: boolean;
  readonly isDisposed: boolean;
  dispose(): void;
  hide(): void;
  show(): void;
}

export interface Panel extends Widget {
  readonly widgets: readonly Widget[];
  addWidget(widget: Widget): void;
}

/** A class of Lumino, with the methods that it calls when a widget comes on the screen and leaves it. */
export type PanelClass = new () => Panel & {
  onAfterAttach(message: unknown): void;
  onBeforeDetach(message: unknown): void;
};

/** An output: its data by their MIME types. */
export interface Output {
  readonly data: Record<string, unknown>;
}

export interface Renderer extends Widget {
  renderModel(output: Output): Promise<void>;
}

export interface Factory {
  safe: boolean;
  mimeTypes: string[];
  createRenderer: () => Renderer;
}

export interface Registry {
  addFactory(factory: Factory, rank: number): void;
  getFactory(mimeType: string): unknown;
  createRenderer(mimeType: string): Renderer;
}

export interface Commands {
  addCommand(id: string, options: Record<string, string | (() => unknown)>): void;
  execute(id: string): Promise<unknown>;
}

/** What a kernel says to a request; of an expression that failed, the name and the words of the error. */
export interface Reply {
  status: string;
  user_expressions?: Record<
    string,
    { status: string; data?: Record<string, unknown>; ename?: string; evalue?: string }
  >;
}

export interface Kernel {
  requestExecute(content: Record<string, unknown>): {
    readonly done: Promise<{ content: Reply }>;
  };
}

export interface Cell {
  readonly model: {
    readonly type: string;
    readonly sharedModel: { getSource(): string; setSource(source: string): void };
  };
  readonly editor: {
    setCursorPosition(position: { line: number; column: number }): void;
    focus(): void;
  } | null;
}

export interface NotebookPanel {
  readonly content: {
    readonly widgets: readonly Cell[];
    activeCellIndex: number;
    mode: string;
  };
  readonly sessionContext: {
    readonly ready: Promise<void>;
    readonly session: { readonly kernel: Kernel | null } | null;
  };
}

export interface Tracker {
  readonly currentWidget: NotebookPanel | null;
  readonly activeCell: Cell | null;
}

export interface Palette {
  addItem(item: { command: string; category: string }): void;
}

export interface Notification {
  warning(message: string, options?: Record<string, unknown>): unknown;
  info(message: string, options?: Record<string, unknown>): unknown;
}

export interface Plugin {
  id: string;
  autoStart: true;
  requires?: unknown[];
  optional?: unknown[];
  activate: (app: { commands: Commands }, ...services: never[]) => void;
}
