// The cumulative spectrum f(r) of the chosen map of each subject, in the chosen view and in the
// other one, with the threshold τ and the equivalent ranks. ≈ marks estimates.

function svg(tag, attributes = {}, ...children) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, String(value));
  made.append(...children);
  return made;
}

const plot = { width: 560, height: 250, left: 34, right: 10, top: 8, bottom: 30 };

const plotX = (r, most) =>
  plot.left + ((plot.width - plot.left - plot.right) * (r - 1)) / Math.max(1, most - 1);
const plotY = (share) => plot.top + (plot.height - plot.top - plot.bottom) * (1 - share);

function curve(share, most, kind) {
  const points = share.map((value, i) => `${plotX(i + 1, most).toFixed(1)} ${plotY(value).toFixed(1)}`);
  return svg("path", { class: kind, d: `M${points.join("L")}` });
}

// Round numbers up to `most`, about five.
function ticksUpTo(most) {
  const rough = most / 5;
  const power = 10 ** Math.floor(Math.log10(Math.max(rough, 1)));
  const step = Math.max(1, power * [1, 2, 5, 10].find((factor) => factor * power >= rough));
  const ticks = [1];
  for (let at = step; at <= most; at += step) if (at - 1 >= step / 2) ticks.push(at);
  return ticks;
}

function drawAxes(most) {
  const parts = [];
  for (let share = 0; share <= 1.001; share += 0.25) {
    const y = plotY(share);
    parts.push(svg("line", { class: "grid", x1: plot.left, x2: plot.width - plot.right, y1: y, y2: y }),
      svg("text", { x: plot.left - 5, y: y + 4, "text-anchor": "end" }, share.toFixed(2).replace(/0$/, "")));
  }
  const bottom = plot.height - plot.bottom;
  for (const r of ticksUpTo(most)) {
    parts.push(svg("text", { x: plotX(r, most), y: bottom + 14, "text-anchor": "middle" }, r));
  }
  parts.push(svg("text", { x: plot.width - plot.right, y: bottom + 27, "text-anchor": "end" },
    "number r of the largest singular values"));
  parts.push(svg("text", { x: plot.width - plot.right, y: bottom - 8, "text-anchor": "end" },
    `f(r): share of the sum of their ${choice.share === "energy" ? "squares" : "values"}`));  // no curve comes to this corner
  return parts;
}

// The curves of one subject's chosen map: its share as seen, and in the other view.
function curvesOf(subject) {
  const map = choice.maps[subject.index];
  const view = viewOf(map, choice.identity);
  const other = view === "with" ? "without" : "with";
  return {
    subject, map, view,
    share: cumulativeShare(singularValues(map, view)),
    other: map.with ? cumulativeShare(singularValues(map, other)) : [],
    rank: rankOf(map),
    otherRank: map.with ? equivalentRank(singularValues(map, other), choice.threshold) : 0,
  };
}

const viewName = (view) => (view === "with" ? "A + I" : "A");

function plotLegend(curves) {
  return curves.map(({ subject, map, view, share, rank, otherRank }) => {
    const line = (dashed) => element("i", { class: dashed ? "dashed" : null, "aria-hidden": "true" });
    const size = Math.min(map.place.queries, map.place.keys);
    const about = map.estimated ? "≈ " : "";
    const label = subjects.length > 1 ? `${subject.label}, ` : "";
    const spans = [element("span", {}, line(false), share.length > 0
      ? `${label}${viewName(view)}: equivalent rank ${about}${rank} of ${size}`
      : `${label}${viewName(view)}: ${map.state}`)];
    if (map.with) {
      spans.push(element("span", {}, line(true),
        `${viewName(view === "with" ? "without" : "with")}: ${about}${otherRank}`));
    }
    return seriesColour(element("div", {}, ...spans), subject);
  });
}

