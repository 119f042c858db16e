/** Making of elements. */

type Attributes = Record<string, string | number | boolean | ((event: Event) => void)>;

/** An element with attributes, listeners (`onclick`) and children; text is never read as HTML. */
export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: (Node | string)[]
): HTMLElementTagNameMap[K] {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") made.addEventListener(name.slice(2), value);
    else if (value !== false) made.setAttribute(name, value === true ? "" : String(value));
  }
  made.append(...children);
  return made;
}

/** An element that holds HTML, which Python made. */
export function page(className: string, html: string): HTMLDivElement {
  const made = h("div", { class: className });
  made.innerHTML = html;
  return made;
}
