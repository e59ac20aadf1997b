"use strict";
// Sorts the rows of each λ by a column; λ's own column sorts the λ. Without it the page is whole.
for (const table of document.querySelectorAll("table.sortable")) {
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const down = head.getAttribute("aria-sort") === "ascending";
      heads.forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      const bodies = [...table.tBodies];
      if (column === 0) {
        table.append(...inOrder(bodies, (body) => ({ number: parseFloat(body.rows[0].cells[0].textContent) }), down));
      } else {
        for (const body of bodies) {
          const rows = [...body.rows].filter((row) => !row.classList.contains("reference"));
          body.append(...inOrder(rows, (row) => keyOf(row.cells[column]), down));
        }
      }
    });
  });
}
for (const hint of document.querySelectorAll(".scripted")) hint.hidden = false;
addEventListener("beforeprint", () => {
  for (const details of document.querySelectorAll("details")) details.open = true;
});

function keyOf(cell) {
  const number = cell.dataset.value === undefined ? NaN : parseFloat(cell.dataset.value.replace("inf", "Infinity"));
  return { number, text: cell.textContent.trim() };
}

// Numbers before fields without one, whichever way they run; text by itself.
function inOrder(items, key, down) {
  const sign = down ? -1 : 1;
  const keyed = items.map((item) => ({ item, ...key(item) }));
  keyed.sort((a, b) => {
    const lacking = Number.isNaN(a.number) - Number.isNaN(b.number);
    if (lacking) return lacking;
    if (!Number.isNaN(a.number)) return a.number === b.number ? 0 : sign * (a.number < b.number ? -1 : 1);
    return sign * a.text.localeCompare(b.text);
  });
  return keyed.map((entry) => entry.item);
}
