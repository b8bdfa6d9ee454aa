// The engine: the program as WebAssembly, and calls to it. In the one-file form of the
// page it lies in the page itself, compressed.

// What this browser lacks to run the page; "" nothing.
export function lacking() {
  if (typeof WebAssembly !== "object") return "WebAssembly is switched off or not there in this browser.";
  if (document.getElementById("wasm-data") && typeof DecompressionStream !== "function") {
    return "This browser is older than DecompressionStream (2023), which opens the program inside this file.";
  }
  return "";
}

function unpacked(id) {
  const text = atob(document.getElementById(id).textContent.trim());
  const bytes = new Uint8Array(text.length); // from(text, …) walks it as an iterator: a tenth of a second
  for (let i = 0; i < bytes.length; i++) bytes[i] = text.charCodeAt(i);
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip")));
}

async function compiled(imports) {
  if (document.getElementById("wasm-data")) {
    return WebAssembly.instantiate(await unpacked("wasm-data").arrayBuffer(), imports);
  }
  const response = await fetch("envfix.wasm");
  if (!response.ok) throw new Error(`envfix.wasm: ${response.status} ${response.statusText}`);
  if ((response.headers.get("Content-Type") || "").startsWith("application/wasm")) {
    return WebAssembly.instantiateStreaming(response, imports);
  }
  return WebAssembly.instantiate(await response.arrayBuffer(), imports); // a server that does not know the type
}

// start resolves when the program answers.
export async function start() {
  const go = new globalThis.Go();
  const { instance } = await compiled(go.importObject);
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
    const response = document.getElementById("doctor-data") ? unpacked("doctor-data") : await fetch("doctor.bin");
    if (!response.ok) throw new Error(`doctor.bin: ${response.status} ${response.statusText}`);
    const fault = globalThis.envfixKnow(new Uint8Array(await response.arrayBuffer()));
    if (fault) throw fault;
  })();
  known.catch(() => (known = undefined)); // the next paste tries again
  return known;
}
