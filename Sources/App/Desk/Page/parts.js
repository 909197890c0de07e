// Parts that many views have. Views import from here all that they share.
export * from "/dom.js";
export * from "/icons.js";
export * from "/store.js";
export * from "/types.js";
export * from "/verbs.js";
export * from "/words.js";
import {$, make, named, replace, shown, svg} from "/dom.js";
import {icon} from "/icons.js";
import {has, word} from "/words.js";

/** A button that says the word of its key. */
export const button = (key, onclick, more = "") => make("button" + more, {"data-key": key, onclick}, word(key));

/** A button with a sign instead of words. */
export const sign = (label, name, onclick) => make("button.round", {"aria-label": label, title: label, onclick}, icon(name));

/** A field for a text that is no prose. */
export const field = (more, what = "input") => make(what, {dir: "auto", autocomplete: "off", spellcheck: false}, more);

/** A choice; options are pairs of a value and a text. */
export const select = (options, value, more) =>
	make("select", more, options.map(([of, text]) => make("option", {value: of, selected: of === value}, text)));

/** A form that calls `work` instead of being sent. */
export const form = (what, work, ...rest) => make("form" + what, {onsubmit: event => {event.preventDefault(); work();}}, rest);

/** The button that submits a form. */
export const submit = (text, more) => make("button.primary", {type: "submit"}, more, text);

/** Buttons of which one is chosen; `choose` gets its value. */
export const choices = (label, name, values, now, choose) => make("div.choices", {role: "radiogroup", "aria-label": label},
	values.map(([value, text]) => make("label", make("input", {type: "radio", name, value, checked: value === now, onchange: () => choose(value)}), make("span", text))));

/** A place for what went wrong. */
export const alarm = (...text) => make("p.bad", {role: "alert"}, text);

export const warning = (...text) => make("p.warning", icon("warn"), make("span", text));

/** A view without anything in it. */
export const empty = (name, key) => make("section.empty.card", icon(name), make("h2", word(key)), make("p", word(key + "Help")));

/** A line of a list: a picture, a name with a note below, and more. */
export const row = (picture, name, note, ...more) =>
	make("li", typeof picture === "string" ? icon(picture) : picture, make("div.what", typeof name === "string" ? named(name) : name, make("span.note", note)), more);

export const things = (...rows) => make("ul.things", rows);

/** The head of a view. */
export const head = (view, ...more) => make("div.head", make("h1", word(view)), more);

/** The name of a dialect; "" for Waft's own. */
export const wayOf = via => !via || via === "waft" ? "" : has("via-" + via) ? word("via-" + via) : shown(via);

/** Facts in a line; those that are missing are left out. */
export const dots = (...facts) => facts.flat().filter(Boolean).join(" · ");

/** A picture of a QR code, drawn from the rows of the gateway; "1" is dark. */
export const qr = ({size, rows}, label) => {
	let d = "";
	rows.forEach((row, y) => {for (const {0: run, index} of row.matchAll(/1+/g)) d += `M${index} ${y}h${run.length}v1h-${run.length}z`;});
	return svg("svg", {class: "qr", viewBox: `-4 -4 ${size + 8} ${size + 8}`, role: "img", "aria-label": label}, svg("path", {d}));
};

/**
 * Asks something in a dialog.
 * - more: `{label, value, type}` of a field; without it the answer is true.
 * - Returns the field's text, or true; null when cancelled.
 */
export const ask = ({title, text, more, yes, danger}) => new Promise(done => {
	const dialog = $("ask"), input = more && field({id: "ask-field", value: more.value ?? "", type: more.type ?? "text", required: true});
	let answer = null;
	replace(dialog, make("form", {method: "dialog", onsubmit: () => {answer = input ? input.value : true;}}, make("h2#ask-title", title),
		text && make("p", text), more && make("label", {for: "ask-field"}, more.label), input,
		make("p.row.end", button("cancel", () => dialog.close()), submit(yes, danger && {className: "primary danger-primary"}))));
	dialog.onclose = () => done(answer);
	dialog.showModal();
	(input ?? dialog.querySelector(".primary")).focus();
	input?.select();
});
