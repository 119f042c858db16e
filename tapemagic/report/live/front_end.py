"""The built front end (source in front_end/): an ES module, and its style sheet."""

from __future__ import annotations

from importlib import resources

from tapemagic.report.live.packing import compressed

STATIC = resources.files("tapemagic.report.live") / "static"
ESM = (STATIC / "report.js").read_text(encoding="utf-8")
CSS = (STATIC / "report.css").read_text(encoding="utf-8")

CODE = compressed(f"{CSS}\0{ESM}")
"""Both, compressed: one model of a kernel holds them for all reports."""

_LOADER = """\
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
%sasync function render(context) {
  const { model, el } = context;
  const [, id] = model.get("front_end").split("IPY_MODEL_");
  const shared = await find(model.widget_manager, id);
  const { css, report } = await (shared.tapemagic ??= load(shared.get("code")));
  const style = document.createElement("style");
  style.textContent = css;
  el.append(style);
%s  return report.render(context);
}
export default { render };
"""
LOADER = _LOADER % ("", "")
"""The module of each report: it takes the front end from that model, which a page that is opened may restore later."""

# The kernel sends Graphviz when it is free, so the report is shown before, with equations for the picture.
DRAWING_LOADER = _LOADER % (
    """\
const graphviz = (shared) => new Promise((resolve, reject) => {
  shared.once("msg:custom", (_, [code]) => {
    const url = URL.createObjectURL(new Blob([code], { type: "text/javascript" }));
    const loaded = import(url).then(({ Graphviz }) => Graphviz.load());
    loaded.then(resolve, reject).finally(() => URL.revokeObjectURL(url));
  });
  shared.send({ graphviz: true });
});
const draw = async (shared, model) => {
  const engine = await (shared.graphviz ??= graphviz(shared));
  model.on("msg:custom", ({ draw }) => {
    if (draw === undefined) return;
    let svg = "";
    try {
      svg = engine.dot(draw);
    } finally {
      model.send({ drawn: draw, svg });
    }
  });
  model.send({ draws: true });
};
""",
    "  draw(shared, model).catch((error) => console.warn(`tapemagic: no Graphviz here: ${error}`));\n",
)
"""The module of a report whose graph the kernel cannot draw: it draws what the kernel asks for, with Graphviz as
WebAssembly, which one report of a page loads from the kernel."""
GRAPHVIZ = STATIC / "graphviz.js"
