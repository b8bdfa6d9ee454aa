// The GPUs: a field that searches as you type, and the chosen ones.
import { call } from "./engine.js";
import { state } from "./state.js";

export function gpuField(changed) {
  const input = document.getElementById("gpu");
  const list = document.getElementById("models");
  const chips = document.getElementById("chips");
  let at = -1;

  function add(name) {
    name = name.trim();
    if (!name) return;
    state.gpu.push(name);
    input.value = "";
    close();
    drawChips();
    changed();
  }

  function close() {
    list.hidden = true;
    list.replaceChildren();
    at = -1;
    input.setAttribute("aria-expanded", "false");
    input.removeAttribute("aria-activedescendant");
  }

  function search() {
    const found = input.value.trim() ? call("search", input.value) : [];
    close();
    found.forEach((m, i) => {
      const li = document.createElement("li");
      li.role = "option";
      li.id = `model-${i}`;
      li.ariaSelected = "false";
      li.dataset.name = m.name;
      const what = document.createElement("small");
      what.textContent = m.what;
      li.append(m.name, what);
      li.addEventListener("pointerdown", (e) => {
        e.preventDefault(); // the field keeps the focus
        add(m.name);
      });
      list.append(li);
    });
    list.hidden = found.length === 0;
    input.setAttribute("aria-expanded", String(found.length > 0));
  }

  function point(n) {
    const items = [...list.children];
    if (!items.length) return;
    at = (n + items.length) % items.length;
    items.forEach((li, i) => (li.ariaSelected = String(i === at)));
    input.setAttribute("aria-activedescendant", items[at].id);
    items[at].scrollIntoView({ block: "nearest" });
  }

  input.addEventListener("input", search);
  input.addEventListener("blur", () => (input.value.trim() ? add(input.value) : close()));
  input.addEventListener("keydown", (e) => {
    if (e.key === "ArrowDown" || e.key === "ArrowUp") {
      e.preventDefault();
      point(at + (e.key === "ArrowDown" ? 1 : at < 0 ? 0 : -1));
    } else if (e.key === "Enter") {
      e.preventDefault();
      add(at >= 0 ? list.children[at].dataset.name : input.value);
    } else if (e.key === "Escape") {
      close();
    } else if (e.key === "Backspace" && !input.value && state.gpu.length) {
      state.gpu.pop();
      drawChips();
      changed();
    }
  });

  function drawChips() {
    chips.replaceChildren();
    chips.hidden = state.gpu.length === 0;
    state.gpu.forEach((name, i) => {
      const li = document.createElement("li");
      const remove = document.createElement("button");
      remove.type = "button";
      remove.textContent = "×";
      remove.ariaLabel = `remove ${name}`;
      remove.addEventListener("click", () => {
        state.gpu.splice(i, 1);
        drawChips();
        input.focus();
        changed();
      });
      li.append(name, remove);
      chips.append(li);
    });
  }
  return drawChips;
}
