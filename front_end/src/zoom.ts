/** The picture, larger or smaller, and moved. */
import { boxOf, listen } from "./dom";

/** The smallest size of a unit of the picture in pixels at which it can be read: svg.py states the same. */
const LEAST = (0.55 * 96) / 72 / 2;
const [SMALLEST, LARGEST] = [0.05, 8];

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
  /** Put a control over the upper edge of an element of the picture: to the right, or in the middle. */
  pin: (control: HTMLElement, name: string, inMiddle: boolean) => void;
}

/** `sheet` is the element with the picture and the controls over it, and `port` the element around it that scrolls. */
export function zoomOf(sheet: HTMLElement, port: HTMLElement): Zoom {
  let [width, height] = [1, 1];
  /** Pixels in a unit; 0 for the size that was fitted. */
  let scale = 0;
  let moved = 0;
  let isHeld = false;
  let apart = 0;
  const { style } = sheet;
  const size = (wanted: number): void => {
    scale = Math.max(SMALLEST, Math.min(LARGEST, wanted));
    style.minWidth = "0";
    style.width = `${scale * width}px`;
  };
  const by = (factor: number, point?: Point): void => {
    const frame = boxOf(port);
    const { clientX, clientY } = point ?? {
      clientX: frame.left + frame.width / 2,
      clientY: frame.top + frame.height / 2,
    };
    const before = boxOf(sheet);
    const high = parseFloat(getComputedStyle(port).maxHeight) || port.clientHeight;
    const whole = Math.min((port.clientWidth - 1) / width, (high - 1) / height);
    size(factor ? (before.width / width) * factor : whole);
    const after = boxOf(sheet);
    const grown = after.width / before.width;
    port.scrollBy(
      after.left + (clientX - before.left) * grown - clientX,
      after.top + (clientY - before.top) * grown - clientY,
    );
  };
  listen(port, {
    wheel: (event) => {
      if (!event.ctrlKey && !event.metaKey) return;
      event.preventDefault();
      by(Math.exp(-Math.max(-50, Math.min(50, event.deltaY)) / 150), event);
    },
    touchmove: (event) => {
      const [a, b] = event.touches;
      if (!a || !b) return;
      const [dx, dy] = [b.clientX - a.clientX, b.clientY - a.clientY];
      const before = apart;
      apart = Math.hypot(dx, dy);
      event.preventDefault();
      if (before) by(apart / before, { clientX: a.clientX + dx / 2, clientY: a.clientY + dy / 2 });
    },
    touchend: () => {
      apart = 0;
    },
  });
  listen(sheet, {
    pointerdown: ({ target, button, pointerType }) => {
      const isFree = !(target as Element).closest("[data-n],.tm-control");
      isHeld = button === 0 && pointerType === "mouse" && isFree;
      moved = 0;
    },
    pointermove: ({ buttons, movementX, movementY, pointerId }) => {
      if (!isHeld || !buttons) return;
      moved += Math.abs(movementX) + Math.abs(movementY);
      if (moved < 4) return;
      sheet.setPointerCapture(pointerId);
      port.scrollBy(-movementX, -movementY);
    },
    click: (event) => {
      // the end of a drag is no click
      if (moved > 3) event.stopPropagation();
      moved = 0;
    },
  });
  return {
    lay: () => {
      const svg = sheet.querySelector("svg");
      const fitted = Number(svg?.getAttribute("width"));
      const box = svg?.getAttribute("viewBox")?.split(" ").map(Number);
      [width, height] = [box?.[2] ?? 1, box?.[3] ?? 1];
      style.width = `min(100%, ${fitted}px)`;
      style.minWidth = `${Math.min(fitted, LEAST * width)}px`;
      if (scale) size(scale);
    },
    by,
    pin: (control, name, inMiddle) => {
      const element = sheet.querySelector<SVGGElement>(name);
      if (!element) return;
      const box = element.getBBox();
      const x = box.x + box.width / (inMiddle ? 2 : 1);
      control.style.left = `${(100 * x) / width}%`;
      control.style.top = `${(100 * box.y) / height}%`;
      element.classList.toggle("tm-titled", inMiddle);
      sheet.append(control);
    },
  };
}
