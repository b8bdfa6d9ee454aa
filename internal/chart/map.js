// The map of GPU generations and torch releases: mouse and keyboard give the reason
// and the source of a cell. The table comes from package chart.

export function walkMap(table, say) {
  const rows = [...table.querySelectorAll("tbody tr")].map((tr) => [...tr.querySelectorAll("td")]);

  function tell(cell) {
    const d = cell.dataset;
    say.replaceChildren();
    const head = document.createElement("b");
    head.textContent = `${d.gpu}, torch ${d.torch}: `;
    say.append(head, d.text + (d.more ? `; also ${d.more.replaceAll(" ", ", ")}` : ""));
    const from = [d.models, d.source && `source: ${d.source}`, d.proof && `known by: ${d.proof}`].filter(Boolean);
    const small = document.createElement("small");
    small.textContent = from.join(" · ");
    say.append(small);
  }

  function move(cell, down, right) {
    const y = rows.findIndex((r) => r.includes(cell));
    const x = rows[y].indexOf(cell);
    const row = rows[Math.min(rows.length - 1, Math.max(0, y + down))];
    const next = row[Math.min(row.length - 1, Math.max(0, x + right))];
    cell.tabIndex = -1;
    next.tabIndex = 0;
    next.focus();
  }

  const steps = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1], Home: [0, -999], End: [0, 999], PageUp: [-5, 0], PageDown: [5, 0] };
  table.addEventListener("keydown", (e) => {
    const step = steps[e.key];
    if (step && e.target.role === "gridcell") {
      e.preventDefault();
      move(e.target, ...step);
    }
  });
  const onCell = (e) => e.target.closest("td[role=gridcell]");
  table.addEventListener("focusin", (e) => onCell(e) && tell(onCell(e)));
  table.addEventListener("mouseover", (e) => onCell(e) && tell(onCell(e)));
  table.addEventListener("click", (e) => onCell(e) && tell(onCell(e)));
}
