// Runs before the rest of the page is read: the program is compiled while its bytes
// arrive. engine.js takes it from envfixProgram. In the one-file form of the page the
// bytes lie in the page, in pieces; after each a script calls envfixPiece.
{
  const program = document.currentScript.dataset.program; // its address; "" it lies in the page
  const wasm = { headers: { "Content-Type": "application/wasm" } };

  const bytes = (base64) => {
    if (Uint8Array.fromBase64) return Uint8Array.fromBase64(base64);
    const text = atob(base64);
    const out = new Uint8Array(text.length); // from(text, …) walks it as an iterator: a tenth of a second
    for (let i = 0; i < out.length; i++) out[i] = text.charCodeAt(i);
    return out;
  };

  const compile = async (response) => {
    response = await response;
    if (!response.ok) throw new Error(`${program}: ${response.status} ${response.statusText}`);
    const typed = (response.headers.get("Content-Type") || "").startsWith("application/wasm");
    if (typed && WebAssembly.compileStreaming) return WebAssembly.compileStreaming(response);
    return WebAssembly.compile(await response.arrayBuffer()); // a server that does not know the type
  };

  // envfixUnpacked is what lies in the page under an id.
  globalThis.envfixUnpacked = (id) =>
    new Response(new Blob([bytes(document.getElementById(id).textContent)]).stream().pipeThrough(new DecompressionStream("gzip")));

  globalThis.envfixPiece = () => {};
  if (typeof WebAssembly === "object" && (program || typeof DecompressionStream === "function")) {
    if (program) {
      globalThis.envfixProgram = compile(fetch(program));
    } else {
      const { readable, writable } = new DecompressionStream("gzip");
      const writer = writable.getWriter();
      globalThis.envfixProgram = compile(new Response(readable, wasm));
      globalThis.envfixPiece = () => {
        const piece = document.currentScript.previousElementSibling;
        writer.write(bytes(piece.textContent)).catch(() => {}); // the compiler says what is wrong with them
        if ("last" in piece.dataset) writer.close().catch(() => {});
        piece.remove();
      };
    }
    globalThis.envfixProgram.catch(() => {}); // engine.js says it
  }
}
