/** The tabs of a report: a face each. */
import { h } from "./dom";
import type { Stage } from "./stage";

/** Headings and panels, as the ARIA pattern for tabs wants them; `panel` makes what stands in one. */
export function tabs(stage: Stage, panel: (title: string) => Node): HTMLElement {
  const list = h("div", { role: "tablist", class: "tm-tabs" });
  const panels = h("div");
  const draw = (): void => {
    const titles = stage.content.faces.map((face) => face.title);
    if (!titles.includes(stage.tab)) stage.tab = titles[0] ?? "";
    list.replaceChildren(
      ...titles.map((title) =>
        h(
          "button",
          {
            role: "tab",
            type: "button",
            onclick: () => {
              stage.openTab(title);
            },
          },
          title,
        ),
      ),
    );
    panels.replaceChildren(...titles.map((title) => h("div", { role: "tabpanel" }, panel(title))));
    choose();
  };
  const choose = (): void => {
    stage.content.faces.forEach(({ title }, k) => {
      list.children[k]?.setAttribute("aria-selected", String(title === stage.tab));
      panels.children[k]?.toggleAttribute("hidden", title !== stage.tab);
    });
  };
  stage.on("content", draw);
  stage.on("tab", choose);
  draw();
  return h("div", {}, list, panels);
}
