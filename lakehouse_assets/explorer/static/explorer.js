// Search as one types: the API answers, the list shows names as text, arrows walk it. Nothing is ever made of markup.
"use strict";

const box = document.getElementById("q");
const list = document.getElementById("results");
const found = document.getElementById("found");
let asked = null;
let chosen = -1;

function close() {
  list.hidden = true;
  box.setAttribute("aria-expanded", "false");
  box.removeAttribute("aria-activedescendant");
  chosen = -1;
}

function choose(number) {
  const options = [...list.children];
  if (!options.length) return;
  chosen = (number + options.length) % options.length;
  options.forEach((option, place) => option.setAttribute("aria-selected", String(place === chosen)));
  box.setAttribute("aria-activedescendant", options[chosen].id);
  options[chosen].scrollIntoView({ block: "nearest" });
}

function option(symbol, number) {
  const item = document.createElement("li");
  item.id = `result-${number}`;
  item.setAttribute("role", "option");
  item.setAttribute("aria-selected", "false");
  item.dataset.href = `/symbols/${encodeURIComponent(symbol.repo)}/${symbol.id}`;
  const name = document.createElement("strong");
  name.textContent = visible(symbol.qualified_name);
  const where = document.createElement("span");
  where.className = "soft";
  where.textContent = ` ${symbol.kind} · ${symbol.repo}: ${visible(symbol.path)}:${symbol.line}`;
  item.append(name, where);
  return item;
}

// Characters that steer a line's direction or the terminal are shown instead of obeyed.
function visible(text) {
  return text.replace(/[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g,
    (sign) => "\\u" + sign.charCodeAt(0).toString(16).padStart(4, "0"));
}

async function search() {
  const query = box.value.trim();
  if (asked) asked.abort();
  if (!query) { close(); found.textContent = ""; return; }
  asked = new AbortController();
  try {
    const answer = await fetch(`/api/search?limit=12&q=${encodeURIComponent(query.slice(0, 200))}`,
      { signal: asked.signal });
    const told = await answer.json();
    if (!answer.ok) { close(); found.textContent = told.error.seen; return; }
    list.replaceChildren(...told.items.map(option));
    list.hidden = told.items.length === 0;
    box.setAttribute("aria-expanded", String(told.items.length > 0));
    chosen = -1;
    found.textContent = `${told.total} found`;
  } catch (error) {
    if (error.name !== "AbortError") found.textContent = "The explorer does not answer.";
  }
}

box.addEventListener("input", search);
box.addEventListener("keydown", (event) => {
  if (event.key === "ArrowDown") { choose(chosen + 1); event.preventDefault(); }
  else if (event.key === "ArrowUp") { choose(chosen - 1); event.preventDefault(); }
  else if (event.key === "Escape") close();
  else if (event.key === "Enter" && chosen >= 0) {
    location.href = list.children[chosen].dataset.href;
    event.preventDefault();
  }
});
list.addEventListener("click", (event) => {
  const item = event.target.closest("li");
  if (item) location.href = item.dataset.href;
});
document.addEventListener("click", (event) => { if (!event.target.closest("form")) close(); });
