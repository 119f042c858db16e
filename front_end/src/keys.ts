/** Keys that are pressed in a report. */

const SUPPRESS = "data-lm-suppress-shortcuts";

/** Whether a key is pressed without modifiers, or with shift alone but for Shift+Enter, which runs cells. */
export function isPlain(event: KeyboardEvent): boolean {
  const { ctrlKey, metaKey, altKey, shiftKey, key } = event;
  return !(ctrlKey || metaKey || altKey || (shiftKey && key === "Enter"));
}

/** Keep plain keys in a report from the shortcuts of the notebook around it; gives the function that ends this. */
export function keepKeys(root: HTMLElement): () => void {
  // JupyterLab listens at the document before any element does; it heeds this attribute of what has the focus, while
  // that of an element around it comes too late: its shortcuts are for whatever has the focus in a notebook.
  const watch = (event: KeyboardEvent): void => {
    const { target } = event;
    if (target instanceof Element && root.contains(target))
      target.toggleAttribute(SUPPRESS, isPlain(event));
  };
  window.addEventListener("keydown", watch, true);
  root.addEventListener("keydown", (event) => {
    if (isPlain(event)) event.stopPropagation();
  });
  return () => {
    window.removeEventListener("keydown", watch, true);
  };
}
