// Parts of many views, and all else that views share.
export * from "/calls.js";
export * from "/dom.js";
export * from "/faults.js";
export * from "/figures.js";
export * from "/icons.js";
export * from "/names.js";
export * from "/person.js";
export * from "/store.js";
export * from "/types.js";
export * from "/words.js";
import {$, h, put, replace, shown, svg} from "/dom.js";
import {icon} from "/icons.js";
import {cut} from "/names.js";
import {call} from "/calls.js";
import {tellFault} from "/faults.js";
import {t} from "/words.js";

// A button with the words of a key. `more` is its class or id; `of` tells it from others of its kind.
export const button = (key, onclick, more = "", of = "") => h("button" + more, {"data-key": key + of, onclick}, t(key));
export function copier(text) {
	const copy = button("copyKey", async () => {
		await navigator.clipboard.writeText(text).catch(() => {});
		put(copy, t("copied"));
	});
	return copy;
}
export const sign = (label, name, onclick) => h("button.round", {ariaLabel: label, title: label, onclick}, icon(name));

// A field for a text that is no prose.
export const field = (more, what = "input") => h(what, {dir: "auto", autocomplete: "off", spellcheck: false}, more);
export const select = (options, value, more) =>
	h("select", more, options.map(([of, text]) => h("option", {value: of, selected: of === value}, text)));
export const form = (what, work, ...rest) => h("form" + what, {onsubmit: event => {event.preventDefault(); work();}},
	rest);
export const submit = (text, more) => h("button.primary", {type: "submit"}, more, text);

// Buttons of which one is chosen; `choose` gets its value.
export const choices = (label, name, values, now, choose) => h("div.choices", {role: "radiogroup", ariaLabel: label},
	values.map(([value, text]) => h("label", h("input",
		{type: "radio", name, value, checked: value === now, onchange: () => choose(value)}), h("span", text))));
export const alarm = (...text) => h("div.bad", {role: "alert"}, text);

// Makes a call; an alarm says why it has failed.
export async function attempt(error, path, values) {
	put(error, "");
	const result = await call(path, values);
	tellFault(error, result);
	return result;
}
export const status = (...text) => h("p.help", {role: "status"}, text);
export const help = key => h("p.help", t(key));
// A word of a command, as a shell takes it.
export const quoted = text => /^[\w@%+=:,./-]+$/.test(text) ? text : "'" + text.replaceAll("'", "'\\''") + "'";
export const h2 = key => h("h2", t(key));
export const mono = text => h("span.mono", shown(text));
export const warning = (...text) => h("p.warning", icon("warn"), h("span", text));
export const empty = (name, key) => h("section.empty.card", icon(name), h2(key), h("p", t(key + "Help")));

// A line of a list: a picture, a name with a note below, and more.
export const row = (picture, name, note, ...more) =>
	h("li", typeof picture === "string" ? icon(picture) : picture,
		h("div.what", typeof name === "string" ? cut(name) : name, h("span.note", note)), more);
export const cardHead = (face, title, state, ...more) => h("div.head",
	face.classList?.contains("face") ? face : h("span.face", face), h("div.what", title, h("span.state", state)), more);
export const fold = (summary, ...rest) => h("details", h("summary", summary), rest);
export const label = (key, ...inputs) => h("label", t(key), inputs);
export const searchField = (key, oninput) => h("input",
	{type: "search", placeholder: t(key), ariaLabel: t(key), oninput});

// A line of a list for something that went well, or did not.
export function fate(good, name, note) {
	const node = row(good ? "check" : "cross", name, note);
	node.className = good ? "good" : "wrong";
	return node;
}
export const things = (...rows) => h("ul.things", rows);
export const head = (view, ...more) => h("div.head", h("h1", t(view)), more);

// A picture of a QR code, drawn from the rows of the gateway; "1" is dark.
export const qr = ({size, rows}, label) => {
	let d = "";
	rows.forEach((row, y) => {for (const {0: run,
		index} of row.matchAll(/1+/g)) d += `M${index} ${y}h${run.length}v1h-${run.length}z`;});
	return svg("svg", {class: "qr", viewBox: `-4 -4 ${size + 8} ${size + 8}`, role: "img", "aria-label": label},
		svg("path", {d}));
};

// Asks in a dialog, with a field if `more` has its `{label, value, type}`: its text, or true; null when cancelled.
export const ask = ({title, text, more, yes, danger}) => new Promise(done => {
	const dialog = $("ask"), input = more && field({value: more.value ?? "", type: more.type ?? "text", required: true});
	let answer = null;
	replace(dialog, h("form.fields", {method: "dialog", onsubmit: () => {answer = input ? input.value : true;}},
		h("h2#ask-title", title),
		text && h("p", text), more && h("label", more.label, input),
		h("p.row.end", button("cancel", () => dialog.close()), submit(yes, danger && {className: "primary danger"}))));
	dialog.onclose = () => done(answer);
	dialog.showModal();
	(input ?? dialog.querySelector(".primary")).focus();
	input?.select();
});
