// The selection of the page, one for all models, and who is told when it changes.

const choice = {
  maps: [], // the chosen map of each subject
  queries: [], // the chosen query of each subject
  identity: data.identity ?? "as-is",
  threshold: data.threshold ?? 0.9,
  share: data.share ?? "values", // of the threshold: Σσ ("values") or Σσ² ("energy")
  scale: "linear",
  shared: false,
};

// Called with what changed: "map", "query", "identity", "threshold", "colours".
const choiceListeners = [];

function changed(what) {
  for (const listener of choiceListeners) listener(what);
}

// The map of `subject` at the layer and head of `map`, or the nearest one.
function counterpart(subject, map) {
  const far = (other) => 1e6 * Math.abs(other.layer - map.layer) + Math.abs(other.head - map.head);
  return subject.maps.reduce((best, other) => (far(other) < far(best) ? other : best));
}

// The query that a page opens with: the class token, the patch in the middle, the last of a text.
function firstQuery(map) {
  const layout = queryLayout(map);
  if (layout.prefix > 0) return 0;
  if (layout.texts.length > 0) return map.place.queries - 1;
  if (layout.grids.length === 0) return 0;
  const { rows, columns, tokens } = layout.grids[0];
  return tokens[Math.floor(rows / 2) * columns + Math.floor(columns / 2)];
}

function chooseMap(map) {
  const of = map.subject.index;
  const before = choice.maps[of];
  const query = before
    ? samePlace(queryLayout(before), choice.queries[of], queryLayout(map), map.place.queries)
    : firstQuery(map);
  for (const subject of subjects) {
    choice.maps[subject.index] = subject.index === of ? map : counterpart(subject, map);
  }
  followQuery(map, query);
  changed("map");
}

// Sets the query of every subject to the place of that of `map`.
function followQuery(map, query) {
  choice.maps.forEach((other, index) => {
    choice.queries[index] = other === map
      ? query : samePlace(queryLayout(map), query, queryLayout(other), other.place.queries);
  });
}

function chooseQuery(map, query) {
  followQuery(map, Math.min(Math.max(query, 0), map.place.queries - 1));
  changed("query");
}

function chooseIdentity(identity) {
  choice.identity = identity;
  changed("identity");
}

function chooseThreshold(threshold) {
  choice.threshold = Math.min(Math.max(threshold, 0.01), 1);
  changed("threshold");
}

function chooseShare(share) {
  choice.share = share;
  changed("threshold");
}

function chooseColours(scale, shared) {
  choice.scale = scale;
  choice.shared = shared;
  changed("colours");
}

const rankOf = (map) =>
  equivalentRank(singularValues(map, viewOf(map, choice.identity)), choice.threshold);

// "layer 3, head 0", or "cross 1, head 0" where layers have names of their own.
const nameOf = (map) => `${map.place.name}, head ${map.head}`;

// The heading of a subject: its colour and its label.
function labelOf(subject) {
  const title = [subject.label, subject.mechanism, subject.input, subject.status];
  return element("div", { class: "label", title: title.filter(Boolean).join("\n") },
    element("span", { class: "dot", "aria-hidden": "true" }), element("h3", {}, subject.label));
}

function seriesColour(box, subject) {
  box.style.setProperty("--series", `var(--series-${subject.index % 6})`);
  return box;
}
