// SPDX-License-Identifier: Apache-2.0
// The choice of light or dark outlives the page where the browser lets a file remember anything.
(() => {
  const root = document.documentElement;
  const remembered = () => { try { return localStorage.getItem("bam-theme"); } catch { return null; } };
  const remember = (theme) => { try { localStorage.setItem("bam-theme", theme); } catch { /* not allowed */ } };
  if (["light", "dark"].includes(remembered())) root.dataset.theme = remembered();
  const isDark = () => root.dataset.theme
    ? root.dataset.theme === "dark"
    : matchMedia("(prefers-color-scheme: dark)").matches;
  addEventListener("DOMContentLoaded", () => {
    const button = document.getElementById("theme");
    const tell = () => button.setAttribute("aria-pressed", String(isDark()));
    button.addEventListener("click", () => {
      root.dataset.theme = isDark() ? "light" : "dark";
      remember(root.dataset.theme);
      tell();
    });
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", tell);
    tell();
  });
})();
