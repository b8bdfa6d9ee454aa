// The engine: the program as WebAssembly, which load.js compiles, and calls to it.

const inside = document.querySelector("script[data-program='']") !== null; // the one-file form of the page

// What this browser lacks to run the page; "" nothing.
export function lacking() {
  if (typeof WebAssembly !== "object") return "WebAssembly is switched off or not there in this browser.";
  if (inside && typeof DecompressionStream !== "function") {
    return "This browser is older than DecompressionStream (2023), which opens the program inside this file.";
  }
  return "";
}

// start resolves when the program answers.
export async function start() {
  const go = new globalThis.Go();
  go.env.GOGC = "400"; // the first answer needs no garbage collected
  const instance = await WebAssembly.instantiate(await globalThis.envfixProgram, go.importObject);
  await new Promise((ready, failed) => {
    globalThis.envfixReady = ready;
    go.run(instance).then(() => failed(new Error("the program ended")), failed);
  });
}

export function call(name, input) {
  const out = globalThis.envfixCall(name, typeof input === "string" ? input : JSON.stringify(input));
  if (out instanceof Error) throw out;
  return JSON.parse(out);
}

let known; // what the doctor knows, loaded by the first paste

export function learn() {
  known ??= (async () => {
    const response = inside ? globalThis.envfixUnpacked("doctor-data") : await fetch("doctor.bin");
    if (!response.ok) throw new Error(`doctor.bin: ${response.status} ${response.statusText}`);
    const fault = globalThis.envfixKnow(new Uint8Array(await response.arrayBuffer()));
    if (fault) throw fault;
  })();
  known.catch(() => (known = undefined)); // the next paste tries again
  return known;
}
