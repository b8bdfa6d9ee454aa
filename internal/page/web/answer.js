// The answer: built of elements, so that no word of it is ever read as HTML.

export function el(tag, attributes, ...children) {
  const e = document.createElement(tag);
  for (const [k, v] of Object.entries(attributes || {})) {
    if (k === "class") e.className = v;
    else if (k.startsWith("on")) e.addEventListener(k.slice(2), v);
    else e.setAttribute(k, v);
  }
  e.append(...children.filter((c) => c !== null && c !== undefined && c !== ""));
  return e;
}

// words puts what stands in backticks into code.
export function words(text) {
  return text.split("`").map((part, i) => (i % 2 ? el("code", {}, part) : part));
}

function copyButton(text, what) {
  const b = el("button", { type: "button", class: "copy", "aria-label": `copy ${what}` }, "Copy");
  b.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(text);
      b.textContent = "Copied";
    } catch {
      // file:// in some browsers: select it, so that the keys copy it
      const range = document.createRange();
      range.selectNodeContents(b.parentElement.querySelector("pre"));
      getSelection().removeAllRanges();
      getSelection().addRange(range);
      b.textContent = "Selected";
    }
    setTimeout(() => (b.textContent = "Copy"), 1500);
  });
  return b;
}

function commands(list) {
  return list.map((c) => {
    const text = c.lines.join("\n");
    if (!c.shell) return el("div", { class: "cmd" }, el("h4", {}, c.title), ...c.lines.map((l) => el("p", {}, ...words(l))));
    const shell = c.shell === "sh" ? "" : ` (${c.shell})`;
    return el("div", { class: "cmd" }, el("h4", {}, c.title + shell),
      el("div", { class: "code" }, el("pre", { tabindex: "0", role: "region", "aria-label": c.title }, el("code", {}, text)), copyButton(text, c.title)));
  });
}

function section(title, ...children) {
  return children.length ? el("section", {}, el("h3", {}, title), ...children) : null;
}

function way(w, choose) {
  const gives = `torch ${w.torch}, build ${w.build}`;
  const label = [el("b", {}, ...words(w.change)), el("span", {}, gives)];
  return w.words ? el("button", { type: "button", class: "way", onclick: () => choose(w.words) }, ...label) : el("p", { class: "way" }, ...label);
}

const reason = (r) => el("li", {}, el("span", { class: "rule" }, r.rule), el("span", {}, ...words(r.text), r.source ? el("small", {}, r.source) : null));

// What stands there before a machine is described.
export const opening = { ok: true, title: "Which GPU is it?", text: "Name it, or paste what your terminal says; a Mac is chosen as the system." };
export const noGPU = (choose) => el("button", { type: "button", class: "way", onclick: () => choose({ cpu: true }) }, el("b", {}, "There is none"), el("span", {}, "the processor computes"));

// The first part of an answer, which screen readers are told.
export function head(a) {
  if (a.error) {
    return [el("p", { class: "title bad" }, "Not understood"), el("p", { class: "text" }, ...words(a.error.text)),
      ...(a.error.details || []).map((d) => el("p", { class: "help" }, d)), ...(a.error.hints || []).map((h) => el("p", { class: "help" }, ...words(h)))];
  }
  return [
    el("p", { class: a.ok ? "title" : "title wait" }, a.title),
    el("p", { class: "text" }, a.text),
    a.one ? el("p", { class: "one" }, ...words(a.one)) : null,
  ].filter(Boolean);
}

export function rest(a, choose) {
  if (a.error) return [];
  const d = a.decided;
  const facts = el("dl", { class: "parts" }, ...(a.parts || []).map(([k, v]) => el("div", v.length > 24 ? { class: "wide" } : {}, el("dt", {}, k), el("dd", {}, v))));
  const assumed = a.assumed && a.assumed.length ? el("p", { class: "help" }, `Assumed: ${a.assumed.join("; ")}.`) : null;
  const held = d.held_back ? el("p", {}, ...words(d.held_back)) : null;
  const then = d.then && d.decision !== "install" && d.fallback ? el("p", {}, `After the change of the driver: torch ${d.then.torch}, build ${d.then.build}. Until then: torch ${d.fallback.torch}, build ${d.fallback.build}, which the commands below install.`) : null;
  const groups = (d.environments || []).filter((e) => e.choice).map((e) => el("p", {}, `GPU ${e.gpus.join(", ")}: torch ${e.choice.torch}, build ${e.choice.build}`));
  return [
    facts.childElementCount ? facts : null, assumed, then, ...groups,
    section("To copy", ...commands(a.do || [])),
    held ? section("Why nothing newer", held) : null,
    section("Other answers", ...[(a.ways || []).length ? el("div", { class: "ways" }, ...a.ways.map((w) => way(w, choose))) : null,
      ...(d.alternatives || []).map((t) => el("p", { class: "help" }, ...words(t)))].filter(Boolean)),
    (d.warnings || []).length ? section("Worth knowing", el("ul", { class: "warnings" }, ...d.warnings.map((t) => el("li", {}, ...words(t))))) : null,
    (d.reasons || []).length ? el("details", { class: "every" }, el("summary", {}, "Every rule and its source"), el("ul", { class: "rules" }, ...d.reasons.map(reason))) : null,
    el("details", { class: "every" }, el("summary", {}, "The same question in a terminal"), ...commands([{ title: "envfix plan", shell: "sh", lines: [a.ask] }])),
  ].filter(Boolean);
}

// What a paste said.
export function readSays(r) {
  const out = [];
  if (r.found && r.found.length) out.push(el("p", {}, el("b", {}, "Found: "), r.found.join(", "), "."));
  for (const n of r.notes || []) out.push(el("p", { class: "help" }, n));
  for (const f of r.findings || []) {
    out.push(el("div", { class: `finding ${f.severity}` }, el("p", {}, el("b", {}, `${f.severity}: `), ...words(f.text)),
      (f.fix || []).length ? el("ol", {}, ...f.fix.map((x) => el("li", {}, ...words(x)))) : null,
      (f.evidence || []).length ? el("details", {}, el("summary", {}, "What was seen"), el("ul", {}, ...f.evidence.map((x) => el("li", {}, x)))) : null));
  }
  if (r.more) out.push(el("p", { class: "help" }, `${r.more} more, less likely or a consequence.`));
  if (!out.length) out.push(el("p", {}, "Nothing in it names a GPU, a driver or a cause. Paste more: the whole of nvidia-smi, or the error from Traceback to its last line."));
  return out;
}
