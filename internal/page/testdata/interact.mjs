// What people do with the page, in a real browser: each with its outcome on a line of
// its own, "ok NAME" or "FAIL NAME: why", then figures that nobody asserts.
// usage: node interact.mjs SITE ONEFILE MODULES CHROMIUM QUESTIONS [SCREENSHOTS]
import fs from "node:fs";
import http from "node:http";
import path from "node:path";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const [site, oneFile, modules, chromiumPath, questions, shots] = process.argv.slice(2);
const require = createRequire(path.resolve(modules) + "/");
const { chromium } = require("playwright-core");
const axe = fs.readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");

const types = { ".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".wasm": "application/wasm", ".bin": "application/octet-stream" };
const asked = []; // what the server was asked for
const server = http.createServer((q, r) => {
  const name = q.url === "/" ? "/index.html" : q.url;
  asked.push(q.url);
  const file = path.join(site, path.normalize(name));
  if (!fs.existsSync(file)) return r.writeHead(404).end();
  r.writeHead(200, { "Content-Type": types[path.extname(file)] ?? "text/plain" }).end(fs.readFileSync(file));
});
await new Promise((ready) => server.listen(0, "127.0.0.1", ready));
const home = `http://127.0.0.1:${server.address().port}/`;
const browser = await chromium.launch({ executablePath: chromiumPath, args: process.getuid() === 0 ? ["--no-sandbox"] : [] });

let failed = 0;
async function does(name, options, hash, act, url = home) {
  if (process.env.ENVFIX_FIGURES === "only") return;
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
  const page = await context.newPage();
  const problems = [];
  page.on("pageerror", (e) => problems.push(e.message));
  page.on("console", (m) => m.type() === "error" && problems.push(m.text()));
  page.on("request", (r) => !r.url().startsWith(url.split("#")[0].replace(/[^/]*$/, "")) && !r.url().startsWith("data:") && !r.url().startsWith("blob:") && problems.push(`asked for ${r.url()}`));
  try {
    if (options.init) await page.addInitScript(options.init);
    await page.goto(url + hash);
    await act(page, context);
    if (problems.length && !options.tolerant) throw new Error(problems.join("; "));
    console.log(`ok ${name}`);
  } catch (e) {
    failed++;
    console.log(`FAIL ${name}: ${e.message.split("\n").slice(0, 3).join(" ")}`);
  }
  await context.close();
}

const answered = (page) => page.waitForSelector("#told:not([hidden]) .title");
const title = (page) => page.textContent("#told .title");
const until = (page, what, arg) => page.waitForFunction(what, arg, { timeout: 15000 });
function same(got, want, what) {
  if (JSON.stringify(got) !== JSON.stringify(want)) throw new Error(`${what}: got ${JSON.stringify(got)}, want ${JSON.stringify(want)}`);
}

const smi = `| NVIDIA-SMI 550.54.14              Driver Version: 550.54.14      CUDA Version: 12.4     |
|   0  Tesla V100-SXM2-16GB           On  |   00000000:01:00.0 Off |                  Off |`;

await does("searches as one types and takes a GPU by keys", {}, "", async (page) => {
  await answered(page);
  await page.fill("#gpu", "409");
  await page.waitForSelector("#models li");
  await page.keyboard.press("ArrowDown");
  const name = await page.textContent("#models li[aria-selected=true]");
  await page.keyboard.press("Enter");
  await until(page, () => document.querySelector("#told .one").textContent.includes("4090"));
  if (!name.includes("4090")) throw new Error(name);
  same(new URL(page.url()).hash.includes("4090"), true, "the link");
});

await does("an older driver changes the answer, and the button takes it back", {}, "#gpu=RTX+4090", async (page) => {
  await answered(page);
  const newest = await title(page);
  await page.fill("#driver", "525.60.13");
  await until(page, (t) => document.querySelector("#told .title").textContent !== t, newest);
  await page.click("button.way:has-text('driver')");
  await until(page, (t) => document.querySelector("#told .title").textContent === t, newest);
});

await does("the link holds the state", {}, "#gpu=V100&gpu=T4&driver=535.54.03&os=windows&python=3.12&package=torch%3D%3D2.9.*&manager=pip&jit=1", async (page, context) => {
  await answered(page);
  same(await page.$$eval("#chips li", (l) => l.map((x) => x.firstChild.data)), ["V100", "T4"], "GPUs");
  same([await page.inputValue("#driver"), await page.inputValue("#os"), await page.inputValue("#python"), await page.inputValue("#packages")], ["535.54.03", "windows", "3.12", "torch==2.9.*"], "fields");
  const first = await page.textContent("#answer");
  const again = await context.newPage();
  await again.goto(page.url());
  await answered(again);
  same(await again.textContent("#answer"), first, "the same answer");
});

await does("a pasted nvidia-smi fills the form; what the doctor knows comes then", {}, "", async (page) => {
  await answered(page);
  same(asked.includes("/doctor.bin"), false, "doctor.bin before a paste");
  await page.click("#paste summary");
  await page.fill("#pasted", smi);
  await page.click("#read");
  await until(page, () => document.querySelector("#driver").value === "550.54.14");
  same(await page.$$eval("#chips li", (l) => l.length), 1, "GPUs");
  same(asked.includes("/doctor.bin"), true, "doctor.bin after it");
});

await does("a pasted error is read by the doctor, and never as HTML", {}, "", async (page) => {
  await answered(page);
  await page.click("#paste summary");
  await page.fill("#pasted", "NVIDIA GeForce RTX 5090 with CUDA capability sm_120 is not compatible with the current PyTorch installation.\n<img src=x onerror=document.title='x'>\nRuntimeError: CUDA error: no kernel image is available for execution on the device");
  await page.click("#read");
  await page.waitForSelector("#read-says .finding.error");
  same(await page.$$eval("#read-says img", (l) => l.length), 0, "elements of the paste");
});

await does("another installer, other commands", {}, "#gpu=RTX+4090&driver=580.65.06", async (page) => {
  await answered(page);
  for (const [manager, word] of [["pip", "-m pip install"], ["conda", "conda create"], ["", "uv pip install"]]) {
    await page.check(`input[name=manager][value="${manager}"]`, { force: true });
    await until(page, (w) => document.querySelector("#rest pre").textContent.includes(w), word);
  }
});

await does("a command is copied whole", { permissions: ["clipboard-read", "clipboard-write"] }, "#gpu=RTX+4090", async (page) => {
  await answered(page);
  await page.click("#rest .copy >> nth=0");
  same(await page.evaluate(() => navigator.clipboard.readText()), await page.textContent("#rest pre >> nth=0"), "the clipboard");
});

await does("the map by keys and by mouse; the chosen row stands out", {}, "#gpu=RTX+4090", async (page) => {
  await page.waitForSelector("#map table");
  same(await page.textContent("#map tr.chosen th b"), "8.9", "the row");
  await page.focus("#map td[tabindex='0']");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("End");
  const said = await page.textContent("#map-say");
  if (!said.includes("torch") || !said.includes("source:")) throw new Error(said);
  await page.hover("#map tr.chosen td >> nth=3");
  if ((await page.textContent("#map-say")) === said) throw new Error("the mouse changes nothing");
  await page.$eval("#mapped", (e) => e.scrollIntoView());
  const [form, map] = await page.$$eval(".ask, #mapped", (l) => l.map((e) => e.getBoundingClientRect()).map((r) => [r.top, r.bottom]));
  if (form[1] > map[0]) throw new Error(`the form lies over the map: ${form} ${map}`);
});

await does("words that are not understood are said, and no others are lost", {}, "#gpu=%3Cimg+src%3Dx+onerror%3Dalert(1)%3E&python=banana", async (page) => {
  await answered(page);
  same(await title(page), "Not understood", "title");
  same(await page.$$eval("main img", (l) => l.length), 0, "elements of the address");
  await page.click("#chips button");
  await page.selectOption("#python", "3.12");
  await until(page, () => document.querySelector("#told .title").textContent.startsWith("torch"));
});

await does("drawn questions, one after the other, by their links", {}, "", async (page) => {
  await answered(page);
  const links = new Set(JSON.parse(fs.readFileSync(questions, "utf8")).map((w) => {
    const q = new URLSearchParams();
    for (const [name, value] of Object.entries(w)) {
      if (Array.isArray(value)) for (const v of value) q.append(name === "packages" ? "package" : name, v);
      else if (value && value !== "linux") q.set(name, value === true ? "1" : value);
    }
    return q.toString();
  }));
  const seen = { understood: 0, nothing: 0, not: 0 };
  for (const link of links) {
    const before = await page.evaluate(() => performance.getEntriesByType("measure").length);
    await page.evaluate((h) => (location.hash = h), link);
    await until(page, (n) => performance.getEntriesByType("measure").length > n, before);
    const [head, copy] = await page.evaluate(() => [document.querySelector("#told .title")?.textContent, document.querySelectorAll("#rest pre").length]);
    if (!head || (head === "Not understood") === copy > 0) throw new Error(`#${link}: ${head}, ${copy} to copy`);
    seen[head === "Not understood" ? "not" : head === "Nothing fits" ? "nothing" : "understood"]++;
  }
  if (!seen.understood || !seen.nothing) throw new Error(JSON.stringify(seen));
});

await does("keys alone reach everything", {}, "#gpu=GTX+1080&driver=550.54.14", async (page) => {
  await answered(page);
  const reached = new Set();
  for (let i = 0; i < 60; i++) {
    await page.keyboard.press("Tab");
    reached.add(await page.evaluate(() => document.activeElement.id || document.activeElement.className || document.activeElement.tagName));
  }
  for (const want of ["gpu", "driver", "os", "python", "packages", "copy", "skip"]) if (![...reached].some((r) => r.includes(want))) throw new Error(`${want} is not reached: ${[...reached]}`);
});

await does("says what is missing without WebAssembly", { init: () => delete globalThis.WebAssembly }, "", async (page) => {
  await until(page, () => document.querySelector("#missing-what").textContent.includes("WebAssembly is"));
  same(await page.isVisible("#missing"), true, "the text");
});

await does("says what is missing without JavaScript", { javaScriptEnabled: false }, "", async (page) => {
  same(await page.isVisible("#missing"), true, "the text");
});

const file = pathToFileURL(path.resolve(oneFile)).href;
await does("one file from a disk, a paste and all", {}, "#gpu=H100&driver=570.86.16", async (page) => {
  await answered(page);
  same((await title(page)).startsWith("torch"), true, "an answer");
  await page.click("#paste summary");
  await page.fill("#pasted", smi);
  await page.click("#read");
  await until(page, () => document.querySelector("#driver").value === "550.54.14");
  await page.waitForSelector("#map table");
}, file);

const looks = {
  light: { colorScheme: "light" },
  dark: { colorScheme: "dark" },
  phone: { colorScheme: "light", viewport: { width: 390, height: 844 }, deviceScaleFactor: 2, isMobile: true, hasTouch: true },
};
for (const [name, options] of Object.entries(looks)) {
  await does(`axe-core finds nothing, nothing scrolls sideways: ${name}`, { ...options, bypassCSP: true, tolerant: true }, "#gpu=V100&driver=450.80.02", async (page) => {
    await page.waitForSelector("#map table");
    for (const summary of await page.$$("summary")) await summary.click();
    await page.evaluate(axe);
    const found = await page.evaluate(() => globalThis.axe.run(document, { resultTypes: ["violations"] }));
    same(found.violations.map((v) => `${v.id} ${v.nodes.length} ${v.nodes[0].html.slice(0, 120)}`), [], "violations");
    const wide = await page.evaluate(() => document.documentElement.scrollWidth);
    const { width } = page.viewportSize();
    if (wide > width) throw new Error(`${wide} pixels wide on ${width}`);
    for (const summary of await page.$$("details[open] > summary")) await summary.click();
    await page.evaluate(() => scrollTo(0, 0));
    if (shots) await page.screenshot({ path: path.join(shots, `${name}.png`), fullPage: true });
  });
}

// Figures: the median of five, where they are asked for.
const median = (list) => list.sort((a, b) => a - b)[Math.floor(list.length / 2)];
for (const [name, url] of process.env.ENVFIX_FIGURES ? [["folder", home], ["one file", file]] : []) {
  const first = [], later = [];
  for (let i = 0; i < 5; i++) {
    const context = await browser.newContext();
    const page = await context.newPage();
    await page.goto(url + "#gpu=RTX+4090&driver=550.54.14");
    await answered(page);
    first.push(await page.evaluate(() => performance.getEntriesByName("first answer")[0].startTime));
    await page.waitForSelector("#map table");
    for (const driver of ["580.65.06", "535.54.03"]) {
      const seen = await page.evaluate(() => performance.getEntriesByType("measure").length);
      await page.fill("#driver", driver);
      await until(page, (n) => performance.getEntriesByType("measure").length > n, seen);
    }
    later.push(await page.evaluate(() => performance.getEntriesByType("measure").at(-1).duration));
    await context.close();
  }
  console.log(`figure ${name}: first answer ${median(first).toFixed(0)} ms, a later one ${median(later).toFixed(1)} ms`);
}
await browser.close();
server.close();
process.exit(failed ? 1 : 0);
