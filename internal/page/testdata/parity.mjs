// Answers questions with the page's WebAssembly, without a browser: a JSON array of
// questions on standard input, one answer a line on standard output.
// usage: node parity.mjs SITE
import fs from "node:fs";
import path from "node:path";
import { createRequire } from "node:module";

const site = path.resolve(process.argv[2]);
createRequire(import.meta.url)(path.join(site, "wasm_exec.js")) ?? 0;
const go = new globalThis.Go();
const { instance } = await WebAssembly.instantiate(fs.readFileSync(path.join(site, "envfix.wasm")), go.importObject);
await new Promise((ready) => {
  globalThis.envfixReady = ready;
  go.run(instance);
});
for (const question of JSON.parse(fs.readFileSync(0, "utf8"))) {
  const out = globalThis.envfixCall("ask", JSON.stringify(question));
  if (out instanceof Error) throw out;
  fs.writeSync(1, out + "\n");
}
process.exit(0);
