// The chosen map of each subject: zoomed by the wheel, moved by dragging, with the chosen row and
// the entry under the pointer.

const views = []; // one per subject

function makeView(subject) {
  const canvas = element("canvas", { "aria-hidden": "true" });
  const sheet = element("div", { class: "sheet", tabindex: "0", role: "application",
    "aria-roledescription": "attention map" }, canvas);
  const view = {
    subject, canvas, sheet,
    whole: document.createElement("canvas"), // a pixel for each entry
    zoom: 1, left: 0, top: 0, // the shown part: its corner in entries
    pointer: null, // {query, key} under the pointer or the keys
    heading: element("h3", {}),
    readout: element("output", { class: "readout", "aria-live": "polite" }),
    scale: element("div", { class: "scale" }),
    row: element("div", { class: "row" }),
  };
  view.box = element("div", { class: "subject" }, labelOf(subject), element("div", { class: "view" },
    element("figure", {},
      element("div", { class: "label" }, view.heading),
      element("div", { class: "axis legend" }, element("span", {}, "↓ queries"),
        element("span", {}, "keys →")),
      sheet, view.scale, view.readout),
    view.row));
  seriesColour(view.box, subject);
  listenToSheet(view);
  return view;
}

const mapIn = (view) => choice.maps[view.subject.index];
const queryIn = (view) => choice.queries[view.subject.index];

// Entries across the shown part.
const shownKeys = (view) => mapIn(view).place.keys / view.zoom;
const shownQueries = (view) => mapIn(view).place.queries / view.zoom;

function keepInside(view) {
  const { queries, keys } = mapIn(view).place;
  view.left = Math.min(Math.max(view.left, 0), keys - shownKeys(view));
  view.top = Math.min(Math.max(view.top, 0), queries - shownQueries(view));
}

function drawView(view) {
  const map = mapIn(view);
  if (!map?.codes) return;
  const { queries, keys } = map.place;
  const width = Math.max(1, Math.round(view.sheet.clientWidth * devicePixelRatio));
  const height = Math.max(1, Math.round(width * Math.min(queries / keys, 2)));
  if (view.canvas.width !== width || view.canvas.height !== height) {
    view.canvas.width = width;
    view.canvas.height = height;
  }
  const context = view.canvas.getContext("2d");
  const across = width / shownKeys(view), down = height / shownQueries(view);
  context.imageSmoothingEnabled = across < 1;
  context.drawImage(view.whole, view.left, view.top, shownKeys(view), shownQueries(view),
    0, 0, width, height);
  const line = Math.max(1, Math.round(1.5 * devicePixelRatio));
  context.lineWidth = line;
  // The chosen row, beside which nothing is hidden.
  const top = (queryIn(view) - view.top) * down;
  context.strokeStyle = interfaceColour("--mark");
  context.strokeRect(-line, top - line / 2, width + 2 * line, Math.max(down, 1) + line);
  if (view.pointer) {
    const { query, key } = view.pointer;
    context.strokeStyle = "#fff";
    context.strokeRect((key - view.left) * across - line / 2, (query - view.top) * down - line / 2,
      Math.max(across, 3) + line, Math.max(down, 3) + line);
  }
}

// Shows the entry in words. Without a pointer, the map's range is shown.
function readEntry(view) {
  const map = mapIn(view);
  if (!view.pointer) {
    const loss = map.tile ? `; ${data.bits} bits per entry` : "";
    view.readout.replaceChildren(map.tile ? `${map.place.queries} × ${map.place.keys} entries${loss}`
                                          : "This map was not recorded, only its spectrum.");
    return;
  }
  const { query, key } = view.pointer;
  const value = entry(map, query, key, choice.identity);
  const seen = viewOf(map, choice.identity) === "with" && query === key ? ", with I" : "";
  view.readout.replaceChildren(element("b", {}, inDigits(value, 4)), seen,
    ` — query ${queryLayout(map).names[query]} → key ${keyLayout(map).names[key]}`);
  view.readout.dataset.value = String(value);
}

function pointAt(view, pointer) {
  view.pointer = pointer;
  drawView(view);
  readEntry(view);
}

// The entry under an event of the pointer.
function entryAt(view, event) {
  const box = view.canvas.getBoundingClientRect();
  const { queries, keys } = mapIn(view).place;
  const along = (at, size, first, shown, count) =>
    Math.min(Math.max(Math.floor(first + (at / size) * shown), 0), count - 1);
  return {
    query: along(event.clientY - box.top, box.height, view.top, shownQueries(view), queries),
    key: along(event.clientX - box.left, box.width, view.left, shownKeys(view), keys),
  };
}

