// A table of many rows. Of long ones only the rows in sight are in the page.

import { el } from "./dom.js";

const MOST_WHOLE = 300; // rows of a table that is there as a whole
const BEYOND = 30; // rows above and below those in sight
const MOST_PRINTED = 2000;

let nTables = 0;

// options:
//   caption   the table's contents, for screen readers
//   columns   { name, title, hint, width (in characters; 0: what is left), least (then), align, class, style(row),
//             cell(row): text or a node, value(row) to sort by }
//   rows      anything, one each
//   rowHeight in pixels
//   onSelect(row, index), onOpen(row, index)  a click or the arrow keys; Enter
//   onSort(column)  where the owner sorts; else the table does, by `value`
//   rowClass(row), rowAttributes(row)
//   onKey(event, row, index)  keys that the table has no use for
//   role      of what is more than a table
export function dataTable(options) {
  return new DataTable(options);
}

class DataTable {
  constructor({ caption, columns, rows, rowHeight = 26, onSelect, onOpen, onSort, rowClass, onKey, rowAttributes, role }) {
    Object.assign(this, { columns, rows, rowHeight, onSelect, onOpen, onSort, rowClass, onKey, rowAttributes, role });
    this.id = `table-${(nTables += 1)}`;
    this.selected = -1;
    this.sorted = { name: "", down: true };
    this.body = el("tbody");
    this.head = el("thead");
    this.caption = caption;
    this.table = el(
      "table",
      { role: role ?? (onSelect ? "grid" : null), tabindex: onSelect ? "0" : null, id: this.id },
      el("caption", { class: "unseen" }, caption),
      this.head,
      this.body,
    );
    this.element = el("div", { class: "table", role: "region", "aria-label": caption, tabindex: onSelect ? null : "0" }, this.table);
    this.element.addEventListener("scroll", () => this.draw());
    if (onSelect) {
      this.table.addEventListener("keydown", (event) => this.key(event));
      this.body.addEventListener("click", (event) => this.click(event));
      this.body.addEventListener("dblclick", () => this.open());
    }
    this.watch = new ResizeObserver(() => this.draw());
    this.watch.observe(this.element);
    this.print = (isPrinting) => {
      this.isPrinting = isPrinting;
      this.redraw();
    };
    this.drawHead();
    this.setRows(rows);
  }

  // Call it when the table leaves the page.
  close() {
    this.watch.disconnect();
  }

  drawHead() {
    const cells = this.columns.map((column) => {
      const isSorted = this.sorted.name === column.name;
      const sort = column.value
        ? el("button", { type: "button", title: column.hint, on: { click: () => this.sort(column) } }, column.title)
        : el("span", { title: column.hint }, column.title);
      return el(
        "th",
        {
          scope: "col",
          class: column.align === "left" ? null : "number",
          "aria-sort": isSorted ? (this.sorted.down ? "descending" : "ascending") : null,
          style: column.width ? { width: `${column.width + 2}ch` } : {},
        },
        sort,
      );
    });
    this.head.replaceChildren(el("tr", { "aria-rowindex": "1" }, ...cells));
    const least = this.columns.reduce((all, column) => all + (column.width || column.least || 30) + 2, 0);
    this.table.style.setProperty("min-width", `${least}ch`);
  }

  setColumns(columns) {
    this.columns = columns;
    this.drawHead();
    this.redraw();
  }

  sort(column) {
    this.sorted = { name: column.name, down: this.sorted.name === column.name ? !this.sorted.down : column.align !== "left" };
    this.drawHead();
    this.head.querySelectorAll("button")[this.columns.filter((each) => each.value).indexOf(column)]?.focus();
    if (this.onSort) this.onSort(column, this.sorted.down);
    else this.setRows(sortedBy(this.rows, column.value, this.sorted.down));
  }

  setRows(rows, selected = -1) {
    this.rows = rows;
    this.selected = selected;
    this.isVirtual = rows.length > MOST_WHOLE;
    this.element.classList.toggle("virtual", this.isVirtual);
    this.table.setAttribute("aria-rowcount", rows.length + 1);
    this.redraw();
  }

  redraw() {
    this.from = this.to = -1;
    this.draw();
  }

