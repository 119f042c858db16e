"""The built front end (source in front_end/): an ES module, and its style sheet."""

from __future__ import annotations

from importlib import resources

from tapemagic.report.live.packing import compressed

STATIC = resources.files("tapemagic.report.live") / "static"
ESM = (STATIC / "report.js").read_text(encoding="utf-8")
CSS = (STATIC / "report.css").read_text(encoding="utf-8")

UNPACKING = """\
const bytes = Uint8Array.from(atob("%s"), (letter) => letter.charCodeAt(0));
const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
const [css, script] = (await new Response(stream).text()).split("\\0");
const url = URL.createObjectURL(new Blob([script], { type: "text/javascript" }));
const report = (await import(url)).default;
URL.revokeObjectURL(url);
function render(context) {
  const style = document.createElement("style");
  style.textContent = css;
  context.el.append(style);
  return report.render(context);
}
export default { render };
"""
STORED = UNPACKING % compressed(f"{CSS}\0{ESM}")
"""Both as one module, compressed, because every widget stores a copy; anywidget loads modules in the same way."""
