/** Making and moving of elements. */

type Attributes = Record<string, string | number | boolean | ((event: Event) => void)>;

/** An element with attributes, listeners (`onclick`) and children; text is never read as HTML. */
export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: (Node | string)[]
): HTMLElementTagNameMap[K] {
  const made = document.createElement(tag);
  set(made, attributes);
  made.append(...children);
  return made;
}

/**
 * Give an element attributes and listeners, which may stop what the browser does; what is true has no value, and what
 * is false is taken away.
 */
export function set(element: Element, attributes: Attributes): void {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function")
      element.addEventListener(name.slice(2), value, { passive: false });
    else if (value === false) element.removeAttribute(name);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
}

/** An element that holds HTML, which Python made. */
export function page(className: string, html = ""): HTMLDivElement {
  const made = h("div", { class: className });
  made.innerHTML = html;
  return made;
}

/** Scroll the panel around an element, and nothing else, until the element is seen. */
export function reveal(element: Element | null | undefined): void {
  const panel = element?.closest("[role=tabpanel]");
  if (!element || !panel) return;
  const inner = boxOf(element);
  const outer = boxOf(panel);
  panel.scrollTop += beyond(inner.top, inner.bottom, outer.top, outer.top + panel.clientHeight);
  panel.scrollLeft += beyond(inner.left, inner.right, outer.left, outer.left + panel.clientWidth);
}

/** How far to scroll, with a little room, for a stretch to lie in another; its beginning if it is longer. */
function beyond(start: number, end: number, low: number, high: number): number {
  const room = 24;
  if (start < low + room || end - start > high - low - 2 * room) return start - low - room;
  return Math.max(0, end - high + room);
}

/** Listen to events of an element. */
export function listen(
  element: HTMLElement,
  listeners: {
    [K in keyof HTMLElementEventMap as `on${K}`]?: (event: HTMLElementEventMap[K]) => void;
  },
): void {
  set(element, listeners as Attributes);
}

/** A button, named by the words on it if it has no label. */
export function button(words: string, attributes: Attributes = {}): HTMLButtonElement {
  return h("button", { type: "button", ...attributes }, words);
}

export function boxOf(element: Element): DOMRect {
  return element.getBoundingClientRect();
}
