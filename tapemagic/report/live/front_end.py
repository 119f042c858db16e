"""The built front end (source in front_end/): an ES module, and its style sheet."""

from __future__ import annotations

from importlib import resources

from tapemagic.report.live.packing import compressed

STATIC = resources.files("tapemagic.report.live") / "static"
ESM = (STATIC / "report.js").read_text(encoding="utf-8")
CSS = (STATIC / "report.css").read_text(encoding="utf-8")

CODE = compressed(f"{CSS}\0{ESM}")
"""Both, compressed: one model of a kernel holds them for all reports."""

LOADER = """\
const load = async (code) => {
  const bytes = Uint8Array.from(atob(code), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  const [css, script] = (await new Response(stream).text()).split("\\0");
  const url = URL.createObjectURL(new Blob([script], { type: "text/javascript" }));
  const report = (await import(url)).default;
  URL.revokeObjectURL(url);
  return { css, report };
};
const find = async (manager, id, wait = 50) => {
  try {
    return await manager.get_model(id);
  } catch (error) {
    if (wait > 4000) throw error;
    await new Promise((done) => setTimeout(done, wait));
    return find(manager, id, 2 * wait);
  }
};
async function render(context) {
  const { model, el } = context;
  const [, id] = model.get("front_end").split("IPY_MODEL_");
  const shared = await find(model.widget_manager, id);
  const { css, report } = await (shared.tapemagic ??= load(shared.get("code")));
  const style = document.createElement("style");
  style.textContent = css;
  el.append(style);
  return report.render(context);
}
export default { render };
"""
"""The module of each report: it takes the front end from that model, which a page that is opened may restore later."""
