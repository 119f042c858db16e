/** The sliders of --what-if: moving one runs the cell again in the kernel, which sends another content. */
import type { Control } from "./content";
import { button, h } from "./dom";
import { reopening } from "./opening";
import type { Stage } from "./stage";

/** In milliseconds: an answer so quick that the cell runs while a slider moves, one to wait for, and none. */
const QUICK = 80;
const LATE = 300;
const LOST = 5000;
/** The pixels within which a pointer clicks, and does not drag. */
const STILL = 4;

type Put = (entry: number, value: number) => void;

/** The inputs for the entries of one name, and how they show numbers. */
interface Part {
  root: HTMLElement;
  paint: (entries: number[]) => void;
}

/** A row of controls, one for each name; one message at a time, of which the newest wins. */
export function whatIf(stage: Stage): HTMLElement {
  const { controls, live } = stage.content;
  const words = h(
    "span",
    { role: "status" },
    live ? "" : stage.model.instead ? "(run the cell again to move them)" : "(needs the notebook)",
  );
  const entries = new Map<string, number[]>();
  /** What the reader put in the place of what the program says. */
  let moved: Record<string, number[]> = {};
  let moving = false;
  let waiting = false;
  let again = false;
  let quick = false;
  let since = 0;
  let sent = "";
  let timers: ReturnType<typeof setTimeout>[] = [];

  const parts = controls.map((control) => {
    const { name } = control;
    const made = part(control, (entry, value) => {
      const changed = [...(entries.get(name) ?? [])];
      changed[entry] = Math.min(control.high, Math.max(control.low, value));
      moved = { ...moved, [name]: changed };
      entries.set(name, changed);
      moving = true;
      made.paint(changed);
      if (quick) ask();
    });
    return made;
  });
  const reset = button("Reset", {
    onclick: () => {
      moved = {};
      ask();
    },
  });

  function ask(): void {
    reset.disabled = !Object.keys(moved).length;
    if (waiting) {
      again = true;
      return;
    }
    const text = JSON.stringify(moved);
    if (text === sent) {
      take();
      return;
    }
    sent = text;
    waiting = true;
    since = performance.now();
    timers = [setTimeout(tell, LATE, "running…"), setTimeout(lose, LOST)];
    const ask = reopening(stage);
    stage.model.send({ what_if: moved, number: stage.content.number + 1, ask });
  }
  function tell(text: string): void {
    words.textContent = text;
  }
  function lose(): void {
    tell("The kernel is busy, or gone.");
    moving = again = false;
    take();
  }
  function answered(): void {
    if (waiting) quick = performance.now() - since < QUICK;
    else sent = "";
    timers.forEach(clearTimeout);
    tell("");
    waiting = false;
    if (again) {
      again = false;
      ask();
    } else take();
  }
  /** Show what the report shows, unless the reader is moving something. */
  function take(): void {
    if (moving) return;
    moved = {};
    stage.content.controls.forEach((control, k) => {
      if (control.moved) moved[control.name] = control.entries;
      entries.set(control.name, control.entries);
      parts[k]?.paint(control.entries);
    });
    reset.disabled = !Object.keys(moved).length;
  }
  function settle(): void {
    if (!moving) return;
    moving = false;
    ask();
  }

  const bar = h(
    "fieldset",
    { class: "tm-what-if" },
    h("legend", {}, "What if ", words),
    ...parts.map(({ root }) => root),
    reset,
  );
  bar.disabled = !live;
  bar.hidden = !controls.length;
  for (const event of ["change", "pointerup", "pointercancel", "focusout"])
    bar.addEventListener(event, settle);
  stage.on("content", answered);
  take();
  return bar;
}

function part(control: Control, put: Put): Part {
  const { name, shape } = control;
  const columns = shape.length > 1 ? (shape.at(-1) ?? 1) : Math.min(4, control.entries.length);
  const cells = control.entries.map((_, k) => {
    const place = shape.length ? `[${index(k, shape).join(", ")}]` : "";
    const made = cell(control, name + place, (value) => {
      put(k, value);
    });
    if (place)
      drag(made.field, control.step, (value) => {
        put(k, value);
      });
    return { ...made, place };
  });
  const range = h("input", { type: "range", "aria-label": name, ...limits(control) });
  range.oninput = () => {
    put(0, range.valueAsNumber);
  };
  const root = shape.length
    ? h(
        "div",
        { class: "tm-cells", role: "group", "aria-label": name, style: `--n:${columns}` },
        ...cells.map(({ field, place }) => h("label", {}, h("small", {}, place), field)),
      )
    : h("div", { class: "tm-cells" }, range, ...cells.map(({ field }) => field));
  return {
    root: h("div", { class: "tm-parameter" }, h("b", {}, name), root),
    paint: (entries) => {
      entries.forEach((value, k) => cells[k]?.paint(value));
      range.value = String(entries[0]);
      range.setAttribute("aria-valuetext", shown(entries[0] ?? 0));
    },
  };
}

function limits({ low, high, step }: Control): { min: number; max: number; step: number } {
  return { min: low, max: high, step };
}

/** A field for one number, which is not repainted while somebody types in it. */
function cell(
  control: Control,
  label: string,
  put: (value: number) => void,
): { field: HTMLInputElement; paint: (value: number) => void } {
  let typing = false;
  let now = 0;
  const field = h("input", { type: "number", "aria-label": label, ...limits(control) });
  const paint = (value: number): void => {
    now = value;
    field.dataset.value = String(value);
    if (!typing) field.value = shown(value);
  };
  field.oninput = () => {
    typing = true;
  };
  field.onchange = () => {
    typing = false;
    const value = field.valueAsNumber;
    if (Number.isFinite(value)) put(value);
    else paint(now);
  };
  return { field, paint };
}

/** Let a pointer that moves left or right change the number in a field. */
function drag(field: HTMLInputElement, step: number, put: (value: number) => void): void {
  field.onpointerdown = (down) => {
    const from = Number(field.dataset.value);
    let still = true;
    field.onpointermove = (event) => {
      const distance = Math.round(event.clientX - down.clientX);
      if (still && Math.abs(distance) < STILL) return;
      if (still) field.setPointerCapture(event.pointerId);
      still = false;
      put(Number((from + distance * step).toPrecision(12)));
    };
    field.onpointerup = field.onpointercancel = () => {
      field.onpointermove = null;
    };
  };
}

/** The index of an entry in an array, of which the last axis runs fastest. */
function index(entry: number, shape: number[]): number[] {
  return shape.reduceRight<{ rest: number; place: number[] }>(
    ({ rest, place }, size) => ({ rest: Math.floor(rest / size), place: [rest % size, ...place] }),
    { rest: entry, place: [] },
  ).place;
}

function shown(value: number): string {
  return String(Number(value.toPrecision(6)));
}
