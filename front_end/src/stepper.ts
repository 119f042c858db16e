/** The bar under graph, trace and lines that goes through the steps. */
import { button, h, set } from "./dom";
import { isPlain } from "./keys";
import type { Stage } from "./stage";

const STEPPED = ["Graph", "Trace", "Lines", "Code"];
/** In milliseconds: the longest time for a step, and the longest for all of them. */
const SLOW = 1000;
const WHOLE = 60_000;
const PLAY = "M4 3v10l9-5z";
const PAUSE = "M5 3v10M11 3v10";

/** Buttons, slider, and the sentence of the step. */
export function stepper(stage: Stage): HTMLElement {
  let timer = 0;
  const moves: [HTMLElement, () => number][] = [];
  const move = (words: string, icon: string, to: () => number): HTMLElement => {
    const made = iconButton(words, icon, () => {
      go(to());
    });
    moves.push([made, to]);
    return made;
  };
  const slider = h("input", { type: "range", min: 0, "aria-label": "Step", class: "tm-slider" });
  const playing = iconButton("Play", PLAY, toggle);
  playing.className = "tm-play";
  const count = h("span", { class: "tm-count" });
  const words = h("div", { class: "tm-words" });
  const bar = h(
    "div",
    { class: "tm-stepper", role: "group", "aria-label": "Steps" },
    h(
      "div",
      { class: "tm-buttons" },
      move("First step", "M4 3v10M12 3 7 8l5 5", () => 0),
      move("Step back", "M10 3 5 8l5 5", () => Math.max(0, stage.step - 1)),
      playing,
      move("Step forward", "M6 3l5 5-5 5", () => Math.min(stage.last, stage.step + 1)),
      move("Last step", "M12 3v10M4 3l5 5-5 5", () => stage.last),
      slider,
      count,
    ),
    words,
  );

  function go(step: number): void {
    stop();
    stage.goTo(step);
  }
  function toggle(): void {
    if (timer) {
      stop();
      return;
    }
    wait();
    stage.goTo(stage.step < stage.last ? stage.step : 0);
  }
  function wait(): void {
    timer = setTimeout(tick, Math.min(SLOW, WHOLE / stage.last));
  }
  function tick(): void {
    stop();
    if (!bar.isConnected) return;
    if (stage.step + 1 < stage.last) wait();
    stage.goTo(stage.step + 1);
  }
  function stop(): void {
    clearTimeout(timer);
    timer = 0;
    draw();
  }
  function draw(): void {
    const { step, last, tab, view } = stage;
    const isStepped = STEPPED.includes(tab) && (tab !== "Graph" || view?.svg !== "");
    bar.hidden = !last || !isStepped;
    if (bar.hidden && timer) {
      stop();
      return;
    }
    const text = `step ${step} of ${last}`;
    count.textContent = stage.rests ? "" : text;
    set(slider, { max: last, "aria-valuetext": text });
    slider.value = String(step);
    set(words, { "aria-live": timer ? "off" : "polite" });
    words.replaceChildren(...sentence(stage));
    name(playing, timer ? "Pause" : "Play", timer ? PAUSE : PLAY);
    for (const [each, to] of moves) set(each, { "aria-disabled": `${to() === step}` });
  }

  slider.addEventListener("input", () => {
    go(Number(slider.value));
  });
  bar.addEventListener("keydown", (event) => {
    const { key, target } = event;
    const by = { ArrowLeft: -1, ArrowRight: 1 }[key];
    if (!isPlain(event)) return;
    if (by) go(stage.step + by);
    else if (key === " " && target === slider) toggle();
    else return;
    event.preventDefault();
  });
  stage.on("view", stop);
  stage.follow(draw, "step", "tab");
  return bar;
}

/** The sentence of the step, after its direction. */
function sentence({ now, step, last, view }: Stage): (Node | string)[] {
  if (now) {
    const way = h("span", { class: "tm-way" }, now.reverse ? "backward" : "forward");
    const words = h("span");
    words.innerHTML = now.words;
    return [way, words, h("small", {}, step === last ? " (the last step)" : "")];
  }
  if (step < last) return ["Before the first step: nothing is computed yet."];
  const back = view?.steps.at(-1)?.reverse ? ": values forward, then gradients backward" : "";
  return [`Play shows this computation in ${last} step${last === 1 ? "" : "s"}${back}.`];
}

function iconButton(words: string, icon: string, onclick: () => void): HTMLElement {
  const made = button("", { onclick });
  name(made, words, icon);
  return made;
}

/** Give a button another name and icon. */
function name(button: HTMLElement, words: string, icon: string): void {
  if (button.title === words) return;
  set(button, { title: words, "aria-label": words });
  button.innerHTML = `<svg viewBox="0 0 16 16" aria-hidden="true"><path d="${icon}"/></svg>`;
}
