// @vitest-environment happy-dom
import { expect, test } from "vitest";
import { page } from "../src/dom";
import { plot } from "../src/plot";
import { Stage } from "../src/stage";
import { contentOf, modelOf } from "./samples";

const FACE = '<div><img src="data:,"></div><details><table></table></details>';

test("marks lie over the picture, and move with the run that is shown", () => {
  const first = { ...contentOf(null), marks: "<svg><circle cx='1'/></svg>" };
  const stage = new Stage(modelOf(), first);
  const face = plot(stage, page("tm-face", FACE));
  expect(face.querySelector("img + svg circle")?.getAttribute("cx")).toBe("1");

  stage.replace({ ...first, marks: "<svg><circle cx='2'/></svg>" });
  expect(face.querySelectorAll("svg")).toHaveLength(1);
  expect(face.querySelector("img + svg circle")?.getAttribute("cx")).toBe("2");
});

test("the table of values stays open from run to run", () => {
  const stage = new Stage(modelOf(), contentOf(null));
  const face = plot(stage, page("tm-face", FACE));
  const values = face.querySelector("details");
  if (values) values.open = true;
  values?.dispatchEvent(new Event("toggle"));

  face.innerHTML = FACE;
  stage.replace(contentOf(null));
  expect(face.querySelector("details")?.open).toBe(true);
});

test("a plot without a picture is shown as it is", () => {
  const face = plot(new Stage(modelOf(), contentOf(null)), page("tm-face", "<div>None</div>"));
  expect(face.innerHTML).toBe("<div>None</div>");
});
