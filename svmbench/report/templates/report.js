"use strict";
// Sorts tables and filters claims. Without it the page is whole.

// Cells that name a row, and their heads.
const NAMES = ".ref, [scope=row]";

// ---- On a narrow page each row of a table with groups of columns, or wider than the page, is a card.
if (matchMedia("(max-width: 640px)").matches) {
  for (const table of document.querySelectorAll("table.sortable")) {
    const rows = [...table.tHead.rows].map((row) => [...row.cells]);
    const heads = rows.pop(), groups = rows.pop();
    if (!groups && table.scrollWidth <= table.parentElement.clientWidth) continue;
    const group = (groups || []).flatMap((cell) => Array(cell.colSpan).fill(cell.textContent.trim()));
    const both = heads.filter((head) => head.textContent.trim() === "ours (published)");
    const named = heads.map((head, at) => [group[at], both.includes(head) ? "" : head.textContent.trim()].filter(Boolean));
    if (both.length) table.before(Object.assign(document.createElement("p"), { className: "facts", textContent: both[0].textContent }));
    [...table.tBodies].forEach(fillRepeated);
    for (const row of [...table.tBodies].flatMap((body) => [...body.rows])) {
      [...row.cells].forEach((cell, at) => (cell.dataset.label = named[at].join(", ")));
    }
    table.classList.replace("sortable", "stacked");
  }
}

// ---- Tables: a click on a column's name sorts the rows of each group; a group is a tbody.
for (const table of document.querySelectorAll("table.sortable")) {
  const heads = [...table.tHead.rows[table.tHead.rows.length - 1].cells];
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
      bodies.forEach(fillRepeated);
      if (column === 0 && bodies.length > 1) {
        table.append(...inOrder(bodies, (body) => keyOf(body.rows[0].cells[0]), down));
      } else {
        for (const body of bodies) {
          const rows = [...body.rows].filter((row) => !row.classList.contains("reference"));
          body.append(...inOrder(rows, (row) => keyOf(row.cells[column]), down));
        }
      }
    });
  });
}

// A name that is printed once for several rows is written into each before they change places.
function fillRepeated(body) {
  const last = [];
  for (const row of body.rows) {
    [...row.cells].forEach((cell, at) => {
      if (!cell.matches(NAMES)) return;
      if (cell.textContent.trim() === "" && last[at]) {
        cell.textContent = last[at];
        cell.classList.add("again");
      }
      last[at] = cell.textContent.trim();
    });
  }
}

function keyOf(cell) {
  const text = cell.textContent.trim();
  let number = NaN;
  if (cell.dataset.value !== undefined) number = parseFloat(cell.dataset.value.replace("inf", "Infinity"));
  else if (/^[0-9.]+(e[+-]?[0-9]+)?( \(|$)/.test(text)) number = parseFloat(text); // a λ or an ε
  else if (cell.matches(".number, .paper td")) number = parseFloat(text.replace(/^[^0-9.+-]+/, "").replaceAll(",", ""));
  return { number, text };
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

// ---- Claims: a click on a count leaves the claims of that verdict.
for (const filter of document.querySelectorAll("[data-filter]")) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "filter";
  button.append(...filter.childNodes);
  filter.append(button);
  button.setAttribute("aria-pressed", "false");
  button.addEventListener("click", () => {
    const on = button.getAttribute("aria-pressed") !== "true";
    for (const other of document.querySelectorAll("button.filter")) other.setAttribute("aria-pressed", "false");
    button.setAttribute("aria-pressed", String(on));
    for (const row of document.querySelectorAll("[data-verdict]")) {
      row.hidden = on && row.dataset.verdict !== filter.dataset.filter;
    }
  });
}

// ---- A link to folded numbers unfolds them.
function unfold() {
  const target = location.hash ? document.getElementById(decodeURIComponent(location.hash.slice(1))) : null;
  if (!(target instanceof HTMLDetailsElement)) return;
  const row = target.closest("tr");
  if (row) row.hidden = false; // a filter may have hidden it
  target.open = true;
  target.scrollIntoView();
}
addEventListener("hashchange", unfold);
unfold();

for (const hint of document.querySelectorAll(".scripted")) hint.hidden = false;
addEventListener("beforeprint", () => {
  for (const details of document.querySelectorAll("details")) details.open = true;
});
