// Reads the data, draws the frame of the page, and shows the view that the address asks for.

import { readBlock } from "./block.js";
import { button, el } from "./dom.js";
import { hashOf, placeOf } from "./place.js";
import { Profile } from "./profile.js";
import { VIEWS } from "./views.js";

const OF_SOURCE = ["kernel", "line", "ptx", "at"]; // what a short link to a line has
const HAS_ADDRESS = location.protocol !== "about:"; // the frame of a notebook has none
const THEMES = ["auto", "light", "dark"];

class Page {
  constructor(profiles, comparison) {
    this.profiles = profiles;
    this.comparison = comparison; // tables of the comparison of two profiles, else undefined
    this.profile = profiles[0];
    this.views = VIEWS.filter((view) => view.isThere(this));
    this.main = el("main", { id: "view", tabindex: "-1" });
    this.tabs = new Map(this.views.map((view) => [view.name, this.tab(view)]));
    this.status = el("p", { class: "unseen", role: "status" });
  }

  frame() {
    const { facts } = this.profile.tables;
    const chip = this.profile.tables.chip.get("name", 0);
    const isWarned = facts.column("is_warning").some((is) => is);
    return [
      el("a", { class: "skip", href: "#view", on: { click: (event) => this.skip(event) } }, "Skip to the view"),
      el(
        "header",
        {},
        el("h1", {}, "gpuprof", el("span", { class: "dim" }, ` ${chip}`)),
        el("nav", { "aria-label": "Views" }, ...this.tabs.values()),
        isWarned ? el("a", { class: "warn", href: hashOf({ view: "summary" }) }, "Read the warnings") : null,
        this.themeButton(),
      ),
      this.main,
      this.status,
    ];
  }

  skip(event) {
    event.preventDefault();
    this.main.focus();
  }

  tab(view) {
    return el("a", { href: hashOf({ view: view.name }), title: view.question }, view.title);
  }

  themeButton() {
    const root = document.documentElement;
    const label = () => `Theme: ${root.dataset.theme ?? THEMES[0]}`;
    const turn = (event) => {
      const next = THEMES[(THEMES.indexOf(root.dataset.theme ?? THEMES[0]) + 1) % THEMES.length];
      if (next === THEMES[0]) delete root.dataset.theme;
      else root.dataset.theme = next;
      event.currentTarget.textContent = label();
    };
    return button(label(), turn, { class: "theme" });
  }

  // Shows a place, and keeps the one before for the browser's way back.
  go(place) {
    const hash = hashOf(place);
    if (!HAS_ADDRESS || hash === location.hash) this.show(place);
    else location.hash = hash;
  }

  // A link to a place. Where the page has no address, the browser would leave it.
  follow(event) {
    const link = event.target.closest?.("a[href^='#']");
    if (!link || HAS_ADDRESS) return;
    event.preventDefault();
    this.go(placeOf(link.getAttribute("href")));
  }

  // The same place in other words, such as another selection: no step for the way back.
  note(place) {
    this.place = place;
    if (HAS_ADDRESS) history.replaceState(null, "", hashOf(place));
  }

  say(text) {
    this.status.textContent = text;
  }

  show(place = placeOf(location.hash)) {
    const isLine = OF_SOURCE.some((key) => place[key]);
    const first = this.comparison ? "compare" : "summary";
    const name = place.view ?? (isLine ? "source" : first);
    const view = this.views.find((each) => each.name === name) ?? this.views[0];
    this.place = place;
    if (this.current === view) {
      this.shown.update(place);
      return;
    }
    this.shown?.close();
    for (const [other, tab] of this.tabs) {
      if (other === view.name) tab.setAttribute("aria-current", "page");
      else tab.removeAttribute("aria-current");
    }
    document.title = `${view.title} - gpuprof`;
    this.current = view;
    this.shown = view.open(this, place);
    this.main.replaceChildren(this.shown.element);
    this.main.className = `view-${view.name}`;
    this.shown.update(place);
  }
}

async function start() {
  const root = document.getElementById("page");
  try {
    const blocks = [...document.querySelectorAll("script.data")];
    const profiles = await Promise.all(blocks.map(async (block) => new Profile(await readBlock(block.textContent))));
    const compared = document.querySelector("script.comparison");
    const comparison = compared ? await readBlock(compared.textContent) : undefined;
    [...blocks, compared].forEach((block) => block?.remove());
    const page = new Page(profiles, comparison);
    root.replaceChildren(...page.frame());
    page.show();
    window.addEventListener("hashchange", () => page.show());
    document.addEventListener("click", (event) => page.follow(event));
    performance.mark("ready");
    document.documentElement.dataset.ready = "yes";
  } catch (error) {
    root.replaceChildren(el("p", { role: "alert" }, `This page cannot be shown: ${error.message}`));
    throw error;
  }
}

start();
