// The page's data: subjects with their layouts, maps as tiles, singular values and tables.
// Fields are described in analysis/html/subject_json.h.

const data = document.getElementById("data") ? JSON.parse(document.getElementById("data").textContent)
                                             : { subjects: [] };
const subjects = data.subjects;

// Bytes of a text in base64.
function bytesOf(base64) {
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; ++i) bytes[i] = text.charCodeAt(i);
  return bytes;
}

async function inflated(bytes) {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

// The codes of a tile: with 16 bits all high bytes come before all low ones.
async function codesOf(tile) {
  const bytes = await inflated(bytesOf(tile.codes));
  if (data.bits === 8) return bytes;
  const half = bytes.length / 2;
  const codes = new Uint16Array(half);
  for (let i = 0; i < half; ++i) codes[i] = (bytes[i] << 8) | bytes[half + i];
  return codes;
}

const topCode = 2 ** data.bits - 2;

// Each map knows its subject, its layer, and the entries of its tile.
for (const [index, subject] of subjects.entries()) {
  subject.index = index;
  const layers = new Map(subject.layers.map((layer) => [layer.index, layer]));
  for (const [row, map] of subject.maps.entries()) {
    map.subject = subject;
    map.row = row; // its row in the tables
    map.place = layers.get(map.layer);
    map.codes = null;
  }
}

// Reads all tiles, and calls `arrived` with each map.
async function readTiles(arrived) {
  for (const subject of subjects) {
    for (const map of subject.maps) {
      if (!map.tile) continue;
      map.codes = await codesOf(map.tile);
      map.tile.codes = "";
      arrived(map);
    }
  }
}

// The view of a map, "with" or "without" I, when `identity` is chosen. Maps that are not square
// have none.
function viewOf(map, identity) {
  if (map.place.queries !== map.place.keys) return "without";
  if (identity === "as-is") return map.place.identity ? "with" : "without";
  return identity;
}

// An entry of the map without I; NaN if the map has NaN or Inf there, or no tile.
function entryWithoutIdentity(map, query, key) {
  if (!map.codes) return NaN;
  const code = map.codes[query * map.place.keys + key];
  if (code > topCode) return NaN;
  const range = map.tile.maximum - map.tile.minimum;
  return map.tile.minimum + range * (code / topCode) ** data.power;
}

function entry(map, query, key, identity) {
  const one = query === key && viewOf(map, identity) === "with" ? 1 : 0;
  return entryWithoutIdentity(map, query, key) + one;
}

// The singular values of a map in a view.
function singularValues(map, view) {
  return (view === "with" && map.with) || map.without;
}

// f(r) = Σ_{t≤r} σ_t / Σ_t σ_t, r = 1 … N, summed in the order in which the program sums; of σ² if
// the chosen share is "energy".
function cumulativeShare(singular) {
  const values = choice.share === "energy" ? singular.map((value) => value * value) : singular;
  let total = 0;
  for (const value of values) total += value;
  if (!(total > 0)) return [];
  let sum = 0;
  return values.map((value) => (sum += value) / total);
}

// The smallest r with f(r) ≥ threshold; 0 for a map of zeros.
function equivalentRank(values, threshold) {
  const share = cumulativeShare(values);
  const found = share.findIndex((value) => value >= threshold);
  return found < 0 ? share.length : found + 1;
}

const queryLayout = (map) => map.subject.layouts[map.place.query_layout];
const keyLayout = (map) => map.subject.layouts[map.place.key_layout];

// The grid of `layout`, or the picture in its text, with a cell for token `index`: its number and
// that of the cell; null if there is none.
function placeInGrids(layout, index) {
  for (const [number, grid] of layout.grids.entries()) {
    const own = grid.tokens.indexOf(index);
    const cell = own >= 0 ? own : grid.overview.find(([token]) => token === index)?.[1] ?? -1;
    if (cell >= 0) return { number, cell };
  }
  return null;
}

// The token of `to` at the place of token `index` of `from`, of `count` tokens: the same prefix
// token, the cell under the centre of its cell, or the same index.
function samePlace(from, index, to, count) {
  const within = (found) => Math.min(Math.max(found, 0), count - 1);
  const place = from === to ? null : placeInGrids(from, index);
  const own = from.grids[place?.number], other = to.grids[place?.number];
  if (!other) return within(index);
  const scaled = (at, size, others) => Math.floor(((2 * at + 1) * others) / (2 * size));
  const row = scaled(Math.floor(place.cell / own.columns), own.rows, other.rows);
  const column = scaled(place.cell % own.columns, own.columns, other.columns);
  return within(other.tokens[row * other.columns + column]);
}

// A number with three significant digits, as short as they are.
function inDigits(value, digits = 3) {
  if (!Number.isFinite(value)) return "–";
  if (value === 0) return "0";
  const size = Math.abs(value);
  return size < 1e-4 || size >= 1e5 ? value.toExponential(digits - 1)
                                    : String(Number(value.toPrecision(digits)));
}

// A new element with attributes and children. Text is never read as markup.
function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "class") made.className = value;
    else if (value !== null && value !== false) made.setAttribute(name, value === true ? "" : value);
  }
  made.append(...children);
  return made;
}
