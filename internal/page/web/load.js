// Runs before the rest of the page is read: the program is compiled while its bytes
// arrive. engine.js takes it from envfixProgram. In the one-file form of the page the
// bytes lie in the page, in pieces; after each a script calls envfixPiece.
{
  const program = document.currentScript.dataset.program; // its address; "" it lies in the page
  const wasm = { headers: { "Content-Type": "application/wasm" } };

  // Two characters are 13 bits; "<", which could end a script, is none of the 91. One that
  // is left over ends the last byte.
  const bytes = (text) => {
    const out = new Uint8Array(Math.floor((text.length * 13) / 16) + (text.length & 1));
    const digit = (i) => text.charCodeAt(i) - (text.charCodeAt(i) > 60 ? 36 : 35);
    let [word, n, at] = [0, 0, 0];
    for (let i = 0; i < text.length; i += 2) {
      const alone = i + 1 === text.length;
      word |= (alone ? digit(i) : digit(i) + 91 * digit(i + 1)) << n;
      for (n += alone ? 8 - n : 13; n >= 8; n -= 8, word >>>= 8) out[at++] = word;
    }
    return out.subarray(0, at);
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
