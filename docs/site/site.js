// Search without a server, buttons that copy code, and the choice of colours. Works from file:// too.
"use strict";

function turnTheme() {
  const turned = document.documentElement.dataset.theme === "dark" ? "light" : "dark";
  document.documentElement.dataset.theme = turned;
  try {
    localStorage.setItem("yoke-theme", turned);
  } catch {
    // Pages from disk may have no storage.
  }
}

const root = document.documentElement.dataset.root;
const field = document.getElementById("search");
const list = document.getElementById("found");
let loading = false;
let chosen = -1;

// The index is a script, because pages from disk may not fetch files.
function loadIndex() {
  if (window.searchIndex || loading) return;
  loading = true;
  const script = document.createElement("script");
  script.src = root + "search-index.js";
  script.onload = search;
  document.head.append(script);
}

function score(entry, words) {
  const [title, section, , text] = entry;
  const head = (title + " " + section).toLowerCase();
  let sum = 0;
  for (const word of words) {
    if (section.toLowerCase() === word) sum += 40;
    else if (head.split(/[^\w-]+/).includes(word)) sum += 12;
    else if (head.includes(word)) sum += 6;
    else {
      const at = text.toLowerCase().indexOf(word);
      if (at < 0) return 0;
      sum += 1 + 1 / (1 + at / 200);
    }
  }
  // Guides come before models and headers that contain the same words.
  return sum + entry[4];
}

function snippet(text, word) {
  const at = Math.max(0, text.toLowerCase().indexOf(word) - 40);
  return (at > 0 ? "…" : "") + text.slice(at, at + 130);
}

function search() {
  const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
  list.replaceChildren();
  chosen = -1;
  list.hidden = words.length === 0;
  if (words.length === 0 || !window.searchIndex) return;
  const found = window.searchIndex
    .map((entry) => [score(entry, words), entry])
    .filter(([points]) => points > 0)
    .sort((a, b) => b[0] - a[0])
    .slice(0, 12);
  for (const [, [title, section, url, text]] of found) {
    const link = document.createElement("a");
    link.href = root + url;
    const head = document.createElement("b");
    head.textContent = section && section !== title ? `${title}: ${section}` : title;
    const rest = document.createElement("span");
    rest.textContent = snippet(text, words[0]);
    link.append(head, rest);
    list.append(link);
  }
  if (found.length === 0) list.textContent = "Nothing found.";
}

field.addEventListener("focus", loadIndex);
field.addEventListener("input", search);
field.addEventListener("keydown", (event) => {
  const links = list.querySelectorAll("a");
  if (event.key === "Escape") {
    field.value = "";
    search();
    field.blur();
  } else if (event.key === "Enter") {
    (links[chosen] || links[0])?.click();
  } else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
    event.preventDefault();
    chosen = Math.min(links.length - 1, Math.max(0, chosen + (event.key === "ArrowDown" ? 1 : -1)));
    links.forEach((link, i) => link.classList.toggle("chosen", i === chosen));
  }
});
document.addEventListener("keydown", (event) => {
  if (event.key === "/" && !/^(INPUT|TEXTAREA)$/.test(document.activeElement.tagName)) {
    event.preventDefault();
    field.focus();
  }
});
document.addEventListener("click", (event) => {
  if (!event.target.closest(".search")) list.hidden = true;
});

// Reports are loaded when they are asked for. The link to the page of the report remains below it.
for (const figure of document.querySelectorAll(".live")) {
  const link = figure.querySelector(".play");
  link.addEventListener("click", (event) => {
    if (figure.classList.contains("playing") || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    const frame = document.createElement("iframe");
    frame.src = link.href;
    frame.title = "report of this run";
    frame.allowFullscreen = true;
    figure.prepend(frame);
    for (const picture of figure.querySelectorAll("img, picture")) picture.remove();
    figure.classList.add("playing");
    link.textContent = "Open the report on a page of its own";
    link.target = "_blank";
  });
}

for (const block of document.querySelectorAll("main pre:not(.essay)")) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "copy";
  button.textContent = "copy";
  button.addEventListener("click", () => {
    const text = block.querySelector("code").textContent.replace(/^\$ /gm, "");
    const done = () => {
      button.textContent = "copied";
      setTimeout(() => (button.textContent = "copy"), 1200);
    };
    if (navigator.clipboard) {
      navigator.clipboard.writeText(text).then(done);
      return;
    }
    const area = document.createElement("textarea");
    area.value = text;
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
    done();
  });
  const frame = document.createElement("div");
  frame.className = "code";
  block.replaceWith(frame);
  frame.append(block, button);
}
