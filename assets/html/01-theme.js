"use strict";
// Light and dark: as the system is, until the button or its key says otherwise.

function isDark() {
  const chosen = document.documentElement.dataset.theme;
  if (chosen) return chosen === "dark";
  return window.matchMedia("(prefers-color-scheme: dark)").matches;
}

const themeListeners = [];

function showTheme() {
  const button = document.getElementById("theme");
  if (button) {
    button.textContent = isDark() ? "☀" : "☾";
    button.setAttribute("aria-pressed", String(isDark()));
    button.title = isDark() ? "Light colours (d)" : "Dark colours (d)";
  }
  for (const listener of themeListeners) listener();
}

function toggleTheme() {
  document.documentElement.dataset.theme = isDark() ? "light" : "dark";
  showTheme();
}

window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", showTheme);
document.getElementById("theme")?.addEventListener("click", toggleTheme);
showTheme();
