// What the desk adds to pages that work without it: keys, a cited value opened in place, and pages that follow what happens.
"use strict";

const typing = (el) => el.closest("input:not([type=radio]), textarea, select, [contenteditable]");
const steady = matchMedia("(prefers-reduced-motion: reduce)").matches;

// where the reader came from, to go back to with Escape: before a value was opened, and before the search
let from = null, before = null;

// rest leaves the focus on something: what it was on before, if that is still there, or the page itself.
function rest(on) {
  (on && on !== document.body && on.isConnected ? on : document.getElementById("main")).focus();
}

function show(target) {
  for (let d = target.closest("details"); d; d = d.parentElement.closest("details")) d.open = true;
  document.querySelectorAll(".pointed").forEach((el) => el.classList.remove("pointed"));
  target.classList.add("pointed");
  target.scrollIntoView({ block: "center", behavior: steady ? "auto" : "smooth" });
  target.focus({ preventScroll: true });
}

// A citation opens the value it means; its address stays what it was, so that going back leaves the page.
document.addEventListener("click", (e) => {
  const link = e.target.closest("a[data-cited]");
  if (!link || e.ctrlKey || e.metaKey) return;
  const target = document.getElementById(decodeURIComponent(link.hash.slice(1)));
  if (!target) return;
  e.preventDefault();
  from = link;
  show(target);
});

document.addEventListener("click", (e) => {
  if (!e.target.closest("[data-keys]")) return;
  e.preventDefault();
  document.getElementById("keys").showModal();
});

// j and k move through what the page is a list of.
function step(by) {
  const list = [...document.querySelectorAll(".claim, [data-row]")];
  if (!list.length) return;
  const at = list.indexOf(document.activeElement.closest(".claim, [data-row]"));
  list[Math.min(Math.max(at + by, 0), list.length - 1)].focus();
}

function open() {
  const here = document.activeElement.closest(".claim, [data-row]");
  const link = here && here.querySelector("a[data-cited], a[data-open]");
  if (link) link.click();
}

function back() {
  const opened = document.querySelector(".pointed");
  if (opened) opened.classList.remove("pointed");
  if (from && from.isConnected) {
    const claim = from.closest(".claim");
    (claim || from).focus();
    (claim || from).scrollIntoView({ block: "nearest" });
    from = null;
    return;
  }
  const up = document.querySelector("a[data-back]");
  if (up) up.click();
}

const keys = {
  j: () => step(1), k: () => step(-1), o: open, Escape: back,
  "/": () => { before = document.activeElement; document.getElementById("find").focus(); },
  "?": () => document.getElementById("keys").showModal(),
  n: () => document.querySelector("form[action='/queue/next']")?.requestSubmit(), // there is none beside a form that somebody fills in
};

document.addEventListener("keydown", (e) => {
  if (e.ctrlKey || e.metaKey || e.altKey || e.defaultPrevented) return;
  if (document.querySelector("dialog[open]")) return;
  if (typing(e.target)) {
    if (e.key === "Escape") { rest(before); before = null; }
    return;
  }
  const act = keys[e.key];
  const link = /^[a-z]$/.test(e.key) && document.querySelector(`a[data-key="${e.key}"]`);
  if (!act && !link) return;
  e.preventDefault();
  if (link) link.click(); else act();
});

// A case that is being worked is drawn anew when it changes; one that somebody reads is not pulled away under them.
document.addEventListener("case", () => {
  const page = document.getElementById("case");
  if (!page) return;
  if (page.dataset.working === "true") {
    const here = page.contains(document.activeElement) && document.activeElement;
    htmx.ajax("GET", location.pathname, { target: "#case", select: "#case", swap: "outerHTML" }).then(() => {
      if (here && !here.isConnected) rest(here.id && document.getElementById(here.id));
    });
  } else {
    document.getElementById("changed").hidden = false;
  }
});

// Where a form asks for a time zone, the browser's own is the first choice.
for (const zone of document.querySelectorAll("[data-zone]")) {
  const own = Intl.DateTimeFormat().resolvedOptions().timeZone;
  if (!zone.value || zone.value === "UTC") zone.value = own || zone.value;
}

// A filter that was chosen is applied; without script its button does that.
document.documentElement.classList.add("scripted");
for (const form of document.querySelectorAll("form[data-auto]")) form.addEventListener("change", () => form.requestSubmit());
