/** The front end of a report: an anywidget module. */
import type { Content } from "./content";
import { h, page } from "./dom";
import { type Model, unpack } from "./model";
import { Stage } from "./stage";
import { tabs } from "./tabs";

function panel(stage: Stage, title: string): Node {
  const { view, content } = stage;
  if (title === "Graph" && view) return page("tm-graph", view.svg + view.caption);
  if (title === "Trace" && view) return page("tm-trace", view.trace);
  return page("tm-face", content.faces.find((face) => face.title === title)?.html ?? "");
}

async function render({ model, el }: { model: Model; el: HTMLElement }): Promise<() => void> {
  const stage = new Stage(model, await unpack<Content>(model.get("content")));
  const head = page("tm-head", stage.content.head);
  const root = h("div", { class: `tapemagic tm-${stage.content.theme}` });
  root.append(
    head,
    tabs(stage, (title) => panel(stage, title)),
  );
  const renew = (): void => {
    const text = model.get("content");
    void unpack<Content>(text).then((content) => {
      if (text === model.get("content")) stage.replace(content);
    });
  };
  stage.on("content", () => {
    head.innerHTML = stage.content.head;
  });
  model.on("change:content", renew);
  el.append(root);
  return () => {
    model.off("change:content", renew);
  };
}

export default { render };
