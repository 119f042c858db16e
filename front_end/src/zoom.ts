/** The picture, larger or smaller, and moved. */
import { boxOf, listen } from "./dom";

/** Pixels in a unit of the picture at its full size: svg.py states the same. */
const UNIT = 96 / 72 / 2;
/** The smallest scale at which a picture is made to fit, with letters of 10 pixels: dot.py states the same. */
const LEAST = 0.75;
const [SMALLEST, LARGEST] = [0.05, 8];
/** The most pixels that the height of the place for the picture has; report.css calls it --tm-high. */
const high = (): number => Math.max(0.56 * innerHeight, 440);
/** A hundred times the size of the letters of controls, in units of the picture. */
const LETTERS = 1650;

interface Point {
  clientX: number;
  clientY: number;
}

export interface Zoom {
  /** Give a new picture the size that was fitted to it, or the scale that the reader chose. */
  lay: () => void;
  /**
   * Make the picture larger by a factor; the point of it under the pointer, or in the middle, stays there.
   * The factor 0 shows the whole picture.
   */
  by: (factor: number, point?: Point) => void;
  /** Put a control over the upper right corner of an element of the picture, or in the place of its title. */
  pin: (control: HTMLElement, name: string, isTitle: boolean) => void;
}

/** `sheet` is the element with the picture and the controls over it, and `port` the element around it that scrolls. */
export function zoomOf(sheet: HTMLElement, port: HTMLElement): Zoom {
  let [width, height] = [1, 1];
  /** Pixels in a unit; 0 for the size that fits. */
  let scale = 0;
  let moved = 0;
  let isHeld = false;
  let apart = 0;
  const { style } = sheet;
  const size = (wanted: number): void => {
    scale = Math.max(SMALLEST, Math.min(LARGEST, wanted));
    style.width = `${scale * width}px`;
    port.classList.add("tm-zoomed");
  };
  const by = (factor: number, point?: Point): void => {
    const frame = boxOf(port);
    const { clientX, clientY } = point ?? {
      clientX: frame.left + frame.width / 2,
      clientY: frame.top + frame.height / 2,
    };
    const before = boxOf(sheet);
    const whole = Math.min((port.clientWidth - 9) / width, (high() - 9) / height);
    size(factor ? (before.width / width) * factor : whole);
    const after = boxOf(sheet);
    const grown = after.width / before.width;
    port.scrollBy(
      after.left + (clientX - before.left) * grown - clientX,
      after.top + (clientY - before.top) * grown - clientY,
    );
  };
  listen(port, {
    onwheel: (event) => {
      if (!event.ctrlKey && !event.metaKey) return;
      event.preventDefault();
      by(Math.exp(-Math.max(-50, Math.min(50, event.deltaY)) / 150), event);
    },
    ontouchmove: (event) => {
      const [a, b] = event.touches;
      if (!a || !b) return;
      const [dx, dy] = [b.clientX - a.clientX, b.clientY - a.clientY];
      const before = apart;
      apart = Math.hypot(dx, dy);
      event.preventDefault();
      if (before) by(apart / before, { clientX: a.clientX + dx / 2, clientY: a.clientY + dy / 2 });
    },
    ontouchend: () => {
      apart = 0;
    },
  });
  listen(sheet, {
    onpointerdown: ({ target, button, pointerType }) => {
      const isFree = !(target as Element).closest("[data-n],.tm-control");
      isHeld = button === 0 && pointerType === "mouse" && isFree;
      moved = 0;
    },
    onpointermove: ({ buttons, movementX, movementY, pointerId }) => {
      if (!isHeld || !buttons) return;
      moved += Math.abs(movementX) + Math.abs(movementY);
      if (moved < 4) return;
      sheet.setPointerCapture(pointerId);
      port.scrollBy(-movementX, -movementY);
    },
    onclick: (event) => {
      // the end of a drag is no click
      if (moved > 3) event.stopPropagation();
      moved = 0;
    },
  });
  return {
    lay: () => {
      const box = sheet.querySelector("svg")?.getAttribute("viewBox")?.split(" ").map(Number);
      [width, height] = [box?.[2] ?? 1, box?.[3] ?? 1];
      const full = UNIT * width;
      const most = `(var(--tm-high) - 12px) * ${width / height}, ${full}px`;
      style.width = `max(${LEAST * full}px, min(100% - 8px, ${most}))`;
      if (scale) size(scale);
    },
    by,
    pin: (control, name, isTitle) => {
      const element = sheet.querySelector<SVGGElement>(name);
      if (!element) return;
      const title = isTitle && element.querySelector<SVGGraphicsElement>(":scope > text");
      const box = (title || element).getBBox();
      const [x, y] = title ? [box.width / 2, box.height / 2] : [box.width, 0];
      control.style.left = `${(100 * (box.x + x)) / width}%`;
      control.style.top = `${(100 * (box.y + y)) / height}%`;
      // it grows with the picture, of whose width cqw is a hundredth
      control.style.fontSize = `clamp(10px, ${LETTERS / width}cqw, 32px)`;
      element.classList.toggle("tm-titled", isTitle);
      sheet.append(control);
    },
  };
}
