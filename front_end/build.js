// Builds src/report.ts and src/report.css into tapemagic/display/static; with --check it only compares.
import { readFile, writeFile } from "node:fs/promises";
import { build } from "esbuild";

const OUT = new URL("../tapemagic/display/static/", import.meta.url);
const LIMITS = { ".js": 20_000, ".css": 5_000 }; // bytes: every report stores them once more

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
  const limit = LIMITS[name.replace(/.*\./, ".")];
  console.log(`${name}: ${file.contents.length} of at most ${limit} bytes`);
  if (file.contents.length > limit) process.exitCode = 1;
  if (!process.argv.includes("--check")) {
    await writeFile(target, file.contents);
  } else if ((await readFile(target, "utf8").catch(() => "")) !== file.text) {
    console.error(`${target.pathname} is not what src/ builds: run npm run build in front_end/`);
    process.exitCode = 1;
  }
}
