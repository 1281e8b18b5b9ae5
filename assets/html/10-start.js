// Starts the page, and answers the keys that hold everywhere.

const identities = ["as-is", "without", "with"];

function showIdentity() {
  const button = document.querySelector(`#identity input[value="${choice.identity}"]`);
  if (button) button.checked = true;
}

function startIdentity() {
  document.getElementById("identity").addEventListener("change", (event) => {
    chooseIdentity(event.target.value);
  });
  choiceListeners.push((what) => {
    if (what === "identity") showIdentity();
  });
  showIdentity();
}

function pageKey(event) {
  if (event.ctrlKey || event.altKey || event.metaKey) return;
  const dialog = document.getElementById("keys");
  if (dialog.open || /^(select|textarea)$/i.test(event.target.tagName)) return;
  const actions = {
    "?": () => dialog.showModal(),
    d: toggleTheme,
    i: () => chooseIdentity(identities[(identities.indexOf(choice.identity) + 1) % 3]),
    l: () => chooseColours(choice.scale === "log" ? "linear" : "log", choice.shared),
    "[": () => chooseThreshold(Number((choice.threshold - 0.01).toFixed(4))),
    "]": () => chooseThreshold(Number((choice.threshold + 0.01).toFixed(4))),
  };
  actions[event.key]?.();
}

function showProblem(text) {
  const box = document.getElementById("problem");
  box.textContent = text;
  box.hidden = false;
}

function startPage() {
  if (typeof DecompressionStream === "undefined") {
    showProblem("This browser cannot unpack the maps (DecompressionStream is missing: Chrome 80, "
      + "Firefox 113 or Safari 16.4 have it). Spectra and the table are complete.");
  }
  startAtlas();
  startViews();
  startIdentity();
  chooseMap(subjects[0].maps[0]);
  startSpectrum();
  startRows();
  startTable();
  document.getElementById("help").addEventListener("click", () => document.getElementById("keys").showModal());
  document.addEventListener("keydown", pageKey);
  changed("map");
  // A page inside another, as in a notebook, leaves the focus where it is.
  if (window.parent === window) cells.get(choice.maps[0]).focus({ preventScroll: true, focusVisible: false });
  if (typeof DecompressionStream === "undefined") return;
  readTiles((map) => {
    paintCell(map);
    const view = views.find((each) => mapIn(each) === map);
    if (view) {
      repaintView(view);
      drawRow(view);
    }
  }).then(() => {
    choiceListeners.forEach((listener) => listener("colours"));
    document.documentElement.dataset.ready = "true";
  }).catch((error) => showProblem(`The maps could not be unpacked: ${error.message}`));
}

if (subjects.length > 0) startPage();
