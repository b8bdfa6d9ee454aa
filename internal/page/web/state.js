// The state of the page: the words that were said, as the form and as the address.

const texts = ["driver", "os", "arch", "libc", "python", "cuda", "build", "only_index", "gpus"];
const ticks = ["jit", "cpu"];

export const state = { gpu: [], manager: "", packages: [] };
for (const name of texts) state[name] = "";
for (const name of ticks) state[name] = false;

const field = (name) => document.getElementById(name);

export function fromForm() {
  for (const name of texts) state[name] = field(name).value.trim();
  for (const name of ticks) state[name] = field(name).checked;
  state.manager = document.querySelector("input[name=manager]:checked").value;
  state.packages = field("packages").value.split(/\s+/).filter(Boolean);
}

export function toForm() {
  for (const name of texts) {
    const f = field(name);
    if (f.tagName === "SELECT" && state[name] && ![...f.options].some((o) => o.value === state[name])) f.add(new Option(state[name]));
    f.value = state[name];
  }
  for (const name of ticks) field(name).checked = state[name];
  for (const r of document.querySelectorAll("input[name=manager]")) r.checked = r.value === state.manager;
  field("packages").value = state.packages.join(" ");
  if (["arch", "cuda", "build", "only_index", "gpus", "jit", "cpu"].some((n) => state[n])) field("more").open = true;
}

// take puts the words of an answer, of a paste or of an address in place of the state's.
export function take(words) {
  state.gpu = (words.gpu || []).slice(0, 64);
  state.packages = words.packages || [];
  for (const name of texts) state[name] = words[name] || "";
  for (const name of ticks) state[name] = Boolean(words[name]);
  state.manager = words.manager === "uv" ? "" : words.manager || "";
  if (state.os === "linux") state.os = "";
  if (state.arch === "x86_64" && state.os !== "macos") state.arch = ""; // as usual
}

export function fragment() {
  const q = new URLSearchParams();
  for (const g of state.gpu) q.append("gpu", g);
  for (const name of [...texts, "manager"]) if (state[name]) q.set(name, state[name]);
  for (const name of ticks) if (state[name]) q.set(name, "1");
  for (const p of state.packages) q.append("package", p);
  return q.toString();
}

export function fromFragment(hash) {
  const q = new URLSearchParams(hash.replace(/^#/, ""));
  const words = { gpu: q.getAll("gpu"), packages: q.getAll("package"), manager: q.get("manager") };
  for (const name of texts) words[name] = q.get(name);
  for (const name of ticks) words[name] = q.get(name) === "1";
  take(words);
}
