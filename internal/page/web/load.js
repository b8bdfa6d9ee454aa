// Runs before the rest of the page is read: the program is compiled while its bytes
// arrive. engine.js takes it from envfixProgram. In the one-file form of the page the
// bytes lie in the page, in pieces; after each a script calls envfixPiece.
{
  const program = document.currentScript.dataset.program; // its address; "" it lies in the page
  const wasm = { headers: { "Content-Type": "application/wasm" } };

  // Ascii85 is 6 % shorter than base64. "v" stands for "<", which could end a script.
  const bytes = (text) => {
    const out = new Uint8Array(Math.floor((text.length * 4) / 5));
    for (let i = 0, at = 0; at < out.length; ) {
      let word = 0;
      for (const end = i + 5; i < end; i++) {
        const code = i < text.length ? text.charCodeAt(i) : 117; // a short last group is filled up
        word = word * 85 + (code === 118 ? 27 : code - 33);
      }
      for (let shift = 24; shift >= 0; shift -= 8) out[at++] = word >>> shift; // past the end is nowhere
    }
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
