/** The graph as DOT, SVG and PNG, without a server. The picture is the whole graph, without highlights. */
import { h } from "./dom";

const SHARPNESS = 2;
/** The most pixels along a side that browsers draw. */
const LONGEST = 16_000;

/** A picture that stands alone: it has the colours that it has on the screen, and the background behind it. */
export function standalone(svg: string, near: HTMLElement): string {
  const holder = h("div");
  holder.innerHTML = svg;
  const made = holder.firstElementChild;
  const shown = near.querySelector("svg");
  if (!made || !shown) return "";
  made.setAttribute("color", getComputedStyle(shown).color);
  made.setAttribute("style", `background:${backgroundOf(near)}`);
  return new XMLSerializer().serializeToString(made);
}

/** The first background behind an element that is not transparent. */
function backgroundOf(element: Element | null): string {
  if (!element) return "#fff";
  const colour = getComputedStyle(element).backgroundColor;
  return /^$|transparent|, 0\)/.test(colour) ? backgroundOf(element.parentElement) : colour;
}

function download(href: string, name: string): void {
  h("a", { href, download: name }).click();
}

function urlOf(svg: string): string {
  return `data:image/svg+xml,${encodeURIComponent(svg)}`;
}

export function saveSvg(svg: string): void {
  download(urlOf(svg), "tape.svg");
}

/** Throws if the browser cannot draw a picture so large. */
export async function savePng(svg: string): Promise<void> {
  const image = new Image();
  image.src = urlOf(svg);
  await image.decode();
  const { width, height } = image;
  const factor = Math.min(SHARPNESS, LONGEST / width, LONGEST / height);
  const canvas = h("canvas", { width: width * factor, height: height * factor });
  canvas.getContext("2d")?.drawImage(image, 0, 0, canvas.width, canvas.height);
  const url = canvas.toDataURL();
  if (!url.startsWith("data:image/png")) throw Error();
  download(url, "tape.png");
}

/** Put text on the clipboard; where the browser does not let a page do so, show it. */
export async function copy(text: string, status: HTMLElement): Promise<void> {
  let done = true;
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = h("textarea", { readonly: true, "aria-label": "DOT" }, text);
    status.replaceChildren("Copy it from here:", area);
    area.select();
    // eslint-disable-next-line @typescript-eslint/no-deprecated -- on plain http there is nothing else
    done = document.execCommand("copy");
  }
  if (done) status.textContent = "Copied.";
}
