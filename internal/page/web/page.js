// The page: words in, the answer out. Every answer is computed here.
import { call, lacking, learn, start } from "./engine.js";
import { fragment, fromForm, fromFragment, state, take, toForm } from "./state.js";
import { gpuField } from "./gpus.js";
import { head, noGPU, opening, readSays, rest } from "./answer.js";
import { walkMap } from "./map.js";

const at = (id) => document.getElementById(id);
let drawChips;
let lastQuestion = "";

const question = () => ({ ...state, today: new Date().toISOString().slice(0, 10) });

// answer asks and shows. What the address holds is what was asked.
function answer() {
  const asked = JSON.stringify(question());
  if (asked === lastQuestion) return;
  lastQuestion = asked;
  const began = performance.now();
  let a;
  try {
    a = fragment() ? call("ask", asked) : opening;
    at("told").replaceChildren(...head(a));
    at("rest").replaceChildren(...(a === opening ? [noGPU(choose)] : rest(a, choose)));
  } catch (e) { // a fault of ours: said, and not an older answer left standing
    at("told").replaceChildren(...head({ error: { text: `This page failed at the question: ${e.message}`, hints: ["`envfix plan` answers it in a terminal"] } }));
    at("rest").replaceChildren();
    console.error(e);
  }
  at("told").hidden = at("rest").hidden = false;
  const hash = fragment();
  if (location.hash.slice(1) !== hash) history.replaceState(null, "", hash ? `#${hash}` : location.pathname + location.search);
  performance.measure("answer", { start: began });
  clearTimeout(answer.later);
  answer.later = setTimeout(drawMap, 150);
}

// drawMap comes after the answer: nobody waits for it.
function drawMap() {
  const drawn = call("map", question());
  if (!drawn.html) return;
  at("map").innerHTML = drawn.html; // package chart escapes every word
  at("mapped").hidden = false;
  walkMap(at("map").querySelector("table"), at("map-say"));
}

function choose(words) {
  take(words);
  toForm();
  drawChips();
  answer();
  at("answer").focus({ preventScroll: false });
}

async function readPaste() {
  const text = at("pasted").value;
  if (!text.trim()) return;
  await learn();
  const r = call("paste", text);
  at("read-says").replaceChildren(...readSays(r));
  const w = r.words;
  if (w.gpu && w.gpu.length) state.gpu = w.gpu;
  for (const name of ["driver", "os", "arch", "libc", "python"]) if (w[name]) state[name] = name === "os" && w[name] === "linux" ? "" : w[name];
  if (state.arch === "x86_64") state.arch = "";
  toForm();
  drawChips();
  answer();
}

function options(about) {
  const python = at("python");
  for (const p of about.pythons) if (![...python.options].some((o) => o.value === p)) python.add(new Option(p)); // the address may have named one
  for (const b of about.branches) at("drivers").append(new Option(b));
  at("about").textContent = `Data ${about.matrix} of ${about.date}; the newest torch it knows is ${about.newest}.`;
}

function missing(what) {
  at("missing-what").textContent = what;
  at("missing").hidden = false;
}

async function begin() {
  const lacks = lacking();
  if (lacks) return missing(lacks);
  try {
    await start();
  } catch (e) {
    return missing(`The program could not be started: ${e.message}`);
  }
  at("missing").hidden = true;
  drawChips = gpuField(answer);
  fromFragment(location.hash);
  toForm();
  drawChips();
  answer();
  performance.mark("first answer");
  setTimeout(() => options(call("about", ""))); // after it is seen
  at("form").addEventListener("input", (e) => {
    if (e.target.id === "gpu" || e.target.id === "pasted") return;
    fromForm();
    clearTimeout(begin.later);
    begin.later = setTimeout(answer, e.target.type === "text" ? 200 : 0);
  });
  at("form").addEventListener("submit", (e) => e.preventDefault());
  at("read").addEventListener("click", readPaste);
  at("pasted").addEventListener("paste", () => setTimeout(readPaste));
  addEventListener("hashchange", () => {
    fromFragment(location.hash);
    toForm();
    drawChips();
    answer();
  });
}

begin();