  // The rows in sight, with some beyond.
  window() {
    const n = this.rows.length;
    if (!this.isVirtual) return [0, n];
    if (this.isPrinting) return [0, Math.min(n, MOST_PRINTED)];
    const first = Math.floor(this.element.scrollTop / this.rowHeight);
    const seen = Math.ceil((this.element.clientHeight || 600) / this.rowHeight);
    return [Math.max(0, first - BEYOND), Math.min(n, first + seen + BEYOND)];
  }

  draw() {
    const [from, to] = this.window();
    const edge = this.isVirtual ? BEYOND / 2 : 0;
    const holds = this.from >= 0 && (from === 0 ? this.from === 0 : this.from <= from + edge);
    if (holds && (to === this.rows.length ? this.to === to : this.to >= to - edge)) return;
    [this.from, this.to] = [from, to];
    const rows = [];
    for (let index = from; index < to; index += 1) rows.push(this.drawRow(index));
    this.body.replaceChildren(this.spacer(from), ...rows, this.spacer(this.isPrinting ? 0 : this.rows.length - to));
    this.showActive();
  }

  spacer(n) {
    if (!n) return "";
    return el(
      "tr",
      { class: "spacer", "aria-hidden": "true" },
      el("td", { colspan: this.columns.length, style: { height: `${n * this.rowHeight}px` } }),
    );
  }

  drawRow(index) {
    const row = this.rows[index];
    const cells = this.columns.map((column) =>
      el(
        "td",
        { class: [column.align === "left" ? "" : "number", column.class ?? ""].join(" ").trim() || null, style: column.style?.(row) },
        column.cell(row),
      ),
    );
    const isSelected = index === this.selected;
    return el(
      "tr",
      {
        id: `${this.id}-${index}`,
        "data-index": index,
        "aria-rowindex": index + 2,
        "aria-selected": this.onSelect ? String(isSelected) : null,
        class: this.rowClass?.(row) || null,
        style: { height: `${this.rowHeight}px` },
        ...this.rowAttributes?.(row),
      },
      ...cells,
    );
  }

  showActive() {
    if (!this.onSelect) return;
    const isThere = this.selected >= this.from && this.selected < this.to;
    if (isThere) this.table.setAttribute("aria-activedescendant", `${this.id}-${this.selected}`);
    else this.table.removeAttribute("aria-activedescendant");
  }

  // Marks a row and scrolls to it, without notifying the owner.
  select(index, isCentred = true) {
    const before = this.body.querySelector('[aria-selected="true"]');
    before?.setAttribute("aria-selected", "false");
    this.selected = index;
    if (index >= 0) this.reveal(index, isCentred);
    this.body.querySelector(`[data-index="${index}"]`)?.setAttribute("aria-selected", "true");
    this.showActive();
  }

  reveal(index, isCentred) {
    const { element, rowHeight } = this;
    const head = this.head.offsetHeight;
    const [top, room] = [index * rowHeight, element.clientHeight - head];
    const isSeen = top >= element.scrollTop && top + rowHeight <= element.scrollTop + room;
    if (!isSeen) element.scrollTop = isCentred ? top - room / 2 : top < element.scrollTop ? top : top + rowHeight - room;
    this.draw();
  }

  click(event) {
    const row = event.target.closest("tr[data-index]");
    if (!row || event.target.closest("a, button")) return;
    this.choose(Number(row.dataset.index));
  }

  choose(index) {
    this.select(index, false);
    this.onSelect(this.rows[index], index);
  }

  open() {
    if (this.onOpen && this.selected >= 0) this.onOpen(this.rows[this.selected], this.selected);
  }

  key(event) {
    if (event.target !== this.table || event.ctrlKey || event.altKey || event.metaKey) return;
    const page = Math.max(1, Math.floor(this.element.clientHeight / this.rowHeight) - 2);
    const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -Infinity, End: Infinity };
    if (event.key in steps && this.rows.length) {
      event.preventDefault();
      this.choose(Math.max(0, Math.min(this.rows.length - 1, this.selected + steps[event.key])));
    } else if (event.key === "Enter") {
      event.preventDefault();
      this.open();
    } else if (this.selected >= 0) {
      this.onKey?.(event, this.rows[this.selected], this.selected);
    }
  }
}

export function sortedBy(rows, value, isDown) {
  const sign = isDown ? -1 : 1;
  const compare = (a, b) => (a < b ? -1 : a > b ? 1 : 0);
  return rows
    .map((row, place) => [value(row), place, row])
    .sort((a, b) => sign * compare(a[0], b[0]) || a[1] - b[1])
    .map(([, , row]) => row);
}
