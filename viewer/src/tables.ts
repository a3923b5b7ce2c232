/** The number of a cell such as `1.52 s`, `4,103` or `12%`; null for other texts. */
export function numberOf(text: string): number | null {
  const found = /^(?:up to |< )?([\d,]+(?:\.\d+)?)\s*(ns|µs|ms|s|min|h|%|B|kB|KiB|MB|MiB|GB|GiB)?$/.exec(text.trim());
  if (!found) return null;
  const units: Record<string, number> = {
    ns: 1e-9,
    µs: 1e-6,
    ms: 1e-3,
    min: 60,
    h: 3600,
    kB: 1e3,
    KiB: 1024,
    MB: 1e6,
    MiB: 1 << 20,
    GB: 1e9,
    GiB: 2 ** 30,
  };
  return Number(found[1].replaceAll(",", "")) * (units[found[2]] ?? 1);
}

/** Numbers from the largest, then texts. */
export function compared(a: string, b: string): number {
  const [first, second] = [numberOf(a), numberOf(b)];
  if (first !== null && second !== null) return second - first;
  if (first !== null || second !== null) return first !== null ? -1 : 1;
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Headings become buttons that sort: once by the column, again in reverse, a third time as at first. */
export function makeSortable(table: HTMLTableElement): void {
  const body = table.tBodies[0];
  const head = table.tHead?.rows[0];
  if (!body || !head || body.rows.length < 2) return;
  const original = [...body.rows];
  [...head.cells].forEach((cell, column) => {
    if (cell.tagName !== "TH") return;
    const button = document.createElement("button");
    button.type = "button";
    button.className = "tz-sort";
    button.textContent = cell.textContent;
    cell.replaceChildren(button);
    button.addEventListener("click", () => {
      const order =
        { none: "descending", descending: "ascending", ascending: "none" }[cell.ariaSort ?? "none"] ?? "none";
      for (const other of head.cells) other.removeAttribute("aria-sort");
      const text = (row: HTMLTableRowElement) => row.cells[column]?.textContent ?? "";
      const rows = [...original];
      if (order !== "none") {
        cell.setAttribute("aria-sort", order);
        rows.sort((a, b) => compared(text(a), text(b)) * (order === "ascending" ? -1 : 1));
      }
      body.append(...rows);
    });
  });
}
