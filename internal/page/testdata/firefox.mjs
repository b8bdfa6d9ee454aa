// What somebody does with the one file in Firefox, over its own WebDriver BiDi: the page
// opens with a question, and a GPU that is typed is answered.
// usage: node --experimental-websocket firefox.mjs ONEFILE FIREFOX
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { spawn } from "node:child_process";
import { pathToFileURL } from "node:url";

const [oneFile, firefox] = process.argv.slice(2);
const profile = fs.mkdtempSync(path.join(os.tmpdir(), "firefox-"));
const child = spawn(firefox, ["--headless", "--no-remote", "--profile", profile, "--remote-debugging-port", "0"], { env: { ...process.env, HOME: profile } });
const address = await new Promise((found, lost) => {
  let said = "";
  child.stderr.on("data", (b) => {
    said += b;
    const m = said.match(/WebDriver BiDi listening on (ws:\/\/\S+)/);
    if (m) found(m[1]);
  });
  child.on("exit", () => lost(new Error(said)));
  child.on("error", lost);
});

const socket = new WebSocket(address + "/session");
await new Promise((open, shut) => ((socket.onopen = open), (socket.onerror = () => shut(new Error(address)))));
const waiting = new Map();
socket.onmessage = (m) => {
  const { id, error, message, result } = JSON.parse(m.data);
  if (!waiting.has(id)) return;
  const [done, failed] = waiting.get(id);
  error ? failed(new Error(message)) : done(result);
};
let last = 0;
const call = (method, params) => new Promise((done, failed) => {
  waiting.set(++last, [done, failed]);
  socket.send(JSON.stringify({ id: last, method, params }));
});

let code = 1;
try {
  await call("session.new", { capabilities: {} });
  const { contexts } = await call("browsingContext.getTree", {});
  const context = contexts[0].context;
  const evaluate = async (expression) => (await call("script.evaluate", { expression, target: { context }, awaitPromise: true })).result.value;
  const until = async (what, expression) => {
    const begin = Date.now();
    for (;;) {
      if (await evaluate(expression)) return (Date.now() - begin) / 1000;
      if (Date.now() - begin > 60000) throw new Error(`${what}: ${await evaluate("document.body.innerText.slice(0, 400)")}`);
      await new Promise((r) => setTimeout(r, 20));
    }
  };
  const press = (keys) => call("input.performActions", { context, actions: [{ type: "key", id: "keys", actions: [...keys].flatMap((value) => [{ type: "keyDown", value }, { type: "keyUp", value }]) }] });
  const begin = Date.now();
  await call("browsingContext.navigate", { context, url: pathToFileURL(path.resolve(oneFile)).href, wait: "complete" });
  await until("the first words", `!!document.querySelector("#told:not([hidden]) .title")`);
  console.log(`ok it opens: ${await evaluate(`document.querySelector("#told .title").textContent`)} (${(Date.now() - begin) / 1000} s)`);
  const opens = await evaluate(`document.querySelector("#answer").textContent`);
  if (!opens.includes("Which GPU")) throw new Error(`it answers before it is asked: ${opens}`);
  await evaluate(`document.querySelector("#gpu").focus()`);
  await press("4090");
  await until("the list of GPUs", `!!document.querySelector("#models li")`);
  await press("\uE015\uE006");
  const took = await until("an answer for the GPU", `document.querySelector("#told").textContent.includes("4090") && /torch \\d/.test(document.querySelector("#told").textContent)`);
  console.log(`ok it answers: ${await evaluate(`document.querySelector("#told .title").textContent`)} (${took} s)`);
  code = 0;
} catch (e) {
  console.log(`FAIL ${e.message}`);
}
child.removeAllListeners("exit");
child.kill();
await new Promise((gone) => child.on("exit", gone));
fs.rmSync(profile, { recursive: true, force: true });
process.exit(code);
