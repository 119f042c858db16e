/** The bar under graph, trace and lines that goes through the steps. */
import { h } from "./dom";
import { direct } from "./marks";
import type { Stage } from "./stage";

const STEPPED = ["Graph", "Trace", "Lines"];
/** In milliseconds: the longest time for a step, and the longest for all of them. */
const SLOW = 1000;
const WHOLE = 60_000;
const PLAY = "M4 3v10l9-5z";
const PAUSE = "M5 3v10M11 3v10";

/** Buttons, slider, and the sentence of the step. */
export function stepper(stage: Stage): HTMLElement {
  let timer = 0;
  const words = h("div", { class: "tm-words" });
  const count = h("span", { class: "tm-count" });
  const slider = h("input", { type: "range", min: 0, "aria-label": "Step", class: "tm-slider" });
  const go = (step: number): void => {
    stop();
    stage.goTo(step);
  };
  const first = button("First step", "M4 3v10M12 3 7 8l5 5", () => {
    go(0);
  });
  const back = button("Step back", "M10 3 5 8l5 5", () => {
    go(stage.step - 1);
  });
  const forward = button("Step forward", "M6 3l5 5-5 5", () => {
    go(stage.step + 1);
  });
  const last = button("Last step", "M12 3v10M4 3l5 5-5 5", () => {
    go(stage.last);
  });
  const toggle = (): void => {
    if (timer) stop();
    else play();
  };
  const playing = button("Play", PLAY, toggle);
  playing.className = "tm-play";
  const bar = h(
    "div",
    {
      class: "tm-stepper",
      role: "group",
      "aria-label": "Steps",
      "data-lm-suppress-shortcuts": true,
    },
    h("div", { class: "tm-buttons" }, first, back, playing, forward, last, slider, count),
    words,
  );

  function play(): void {
    if (stage.step === stage.last) stage.goTo(0);
    timer = setTimeout(tick, pause());
    draw();
  }
  function tick(): void {
    if (!bar.isConnected) {
      stop();
      return;
    }
    timer = stage.step + 1 < stage.last ? setTimeout(tick, pause()) : 0;
    stage.goTo(stage.step + 1);
  }
  function pause(): number {
    return Math.min(SLOW, WHOLE / stage.last);
  }
  function stop(): void {
    clearTimeout(timer);
    timer = 0;
    draw();
  }
  function draw(): void {
    const { step, view, now } = stage;
    const isStepped = STEPPED.includes(stage.tab) && (stage.tab !== "Graph" || view?.svg !== "");
    bar.hidden = !stage.last || !isStepped;
    slider.max = String(stage.last);
    slider.value = String(step);
    const text = `step ${step} of ${stage.last}`;
    slider.setAttribute("aria-valuetext", text);
    count.textContent = text;
    words.setAttribute("aria-live", timer ? "off" : "polite");
    direct([bar], now);
    words.replaceChildren(...sentence(stage));
    name(playing, timer ? "Pause" : "Play", timer ? PAUSE : PLAY);
    for (const each of [first, back]) each.setAttribute("aria-disabled", String(step === 0));
    for (const each of [forward, last])
      each.setAttribute("aria-disabled", String(step === stage.last));
  }

  slider.addEventListener("input", () => {
    go(Number(slider.value));
  });
  bar.addEventListener("keydown", (event) => {
    const { key, target } = event;
    if (event.ctrlKey || event.altKey || event.metaKey || event.shiftKey) return;
    if (target === slider && key === " ") toggle();
    else if (target !== slider && key === "ArrowLeft") go(stage.step - 1);
    else if (target !== slider && key === "ArrowRight") go(stage.step + 1);
    else {
      if (target === slider && /^(Arrow|Home|End|Page)/.test(key)) event.stopPropagation();
      return;
    }
    event.preventDefault();
    event.stopPropagation();
  });
  stage.on("step", draw);
  stage.on("view", stop);
  stage.on("tab", () => {
    draw();
    if (bar.hidden) stop();
  });
  draw();
  return bar;
}

/** The sentence of the step, after its direction. */
function sentence({ now, step, last }: Stage): (Node | string)[] {
  if (now) return [h("span", { class: "tm-way" }, now.reverse ? "reverse" : "forward"), now.words];
  if (step === last) return ["Every step is done. Play them, or go back one by one."];
  return ["Before the first step: nothing is computed yet."];
}

function button(words: string, icon: string, onclick: () => void): HTMLButtonElement {
  const made = h("button", { type: "button", onclick });
  name(made, words, icon);
  return made;
}

/** Give a button another name and icon. */
function name(button: HTMLButtonElement, words: string, icon: string): void {
  if (button.title === words) return;
  button.title = words;
  button.setAttribute("aria-label", words);
  button.innerHTML = `<svg viewBox="0 0 16 16" aria-hidden="true"><path d="${icon}"/></svg>`;
}
