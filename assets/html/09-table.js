// The table of ranks, as attnscope spectrum prints it: the text alternative of the page. A click on
// a heading sorts, a click on a row chooses its map.

const order = { column: null, down: false };

// The columns of all subjects' tables in both views, by name; remarks have no name.
function tableColumns() {
  const columns = new Map();
  for (const subject of subjects) {
    for (const view of ["without", "with"]) {
      for (const column of subject.tables[view].columns) {
        if (!columns.has(column.name)) columns.set(column.name, column.title.replace(/\n/g, " "));
      }
    }
  }
  return columns;
}

// A cell of a map's row: [value, words]. The equivalent rank follows the threshold.
function cellOf(map, name) {
  const table = map.subject.tables[viewOf(map, choice.identity)];
  const at = table.columns.findIndex((column) => column.name === name);
  if (at < 0) return [null, ""];
  const [value, words] = table.rows[map.row][at];
  if (name !== "equivalent_rank" || value === null) return [value, words];
  const rank = rankOf(map);
  return [rank, (map.estimated ? "≈ " : "") + rank];
}

function compareCells([a], [b]) {
  if (a === null || b === null) return (a === null) - (b === null); // unknown ones come last
  return typeof a === "string" ? a.localeCompare(b) : a - b;
}

function sortedMaps() {
  const maps = subjects.flatMap((subject) => subject.maps);
  const { column, down } = order;
  if (column === null) return maps;
  const value = (map) => (column === "model" ? [map.subject.index] : cellOf(map, column));
  const known = (map) => value(map)[0] !== null;
  return maps.map((map, i) => [map, i]).sort(([a, i], [b, j]) => {
    const sign = down && known(a) && known(b) ? -1 : 1;
    return sign * compareCells(value(a), value(b)) || i - j;
  }).map(([map]) => map);
}

function headingOf(name, title) {
  const sorted = order.column === name;
  const heading = element("th", { scope: "col",
    "aria-sort": sorted ? (order.down ? "descending" : "ascending") : "none",
    class: name === "model" || name === "" ? "words" : null });
  if (name === "") return heading;
  const button = element("button", { type: "button", "data-column": name }, title);
  button.addEventListener("click", () => {
    if (sorted && order.down) Object.assign(order, { column: null, down: false });
    else Object.assign(order, { column: name, down: sorted });
    drawTable();
    document.querySelector(`#table button[data-column="${CSS.escape(name)}"]`).focus();
  });
  heading.append(button);
  return heading;
}

function rowElement(map, names) {
  const row = element("tr", { tabindex: "-1", "aria-selected": String(choice.maps.includes(map)) });
  seriesColour(row, map.subject);
  if (subjects.length > 1) {
    row.append(element("th", { scope: "row", class: "words", title: map.subject.label },
      element("span", { class: "dot", "aria-hidden": "true" }), map.subject.label));
  }
  for (const name of names) {
    const [, words] = cellOf(map, name);
    row.append(element("td", { class: name === "" ? "words" : null, "data-column": name }, words));
  }
  row.addEventListener("click", () => chooseMap(map));
  row.addEventListener("keydown", (event) => rowKey(event, row, map));
  return row;
}

function rowKey(event, row, map) {
  const next = { ArrowDown: row.nextElementSibling, ArrowUp: row.previousElementSibling }[event.key];
  if (next) {
    event.preventDefault();
    next.focus();
  } else if (event.key === "Enter" || event.key === " ") {
    event.preventDefault();
    chooseMap(map);
    document.querySelector('#table tr[aria-selected="true"]')?.focus();
  }
}

function drawTable() {
  const box = document.getElementById("table");
  const columns = tableColumns();
  if (![...cells.keys()].some((map) => cellOf(map, "")[1])) columns.delete("");
  const names = [...columns.keys()];
  const heads = names.map((name) => headingOf(name, columns.get(name)));
  if (subjects.length > 1) heads.unshift(headingOf("model", "model"));
  const rows = sortedMaps().map((map) => rowElement(map, names));
  const scroll = box.scrollTop;
  box.replaceChildren(element("table", {},
    element("caption", { class: "unseen" }, "Ranks of all maps"),
    element("thead", {}, element("tr", {}, ...heads)), element("tbody", {}, ...rows)));
  box.scrollTop = scroll;
  markRows();
}

// Marks the rows of the chosen maps; the first can be reached by Tab.
function markRows() {
  const maps = sortedMaps();
  const rows = document.querySelectorAll("#table tbody tr");
  rows.forEach((row, i) => row.setAttribute("aria-selected", String(choice.maps.includes(maps[i]))));
  const first = document.querySelector('#table tr[aria-selected="true"]') ?? rows[0];
  rows.forEach((row) => { row.tabIndex = row === first ? 0 : -1; });
}

function startTable() {
  choiceListeners.push((what) => {
    if (what === "map") markRows();
    if (what === "identity" || what === "threshold") drawTable();
  });
  drawTable();
}
