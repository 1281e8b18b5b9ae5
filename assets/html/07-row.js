// The row of the chosen query: its weights over the patches of pictures, over the tokens of a text,
// or as bars.

// The weights of the chosen row without I, by which it is coloured, and as they are seen.
function rowOf(view) {
  const map = mapIn(view);
  const query = queryIn(view);
  const numbers = (read) => Array.from({ length: map.place.keys }, (_, key) => read(key));
  return {
    map, query, layout: keyLayout(map),
    weights: numbers((key) => entryWithoutIdentity(map, query, key)),
    seen: numbers((key) => entry(map, query, key, choice.identity)),
  };
}

function scaleOfRow(weights) {
  const known = weights.filter(Number.isFinite);
  return { low: Math.min(0, ...known), high: Math.max(0, ...known) };
}

const weightWords = (row, key) =>
  `${row.layout.names[key]}: ${inDigits(row.seen[key], 4)}`;

// A token that can be clicked, coloured by its weight.
function tokenOf(view, row, key, text, scale, choosable) {
  const token = element("span", { class: "token", title: weightWords(row, key) }, text);
  const [red, green, blue] = isDark() ? [76, 194, 196] : [11, 116, 120];
  const strength = Number.isFinite(row.weights[key]) ? scale(row.weights[key]) : 0;
  token.style.backgroundColor = `rgb(${red} ${green} ${blue} / ${(0.75 * strength).toFixed(3)})`;
  token.dataset.token = String(key);
  if (choosable) {
    token.setAttribute("role", "option");
    token.setAttribute("aria-selected", String(key === row.query));
    token.addEventListener("click", () => chooseQuery(row.map, key));
  }
  return token;
}

// A token's text in a line: line feeds are seen and kept, anything unprintable has its name.
function shownToken(layout, key) {
  const text = layout.texts[key];
  if (text === undefined) return layout.names[key];
  if (text === "\n") return "↵\n";
  return /[\p{Cc}\p{Cf}\uFFFD]/u.test(text.replace(/\n/g, "")) || text === ""
    ? layout.names[key] : text.replace(/\n/g, "↵\n");
}

// The tokens of a text, without those of its pictures, which are drawn. Marks between the tiles of
// a picture are squares.
function drawText(view, row, scale) {
  const box = element("div", { class: "text", role: "listbox", "aria-label":
    "Tokens with the weights of the chosen query; a click chooses a query" });
  const same = row.map.place.query_layout === row.map.place.key_layout;
  const pictures = row.layout.grids.map(({ tokens, overview }) => {
    const own = new Set([...tokens, ...overview.map(([token]) => token)]);
    return { own, first: Math.min(...own), last: Math.max(...own) };
  });
  for (let key = 0; key < row.weights.length; ++key) {
    if (pictures.some(({ own }) => own.has(key))) continue;
    const between = pictures.some(({ first, last }) => key > first && key < last);
    const text = between ? "▫" : shownToken(row.layout, key);
    box.append(tokenOf(view, row, key, text, scale, same));
  }
  return box;
}

// The tokens before the grid: class, distillation, registers.
function drawPrefix(view, row, scale) {
  const box = element("div", { class: "chips", role: "listbox", "aria-label": "Tokens before the grid" });
  for (let key = 0; key < row.layout.prefix; ++key) {
    box.append(tokenOf(view, row, key, `${row.layout.names[key]} ${inDigits(row.seen[key])}`, scale, true));
  }
  return box;
}

const pictures = new Map(); // subject → its decoded pictures

// The sum of the weights of each cell of a grid: of its token, and its share of those that stand
// for several cells.
function weightsOfCells(grid, weights) {
  const cells = grid.tokens.map((token) => weights[token]);
  for (const [token, cell, share] of grid.overview) cells[cell] += share * weights[token];
  return cells;
}

