/** The front end of a report: an anywidget module. */
import { check } from "./check";
import { code } from "./code";
import type { Content, View } from "./content";
import { h, page, reveal } from "./dom";
import { interactions } from "./interactions";
import { keepKeys } from "./keys";
import { mark } from "./marks";
import { type Model, unpack } from "./model";
import { reopening } from "./opening";
import { picture } from "./picture";
import { plot } from "./plot";
import { lines, trace } from "./rows";
import { Stage } from "./stage";
import { stepper } from "./stepper";
import { tabs } from "./tabs";
import { whatIf } from "./what_if";

/** What stands in a tab. */
function face(stage: Stage, title: string): HTMLElement {
  if (title === "Graph") return graph(stage);
  if (title === "Trace") return trace(stage);
  if (title === "Code") return code(stage, () => find(stage.content, title));
  const made = html(stage, "tm-face", () => find(stage.content, title));
  if (title === "Plot") return plot(stage, made);
  if (title === "Gradients") return check(stage, made, () => find(stage.content, title));
  return title === "Lines" ? lines(stage, made) : made;
}

function find(content: Content, title: string): string {
  return content.faces.find((each) => each.title === title)?.html ?? "";
}

/** The picture; without one, the words in its place. */
function graph(stage: Stage): HTMLElement {
  const instead = html(stage, "tm-face", ({ view }) => {
    if (!view) return find(stage.content, "Graph");
    return view.svg ? "" : view.caption;
  });
  return h("div", {}, picture(stage), instead);
}

/** HTML that follows the content of the report. */
function html(stage: Stage, className: string, read: (stage: Stage) => string): HTMLDivElement {
  const made = page(className);
  let shown = "";
  const renew = (): void => {
    const wanted = read(stage);
    if (wanted !== shown) made.innerHTML = shown = wanted;
  };
  stage.follow(renew, "content", "view");
  return made;
}

/** The words under the picture, behind the stepper. */
function caption(stage: Stage): HTMLElement {
  const made = html(stage, "tm-caption", ({ view }) => (view?.svg ? view.caption : ""));
  stage.follow(() => {
    made.hidden = stage.tab !== "Graph";
  }, "tab");
  return made;
}

async function render({ model, el }: { model: Model; el: HTMLElement }): Promise<() => void> {
  const stage = new Stage(model, await unpack<Content>(model.get("content")));
  const root = h("div", { class: `tapemagic tm-${stage.content.theme}` });
  root.append(
    whatIf(stage), // above all that grows and shrinks: nothing moves away from under the pointer
    html(stage, "tm-head", ({ content }) => content.head),
    tabs(stage, (title) => face(stage, title)),
    stepper(stage),
    caption(stage),
  );
  const direct = (): void => {
    const { now } = stage;
    mark([root], { forward: now?.reverse === false, reverse: now?.reverse === true });
  };
  const show = (): void => {
    direct();
    root.querySelectorAll("[role=tabpanel]:not([hidden]) .tm-now:not([data-e])").forEach(reveal);
  };
  stage.on("view", direct);
  stage.on("step", show);
  stage.on("tab", show);
  const renew = async (): Promise<void> => {
    const text = model.get("content");
    const answer = model.get("answers")[reopening(stage)];
    const content = await unpack<Content>(text);
    const view = answer && (await unpack<View & { error?: string }>(answer));
    if (text !== model.get("content")) return;
    stage.replace(content, view && !view.error ? view : content.view);
  };
  const hear = (): void => void renew();
  model.on("change:content", hear);
  el.append(root);
  const close = interactions(stage, root);
  const letKeysGo = keepKeys(root);
  return () => {
    close();
    letKeysGo();
    model.off("change:content", hear);
  };
}

export default { render };
