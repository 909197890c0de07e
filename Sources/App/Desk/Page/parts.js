// Parts that many views have.
import {make, shown} from "/dom.js";
import {icon} from "/icons.js";
import {has, word} from "/words.js";

export const button = (key, onclick, more = "") => make("button" + more, {type: "button", "data-key": key, onclick}, word(key));

/** A button with a sign instead of words. */
export const sign = (key, name, onclick) => make("button.round", {type: "button", "aria-label": word(key), onclick}, icon(name));

/** A place for what went wrong. */
export const alarm = (...text) => make("p.bad", {role: "alert"}, text);

/** A view without anything in it. */
export const empty = (name, key) => make("section.empty.card", icon(name), make("h2", word(key)), make("p", word(key + "Help")));

/** The name of a dialect. */
export const wayOf = via => has("via-" + via) ? word("via-" + via) : shown(via);

/** Facts in a line; those that are missing are left out. */
export const dots = (...facts) => facts.flat().filter(Boolean).join(" · ");

/** A list of items. */
export const things = (...rows) => make("ul.things", {role: "list"}, rows);