// Zooms by `factor` about a fraction of the shown part.
function zoomView(view, factor, x = 0.5, y = 0.5) {
  const { queries, keys } = mapIn(view).place;
  const most = Math.max(1, Math.min(queries, keys) / 4);
  const zoom = Math.min(Math.max(view.zoom * factor, 1), most);
  view.left += keys * x * (1 / view.zoom - 1 / zoom);
  view.top += queries * y * (1 / view.zoom - 1 / zoom);
  view.zoom = zoom;
  keepInside(view);
  drawView(view);
}

function listenToSheet(view) {
  const { sheet } = view;
  let drag = null;
  sheet.addEventListener("pointerdown", (event) => {
    if (!mapIn(view).codes) return;
    drag = { x: event.clientX, y: event.clientY, left: view.left, top: view.top, moved: false };
    sheet.setPointerCapture(event.pointerId);
  });
  sheet.addEventListener("pointermove", (event) => {
    if (!mapIn(view).codes) return;
    if (drag && view.zoom > 1) {
      const box = view.canvas.getBoundingClientRect();
      const x = event.clientX - drag.x, y = event.clientY - drag.y;
      drag.moved ||= Math.hypot(x, y) > 4;
      view.left = drag.left - (x / box.width) * shownKeys(view);
      view.top = drag.top - (y / box.height) * shownQueries(view);
      keepInside(view);
    }
    pointAt(view, entryAt(view, event));
  });
  sheet.addEventListener("pointerup", (event) => {
    if (drag && !drag.moved) chooseQuery(mapIn(view), entryAt(view, event).query);
    drag = null;
  });
  sheet.addEventListener("pointerleave", () => pointAt(view, null));
  sheet.addEventListener("wheel", (event) => {
    if (!mapIn(view).codes) return;
    const box = view.canvas.getBoundingClientRect();
    const factor = Math.exp(-event.deltaY / 300);
    if (view.zoom === 1 && factor < 1) return; // the page scrolls on
    event.preventDefault();
    zoomView(view, factor, (event.clientX - box.left) / box.width, (event.clientY - box.top) / box.height);
  }, { passive: false });
  sheet.addEventListener("keydown", (event) => sheetKey(view, event));
  sheet.addEventListener("blur", () => pointAt(view, null));
}

function sheetKey(view, event) {
  const map = mapIn(view);
  const query = queryIn(view);
  const key = view.pointer?.key ?? query;
  const step = event.shiftKey ? 10 : 1;
  if (arrows[event.key]) {
    event.preventDefault();
    const [down, right] = arrows[event.key];
    const next = Math.min(Math.max(key + step * right, 0), map.place.keys - 1);
    if (down !== 0) chooseQuery(map, query + step * down);
    pointAt(view, { query: queryIn(view), key: next });
  } else if (event.key === "Escape") {
    cells.get(map).focus();
  } else if (event.key === "+" || event.key === "=") {
    zoomView(view, 1.4);
  } else if (event.key === "-") {
    zoomView(view, 1 / 1.4);
  } else if (event.key === "0") {
    zoomView(view, 1e-9);
  }
}

function repaintView(view) {
  const map = mapIn(view);
  if (map.codes) {
    paint(view.whole, map, choice.identity);
    showScale(view.scale, rangeOf(map));
  }
  const identity = viewOf(map, choice.identity) === "with" ? " + I" : "";
  view.heading.textContent = `${nameOf(map)}${identity}`;
  view.sheet.setAttribute("aria-label", `${nameOf(map)}${identity} of ${view.subject.label}. Up and `
    + "down choose a query, left and right read its keys, plus and minus zoom.");
  view.pointer = null;
  keepInside(view);
  drawView(view);
  readEntry(view);
}

function startViews() {
  views.push(...subjects.map(makeView));
  document.getElementById("views").append(...views.map((view) => view.box));
  const redraw = () => views.forEach(drawView);
  new ResizeObserver(redraw).observe(document.getElementById("views"));
  themeListeners.push(redraw);
  choiceListeners.push((what) => {
    if (what === "threshold") return;
    views.forEach(what === "query" ? drawView : repaintView);
  });
}
