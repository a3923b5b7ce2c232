// Builds the script and the style that the Python package ships; with --tests, the tests for node.

import { readdirSync, rmSync } from "node:fs";
import { build } from "esbuild";

const shared = {
  bundle: true,
  format: "esm",
  target: "es2022",
  charset: "ascii",
  legalComments: "none",
  logLevel: "warning",
};
const out = process.argv.includes("--out")
  ? process.argv[process.argv.indexOf("--out") + 1]
  : "../tracealyze/render/viewer";

if (process.argv.includes("--tests")) {
  rmSync(".build", { recursive: true, force: true });
  const tests = readdirSync("test").filter((name) => name.endsWith(".test.ts"));
  await build({
    ...shared,
    jsx: "automatic",
    jsxImportSource: "preact",
    platform: "node",
    entryPoints: tests.map((name) => `test/${name}`),
    outdir: ".build",
    outExtension: { ".js": ".mjs" },
  });
} else {
  const page = { ...shared, format: "iife", minify: true, jsx: "automatic", jsxImportSource: "preact" };
  await build({ ...page, entryPoints: ["src/viewer.tsx", "src/viewer.css"], outdir: out });
}
