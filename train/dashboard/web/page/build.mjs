// Bundles the page and writes it as a C++ file: node build.mjs OUTPUT.cc [MAX_BYTES]
import { build } from "esbuild";
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";

const [output, limit = "60000"] = process.argv.slice(2);
const here = dirname(fileURLToPath(import.meta.url));
const bundle = async (entry) => {
  const result = await build({
    entryPoints: [join(here, entry)], bundle: true, minify: true, write: false, format: "esm", target: "es2022",
    legalComments: "inline", absWorkingDir: here,
  });
  return result.outputFiles[0].text;
};

const files = [
  ["/index.html", "text/html; charset=utf-8", readFileSync(join(here, "index.html"), "utf8")],
  ["/app.css", "text/css; charset=utf-8", await bundle("all.css")],
  ["/app.js", "text/javascript; charset=utf-8", await bundle("app.js")],
];
let total = 0;
const rows = files.map(([path, type, text], index) => {
  const bytes = gzipSync(text, { level: 9 });
  total += bytes.length;
  return { path, type, index, size: bytes.length, numbers: Array.from(bytes).join(",") };
});
if (total > Number(limit)) {
  console.error(`the page has ${total} bytes gzipped; the limit is ${limit}`);
  process.exit(1);
}
writeFileSync(output, `// Written by train/dashboard/web/page/build.mjs.
#include "train/dashboard/web/page.h"

namespace burn::train::dashboard {
namespace {

${rows.map((r) => `constexpr unsigned char kFile${r.index}[] = {${r.numbers}};`).join("\n")}

std::string_view text(const unsigned char* bytes, std::size_t size) { return {reinterpret_cast<const char*>(bytes), size}; }

const PageFile kFiles[] = {
${rows.map((r) => `    {"${r.path}", "${r.type}", text(kFile${r.index}, sizeof kFile${r.index})},`).join("\n")}
};

}  // namespace

std::span<const PageFile> page_files() { return kFiles; }

}  // namespace burn::train::dashboard
`);
console.log(`dashboard page: ${total} bytes gzipped`);
