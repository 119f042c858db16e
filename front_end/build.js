// Builds src/report.ts and src/report.css into tapemagic/report/live/static; with --check it only compares.
import { readFile, writeFile } from "node:fs/promises";
import { deflateSync } from "node:zlib";
import { build } from "esbuild";

const OUT = new URL("../tapemagic/report/live/static/", import.meta.url);
const LIMIT = 19_500; // bytes: every report stores both files once more, compressed and in base64

const { outputFiles } = await build({
  entryPoints: ["src/report.ts", "src/report.css"],
  absWorkingDir: import.meta.dirname,
  outdir: "built",
  bundle: true,
  minify: true,
  format: "esm",
  target: "es2022",
  charset: "utf8",
  write: false,
});

for (const file of outputFiles) {
  const name = file.path.replace(/.*[/\\]/, "");
  const target = new URL(name, OUT);
  if (!process.argv.includes("--check")) {
    await writeFile(target, file.contents);
  } else if ((await readFile(target, "utf8").catch(() => "")) !== file.text) {
    console.error(`${target.pathname} is not what src/ builds: run npm run build in front_end/`);
    process.exitCode = 1;
  }
}

const texts = outputFiles.map((file) => file.text).reverse(); // as live/front_end.py stores them
const stored = deflateSync(texts.join("\0"), { level: 9 }).toString("base64").length;
console.log(`stored in ${stored} of at most ${LIMIT} bytes`);
if (stored > LIMIT) process.exitCode = 1;