function drawGrid(view, row, scale, number) {
  const grid = row.layout.grids[number];
  const { rows, columns } = grid;
  const picture = pictures.get(view.subject)?.[number];
  const shape = picture ? picture.height / picture.width : rows / columns;
  const several = row.layout.grids.length > 1 ? ` of picture ${number + 1}` : "";
  const canvas = element("canvas", { role: "img", "aria-label":
    `Weights of query ${queryLayout(row.map).names[row.query]} over the ${rows} × ${columns} patches${several}` });
  const width = 2 * Math.max(columns * Math.ceil(170 / columns), 170);
  canvas.width = width;
  canvas.height = Math.round(width * shape);
  const across = canvas.width / columns, down = canvas.height / rows;
  const context = canvas.getContext("2d");
  if (picture) {
    context.imageSmoothingEnabled = picture.width > canvas.width;
    context.filter = "grayscale(1)";
    context.drawImage(picture, 0, 0, canvas.width, canvas.height);
    context.filter = "none";
  }
  weightsOfCells(grid, row.weights).forEach((weight, cell) => {
    if (!Number.isFinite(weight)) return;
    const [red, green, blue] = colourAt(scale(weight));
    context.fillStyle = `rgb(${red} ${green} ${blue} / ${picture ? 0.3 + 0.45 * scale(weight) : 1})`;
    context.fillRect((cell % columns) * across, Math.floor(cell / columns) * down, across, down);
  });
  const choosable = queryLayout(row.map) === row.layout;
  const place = choosable ? placeInGrids(row.layout, row.query) : null;
  if (place?.number === number) markQuery(context, grid, row.query, place.cell, across, down);
  const patchAt = (event) => {
    const box = canvas.getBoundingClientRect();
    const column = Math.floor(((event.clientX - box.left) / box.width) * columns);
    const line = Math.floor(((event.clientY - box.top) / box.height) * rows);
    const inside = (at, count) => Math.min(Math.max(at, 0), count - 1);
    return grid.tokens[inside(line, rows) * columns + inside(column, columns)];
  };
  canvas.addEventListener("click", (event) => {
    if (choosable) chooseQuery(row.map, patchAt(event));
  });
  canvas.addEventListener("pointermove", (event) => {
    canvas.title = weightWords(row, patchAt(event));
    pointAt(view, { query: row.query, key: patchAt(event) });
  });
  canvas.addEventListener("pointerleave", () => pointAt(view, null));
  return element("div", { class: "picture" }, canvas);
}

// Outlines the cells of a token, of which `cell` is the first.
function markQuery(context, grid, token, cell, across, down) {
  const last = grid.overview.findLast(([one]) => one === token)?.[1] ?? cell;
  const left = cell % grid.columns, top = Math.floor(cell / grid.columns);
  const wide = (last % grid.columns) - left + 1;
  const high = Math.floor(last / grid.columns) - top + 1;
  context.strokeStyle = interfaceColour("--mark");
  context.lineWidth = 4;
  context.strokeRect(left * across + 2, top * down + 2, wide * across - 4, high * down - 4);
}

// The grids of the layout, next to each other.
function drawGrids(view, row, scale) {
  const grids = row.layout.grids.map((_, number) => drawGrid(view, row, scale, number));
  return element("div", { class: "pictures" }, ...grids);
}

function drawBars(row, scale) {
  const canvas = element("canvas", { width: 640, height: 200, role: "img", "aria-label":
    `Weights of query ${row.query} as bars` });
  const context = canvas.getContext("2d");
  context.fillStyle = interfaceColour("--accent");
  const width = canvas.width / row.weights.length;
  row.weights.forEach((weight, key) => {
    const height = canvas.height * (Number.isFinite(weight) ? scale(weight) : 0);
    context.fillRect(key * width, canvas.height - height, Math.max(width - 1, 1), height);
  });
  return element("div", { class: "picture" }, canvas);
}

// The keys with the largest weights, in words.
function strongestKeys(row, count = 5) {
  const order = row.seen.map((_, key) => key).filter((key) => Number.isFinite(row.seen[key]));
  order.sort((a, b) => row.seen[b] - row.seen[a] || a - b);
  const box = element("p", { class: "strongest" }, "Strongest keys: ");
  order.slice(0, count).forEach((key, i) => {
    box.append(i > 0 ? ", " : "", element("b", {}, row.layout.names[key]), ` ${inDigits(row.seen[key])}`);
  });
  return box;
}

function drawRow(view) {
  const map = mapIn(view);
  if (!map?.codes) {
    view.row.replaceChildren();
    return;
  }
  const row = rowOf(view);
  const range = scaleOfRow(row.weights);
  const scale = scaleOf(range, choice.scale);
  const scroll = view.row.querySelector(".text")?.scrollTop ?? 0;
  const parts = [element("h3", {}, `Row of query ${queryLayout(map).names[row.query]}`)];
  const { texts, grids, prefix } = row.layout;
  if (grids.length > 0) {
    if (texts.length === 0 && prefix > 0) parts.push(drawPrefix(view, row, scale));
    const bar = element("div", { class: "scale" });
    showScale(bar, range);
    parts.push(drawGrids(view, row, scale), bar);
  }
  if (texts.length > 0) parts.push(drawText(view, row, scale));
  else if (grids.length === 0) parts.push(drawBars(row, scale));
  view.row.replaceChildren(...parts, strongestKeys(row));
  const text = view.row.querySelector(".text");
  if (text) text.scrollTop = scroll;
}

async function decoded({ src }) {
  const image = new Image();
  image.src = src;
  await image.decode();
  return image;
}

async function readPictures() {
  for (const subject of subjects) {
    const none = Promise.resolve(null);
    pictures.set(subject, await Promise.all(
      subject.images.map((one) => (one ? decoded(one) : none).catch(() => null))));
  }
  views.forEach(drawRow);
}

function startRows() {
  themeListeners.push(() => views.forEach(drawRow));
  choiceListeners.push((what) => {
    if (what !== "threshold") views.forEach(drawRow);
  });
  readPictures();
}
