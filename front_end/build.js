// Builds src/report.ts and src/report.css into tapemagic/report/live/static, and src/lab.ts into
// tapemagic/labextension; with --check it only compares.
import { createHash } from "node:crypto";
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { deflateSync } from "node:zlib";
import { build } from "esbuild";

const PACKAGE = new URL("../tapemagic/", import.meta.url);
const STATIC = "report/live/static/";
const EXTENSION = "labextension/";
const LIMIT = 19_600; // bytes: a notebook with the state of its widgets stores both files, compressed and in base64

const OPTIONS = {
  absWorkingDir: import.meta.dirname,
  outdir: "built",
  bundle: true,
  minify: true,
  target: "es2022",
  charset: "utf8",
  write: false,
};

/** The built files, by their names. */
async function built(entryPoints, options) {
  const { outputFiles } = await build({ ...OPTIONS, ...options, entryPoints });
  return Object.fromEntries(
    outputFiles.map(({ path, text }) => [path.replace(/.*[/\\]/, ""), text]),
  );
}

const report = await built(["src/report.ts", "src/report.css"], { format: "esm" });
const style = JSON.stringify(report["report.css"]);
const lab = (await built(["src/lab.ts"], { format: "iife", define: { REPORT_CSS: style } }))[
  "lab.js"
];
// Browsers keep the files of extensions, so another content has another name.
const script = `static/lab.${createHash("sha256").update(lab).digest("hex").slice(0, 16)}.js`;
const [, version] = (await readFile(new URL("version.py", PACKAGE), "utf8")).match(/"(.*)"\n$/);
const described = { name: "tapemagic", version, license: "MIT" };
const commands = await readFile(new URL("src/commands.json", import.meta.url), "utf8");
// Graphviz as WebAssembly, which a kernel without Graphviz sends to its reports (see live/front_end.py).
const graphviz = new URL("node_modules/@hpcc-js/wasm-graphviz/dist/index.js", import.meta.url);
const files = {
  [`${STATIC}graphviz.js`]: (await readFile(graphviz, "utf8")).replace(/\/\/# source.*\n?$/, ""),
  ...Object.fromEntries(Object.entries(report).map(([name, text]) => [STATIC + name, text])),
  [EXTENSION + script]: lab,
  [`${EXTENSION}package.json`]: inJson({
    ...described,
    jupyterlab: {
      extension: true,
      schemaDir: "schemas",
      _build: { load: script, extension: "./extension" },
    },
  }),
  // JupyterLab reads the description of an extension that has settings from these two.
  [`${EXTENSION}schemas/tapemagic/package.json.orig`]: inJson(described),
  [`${EXTENSION}schemas/tapemagic/commands.json`]: commands,
};

function inJson(data) {
  return `${JSON.stringify(data, null, 2)}\n`;
}

const old = (await readdir(new URL(`${EXTENSION}static/`, PACKAGE)).catch(() => []))
  .map((name) => `${EXTENSION}static/${name}`)
  .filter((name) => !(name in files));
if (!process.argv.includes("--check")) {
  for (const name of old) await rm(new URL(name, PACKAGE));
  for (const [name, text] of Object.entries(files)) {
    const target = new URL(name, PACKAGE);
    await mkdir(new URL(".", target), { recursive: true });
    await writeFile(target, text);
  }
} else {
  for (const [name, text] of Object.entries(files))
    if ((await readFile(new URL(name, PACKAGE), "utf8").catch(() => "")) !== text) old.push(name);
  for (const name of old)
    console.error(`tapemagic/${name} is not what src/ builds: run npm run build in front_end/`);
  if (old.length) process.exitCode = 1;
}

const texts = [report["report.css"], report["report.js"]]; // as live/front_end.py stores them
const stored = deflateSync(texts.join("\0"), { level: 9 }).toString("base64").length;
console.log(`stored in ${stored} of at most ${LIMIT} bytes; the extension has ${lab.length}`);
if (stored > LIMIT) process.exitCode = 1;