function drawPlot() {
  const box = document.getElementById("plot");
  plot.width = Math.max(300, Math.min(box.clientWidth || 560, 900));
  const curves = subjects.map(curvesOf);
  const most = Math.max(2, ...curves.map(({ share }) => share.length));
  const parts = drawAxes(most);
  const level = plotY(choice.threshold);
  parts.push(svg("line", { class: "even", x1: plotX(1, most), y1: plotY(1 / most), x2: plotX(most, most), y2: plotY(1) }));
  parts.push(svg("line", { class: "threshold", x1: plot.left, x2: plot.width - plot.right, y1: level, y2: level }));
  for (const { subject, share, other, rank } of curves) {
    const group = svg("g");
    seriesColour(group, subject);
    if (other.length > 0) group.append(curve(other, most, "other"));
    if (share.length > 0) {
      const x = plotX(rank, most);
      group.append(curve(share, most, "curve"),
        svg("line", { class: "rank", x1: x, x2: x, y1: plotY(share[rank - 1]), y2: plotY(0) }),
        svg("circle", { class: "dot-mark", cx: x, cy: plotY(share[rank - 1]), r: 4 }));
    }
    parts.push(group);
  }
  const cursor = svg("line", { class: "cursor", y1: plot.top, y2: plotY(0), x1: plot.left, x2: plot.left });
  const words = curves.map(({ subject, map, rank }) =>
    `${subject.label}, ${nameOf(map)}: equivalent rank ${rank}`).join("; ");
  const picture = svg("svg", { viewBox: `0 0 ${plot.width} ${plot.height}`, role: "img",
    "aria-label": `Cumulative spectrum at τ = ${choice.threshold.toFixed(2)} of ${choice.share === "energy" ? "Σσ²" : "Σσ"}. ${words}` },
    ...parts, cursor);
  picture.addEventListener("pointermove", (event) => readPlot(event, picture, curves, most, cursor));
  picture.addEventListener("pointerleave", () =>
    document.getElementById("plot-text").replaceChildren(...plotLegend(curves)));
  box.replaceChildren(picture);
  document.getElementById("plot-text").replaceChildren(...plotLegend(curves));
  document.getElementById("threshold").value = choice.threshold;
  document.getElementById("share").value = choice.share;
  document.getElementById("threshold-value").textContent = String(Number(choice.threshold.toFixed(4)));
}

// Values of the curves at the rank under the pointer, instead of the legend.
function readPlot(event, picture, curves, most, cursor) {
  const box = picture.getBoundingClientRect();
  const x = ((event.clientX - box.left) / box.width) * plot.width;
  const wide = plot.width - plot.left - plot.right;
  const r = Math.min(Math.max(Math.round(1 + ((x - plot.left) / wide) * (most - 1)), 1), most);
  for (const end of ["x1", "x2"]) cursor.setAttribute(end, plotX(r, most));
  const lines = curves.map(({ subject, map, view, share }) => {
    const values = singularValues(map, view);
    const label = subjects.length > 1 ? `${subject.label}, ` : "";
    const words = r <= share.length
      ? `f(${r}) = ${share[r - 1].toFixed(5)}, σ = ${inDigits(values[r - 1], 5)}` : `has ${share.length} values`;
    return seriesColour(element("div", {}, element("span", {}, element("i"), label + words)), subject);
  });
  document.getElementById("plot-text").replaceChildren(...lines);
}

function startSpectrum() {
  const slider = document.getElementById("threshold");
  slider.addEventListener("input", () => chooseThreshold(Number(slider.value)));
  const share = document.getElementById("share");
  share.addEventListener("change", () => chooseShare(share.value));
  const box = document.getElementById("plot");
  let width = 0;
  new ResizeObserver(() => {
    if (box.clientWidth !== width) {
      width = box.clientWidth;
      drawPlot();
    }
  }).observe(box);
  choiceListeners.push((what) => {
    if (what !== "query" && what !== "colours") drawPlot();
  });
}
