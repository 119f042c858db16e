/** Keys that are pressed in a report. */

const SUPPRESS = "data-lm-suppress-shortcuts";

/** Whether a key is pressed without modifiers, or with shift alone but for Shift+Enter, which runs cells. */
export function isPlain(event: KeyboardEvent): boolean {
  const { ctrlKey, metaKey, altKey, shiftKey, key } = event;
  return !(ctrlKey || metaKey || altKey || (shiftKey && key === "Enter"));
}

/** Keep plain keys in a report from the shortcuts of the notebook around it; gives the function that ends this. */
export function keepKeys(root: HTMLElement): () => void {
  // JupyterLab listens at the document before any element does, and heeds this attribute
  const watch = (event: KeyboardEvent): void => {
    root.toggleAttribute(SUPPRESS, isPlain(event));
  };
  window.addEventListener("keydown", watch, true);
  root.addEventListener("keydown", (event) => {
    if (isPlain(event)) event.stopPropagation();
  });
  return () => {
    window.removeEventListener("keydown", watch, true);
  };
}
