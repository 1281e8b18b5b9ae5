// From numbers to colours: viridis over the range of a map, or of all maps.

const palette = Array.from({ length: 256 }, (_, i) =>
  [0, 2, 4].map((at) => parseInt(data.colours?.slice(6 * i + at, 6 * i + at + 2), 16)));

// The range of the colours of a map. The I of a map is beyond its end, so that the other entries
// keep their colours.
function rangeOf(map) {
  const tiles = choice.shared ? subjects.flatMap((subject) => subject.maps.map((one) => one.tile))
                              : [map.tile];
  const known = tiles.filter(Boolean);
  return { low: Math.min(...known.map((tile) => tile.minimum), 0),
           high: Math.max(...known.map((tile) => tile.maximum)) };
}

// A function from values to fractions of the range, 0 to 1.
function scaleOf({ low, high }, kind) {
  if (kind === "log" && high > 0) {
    const floor = high * 1e-4;
    const width = Math.log(high / floor);
    return (value) => (value <= floor ? 0 : Math.min(1, Math.log(value / floor) / width));
  }
  const width = high - low;
  return (value) => (width > 0 ? Math.min(1, Math.max(0, (value - low) / width)) : 0);
}

const colourAt = (fraction) => palette[Math.round(255 * fraction)];

// Paints a map into a canvas with a pixel for each entry.
function paint(canvas, map, identity) {
  const { queries, keys } = map.place;
  canvas.width = keys;
  canvas.height = queries;
  const context = canvas.getContext("2d");
  const image = context.createImageData(keys, queries);
  const scale = scaleOf(rangeOf(map), choice.scale);
  const seen = new Map(); // codes repeat
  const one = viewOf(map, identity) === "with" ? 1 : 0;
  for (let query = 0, at = 0; query < queries; ++query) {
    for (let key = 0; key < keys; ++key, at += 4) {
      const code = map.codes[query * keys + key];
      let colour = query === key && one ? undefined : seen.get(code);
      if (!colour) {
        const value = entry(map, query, key, identity);
        colour = Number.isNaN(value) ? [229, 229, 229] : colourAt(scale(value));
        if (!(query === key && one)) seen.set(code, colour);
      }
      image.data[at] = colour[0];
      image.data[at + 1] = colour[1];
      image.data[at + 2] = colour[2];
      image.data[at + 3] = 255;
    }
  }
  context.putImageData(image, 0, 0);
}

// A bar of colours with the ends of its range.
function showScale(box, { low, high }) {
  const canvas = element("canvas", { width: 256, height: 1, "aria-hidden": "true" });
  const context = canvas.getContext("2d");
  palette.forEach(([red, green, blue], i) => {
    context.fillStyle = `rgb(${red} ${green} ${blue})`;
    context.fillRect(i, 0, 1, 1);
  });
  const log = choice.scale === "log" && high > 0;
  box.replaceChildren(inDigits(log ? high * 1e-4 : low), canvas, inDigits(high));
  box.title = "Colours: " + (log ? "logarithmic" : "linear") + "; I is beyond the end";
}

// The colour of the interface of that name, for canvases.
function interfaceColour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}
