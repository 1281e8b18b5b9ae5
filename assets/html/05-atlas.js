// The atlas: a grid of all maps of each subject, layers by heads, of which one is chosen.

let cellSize = 0; // pixels of a map in the atlas
const cells = new Map(); // map → its cell

const distinct = (values) => [...new Set(values)];

// The cell of a map with its picture, its rank and its name for screen readers.
function makeCell(map) {
  const cell = element("div", { role: "gridcell", tabindex: "-1", "aria-selected": "false" },
    element("canvas", { width: 1, height: 1, "aria-hidden": "true" }), element("b", {}));
  cell.addEventListener("click", () => {
    chooseMap(map);
    cell.focus();
  });
  cells.set(map, cell);
  return cell;
}

function makeAtlas(subject) {
  const heads = distinct(subject.maps.map((map) => map.head)).sort((a, b) => a - b);
  const label = `Maps of ${subject.label}: layers by heads`;
  const grid = element("div", { class: "maps", role: "grid", "aria-label": label });
  const named = subject.layers.some((layer) => layer.name !== `layer ${layer.index}`);
  grid.classList.toggle("named", named);
  const head = (number) =>
    element("span", { role: "columnheader", title: `head ${number}` }, String(number));
  grid.append(element("div", { role: "row" },
    element("span", { class: "corner", role: "columnheader", "aria-label": "layer" }),
    ...heads.map(head)));
  for (const layer of subject.layers) {
    const of = subject.maps.filter((map) => map.layer === layer.index);
    grid.append(element("div", { role: "row" },
      element("span", { role: "rowheader", title: layer.name },
        named ? layer.name : String(layer.index)),
      ...of.map(makeCell)));
  }
  return seriesColour(element("div", { class: "subject" }, labelOf(subject), grid), subject);
}

// A size at which the heads of every subject fit in their place, and its layers on the screen.
function fittingSize() {
  const box = document.getElementById("atlases");
  const heads = Math.max(...subjects.map(({ maps }) => distinct(maps.map((map) => map.head)).length));
  const layers = Math.max(...subjects.map((subject) => subject.layers.length));
  // Tracks of the grid that no subject fills have no width.
  const tracks = getComputedStyle(box).gridTemplateColumns.split(" ").map(parseFloat);
  const wide = (Math.max(...tracks) - 42) / heads - 7;
  const high = (0.46 * window.innerHeight) / layers - 22;
  return Math.min(Math.max(Math.floor(Math.min(wide, Math.max(high, 40))), 22), 110);
}

function sizeCells(size) {
  cellSize = Math.min(Math.max(Math.round(size), 16), 220);
  const box = document.getElementById("atlases");
  box.style.setProperty("--cell", `${cellSize}px`);
  for (const grid of box.querySelectorAll(".maps")) grid.classList.toggle("large", cellSize >= 40);
  for (const [map, cell] of cells) {
    // Entries of several pixels keep their edges; smaller ones are averaged.
    cell.firstChild.classList.toggle("still", cellSize >= 1.5 * map.place.queries);
  }
}

function paintCell(map) {
  if (map.codes) paint(cells.get(map).firstChild, map, choice.identity);
}

function describeCells() {
  for (const [map, cell] of cells) {
    const chosen = choice.maps.includes(map);
    const rank = rankOf(map);
    const words = map.state === "ready" ? `equivalent rank ${rank}` : map.state;
    cell.lastChild.textContent = map.state === "ready" ? String(rank) : "–";
    cell.setAttribute("aria-selected", String(chosen));
    cell.setAttribute("aria-label", `${nameOf(map)}: ${words}`);
    cell.title = `${nameOf(map)}: ${words}`;
    cell.tabIndex = chosen ? 0 : -1;
  }
}

// Moves the choice from `map` by layers and heads of its subject.
function moveChoice(map, layers, heads) {
  const { subject } = map;
  const at = subject.layers.indexOf(map.place) + layers;
  if (at < 0 || at >= subject.layers.length) return;
  const row = subject.maps.filter((other) => other.place === subject.layers[at]);
  const column = subject.maps.filter((other) => other.place === map.place).indexOf(map) + heads;
  if (column < 0 || (heads !== 0 && column >= row.length)) return;
  const next = row[Math.min(column, row.length - 1)];
  chooseMap(next);
  cells.get(next).focus();
}

const arrows = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };

function atlasKey(event) {
  const map = [...cells].find(([, cell]) => cell === document.activeElement)?.[0];
  if (!map) return;
  if (arrows[event.key]) {
    event.preventDefault();
    moveChoice(map, ...arrows[event.key]);
  } else if (event.key === "Enter") {
    event.preventDefault();
    chooseMap(map);
    views[map.subject.index].sheet.focus();
  }
}

function startAtlas() {
  const box = document.getElementById("atlases");
  box.append(...subjects.map(makeAtlas));
  box.addEventListener("keydown", atlasKey);
  document.getElementById("smaller").addEventListener("click", () => sizeCells(cellSize / 1.3));
  document.getElementById("larger").addEventListener("click", () => sizeCells(cellSize * 1.3));
  const scale = document.getElementById("scale");
  const shared = document.getElementById("shared");
  const colours = () => chooseColours(scale.value, shared.checked);
  scale.addEventListener("change", colours);
  shared.addEventListener("change", colours);
  sizeCells(fittingSize());
  choiceListeners.push((what) => {
    if (what === "identity" || what === "colours") cells.forEach((_, map) => paintCell(map));
    if (what === "colours") scale.value = choice.scale;
    if (what !== "query" && what !== "colours") describeCells();
  });
}
