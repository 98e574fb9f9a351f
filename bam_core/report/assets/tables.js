// SPDX-License-Identifier: Apache-2.0
// The table of logs: sorted by a click on a heading, reduced to what is looked for.
(() => {
  const table = document.getElementById("logs");
  if (!table) return;
  const body = table.tBodies[0];
  const rows = [...body.rows];
  const key = (row, column) => {
    const text = row.cells[column].textContent.trim();
    const number = parseFloat(text);
    return /^[−-]?\d/.test(text) && !Number.isNaN(number) ? number : text;
  };
  const compare = (a, b) => {
    if (typeof a === typeof b) return typeof a === "number" ? a - b : a.localeCompare(b, "en", { numeric: true });
    return typeof a === "number" ? -1 : 1;
  };
  table.querySelectorAll(".sort").forEach((button, column) => {
    button.addEventListener("click", () => {
      const heading = button.parentElement;
      const down = heading.getAttribute("aria-sort") === "ascending";
      table.querySelectorAll("[aria-sort]").forEach((other) => other.removeAttribute("aria-sort"));
      heading.setAttribute("aria-sort", down ? "descending" : "ascending");
      rows.sort((a, b) => (down ? -1 : 1) * compare(key(a, column), key(b, column)));
      body.append(...rows);
    });
  });
  const filter = document.getElementById("log-filter");
  if (!filter) return;
  const search = () => {
    const wanted = filter.value.toLowerCase().split(/\s+/);
    for (const row of rows) {
      const text = row.textContent.toLowerCase();
      row.hidden = !wanted.every((word) => text.includes(word));
    }
    const count = rows.filter((row) => !row.hidden).length;
    document.getElementById("log-count").textContent = `${count} of ${rows.length}`;
  };
  filter.addEventListener("input", search);
  search();
})();
