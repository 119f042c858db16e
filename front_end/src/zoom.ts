/** The picture, larger or smaller, and moved. */

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
  /** Make the picture larger by a factor; the point of it under the pointer, or in the middle, stays there. */
  by: (factor: number, point?: Point) => void;
  /** Show the whole picture. */
  fit: () => void;
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
    const frame = port.getBoundingClientRect();
    const { clientX, clientY } = point ?? {
      clientX: frame.left + frame.width / 2,
      clientY: frame.top + frame.height / 2,
    };
    const before = sheet.getBoundingClientRect();
    size((before.width / width) * factor);
    const after = sheet.getBoundingClientRect();
    const grown = after.width / before.width;
    port.scrollBy(
      after.left + (clientX - before.left) * grown - clientX,
      after.top + (clientY - before.top) * grown - clientY,
    );
  };
  port.addEventListener(
    "wheel",
    (event) => {
      if (!event.ctrlKey && !event.metaKey) return;
      event.preventDefault();
      by(Math.exp(-Math.max(-50, Math.min(50, event.deltaY)) / 150), event);
    },
    { passive: false },
  );
  port.addEventListener(
    "touchmove",
    (event) => {
      const [a, b] = event.touches;
      const before = apart;
      apart = a && b ? Math.hypot(a.clientX - b.clientX, a.clientY - b.clientY) : 0;
      if (!a || !b) return;
      event.preventDefault();
      const middle = {
        clientX: (a.clientX + b.clientX) / 2,
        clientY: (a.clientY + b.clientY) / 2,
      };
      if (before) by(apart / before, middle);
    },
    { passive: false },
  );
  sheet.onpointerdown = (event) => {
    const onNode = (event.target as Element).closest("[data-n],.tm-control");
    isHeld = event.button === 0 && event.pointerType === "mouse" && !onNode;
    moved = apart = 0;
  };
  sheet.onpointermove = ({ buttons, movementX, movementY, pointerId }) => {
    if (!isHeld || !buttons) return;
    moved += Math.abs(movementX) + Math.abs(movementY);
    if (moved < 4) return;
    sheet.setPointerCapture(pointerId);
    port.scrollBy(-movementX, -movementY);
  };
  // the end of a drag is no click
  sheet.onclick = (event) => {
    if (moved > 3) event.stopPropagation();
    moved = 0;
  };
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
    fit: () => {
      const high = parseFloat(getComputedStyle(port).maxHeight) || port.clientHeight;
      size(Math.min((port.clientWidth - 1) / width, (high - 1) / height));
    },
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
