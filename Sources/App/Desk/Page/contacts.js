// The view of the contacts: who they are, what they may send, and who is blocked.
import {alarm, dots, things} from "/parts.js";
import {make, named, replace, shown} from "/dom.js";
import {ask} from "/ask.js";
import {icon} from "/icons.js";
import {changed, on, store} from "/store.js";
import {problem, verb} from "/verbs.js";
import {has, short, size, when, word} from "/words.js";

/** Bytes as a size that the command line takes. */
const amount = bytes => bytes === undefined ? "" : [["TB", 1e12], ["GB", 1e9], ["MB", 1e6], ["kB", 1e3]].map(([unit, n]) => bytes % n === 0 ? `${bytes / n}${unit}` : "").find(Boolean) || String(bytes);

function limits(contact) {
	return dots(word("policy-" + contact.policy), contact.types && shown(contact.types.join(", ")), contact.sizeAtMost !== undefined && word("atMost", {size: size(contact.sizeAtMost)}), contact.sizePerDay !== undefined && word("perDay", {size: size(contact.sizePerDay)}),
		contact.itemsAtMost !== undefined && word("items", {n: contact.itemsAtMost}), contact.hours && shown(contact.hours), contact.until && word("until", {time: when(contact.until)}), contact.folder && word("inFolder", {path: contact.folder}));
}

const HINTS = {types: "public.image", sizeAtMost: "5GB", sizePerDay: "20GB", itemsAtMost: "100", hours: "08:00-18:00", lasting: "30d", intoFolder: "2026"};

/** A field: the option, its word, the value now, and the word that takes the limit away. */
const FIELDS = [["--types", "types", c => (c.types ?? []).join(" "), "any"], ["--size-at-most", "sizeAtMost", c => amount(c.sizeAtMost), "any"], ["--size-per-day", "sizePerDay", c => amount(c.sizePerDay), "any"],
	["--items-at-most", "itemsAtMost", c => String(c.itemsAtMost ?? ""), "any"], ["--time", "hours", c => c.hours ?? "", "any"], ["--for", "lasting", () => "", "ever"], ["--folder", "intoFolder", c => c.folder ?? "", ""], ["--handler", "handlerFor", c => c.handler ?? "", ""]];

function form(contact, act) {
	const id = "c-" + contact.id.slice(0, 16), inputs = FIELDS.map(([option, key, now]) => make("input", {value: now(contact), placeholder: HINTS[key], dir: "auto", autocomplete: "off"}));
	const choice = (options, value, name) => make("select", options.map(o => make("option", {value: o, selected: o === value}, has(name + "-" + o) ? word(name + "-" + o) : o)));
	const policy = choice(["ask", "accept", "decline"], contact.policy, "policy"), protect = choice(["usual", "none", "untilFirstUnlock", "unlessOpen", "complete"], contact.protection ?? "usual", "protect");
	const save = () => {
		const words = ["contacts", "set", contact.id];
		if (policy.value !== contact.policy) words.push("--policy", policy.value);
		if (protect.value !== (contact.protection ?? "usual")) words.push("--protect", protect.value);
		FIELDS.forEach(([option, , now, none], n) => {
			const value = inputs[n].value.trim();
			if (value === now(contact)) return;
			if (option === "--types" && value) words.push(...value.split(/[\s,]+/).flatMap(type => [option, type]));
			else words.push(...(value || none ? [option + "=" + (value || none)] : [option, ""]));
		});
		if (words.length > 3) act(words);
	};
	return make("form.fields", {onsubmit: event => {event.preventDefault(); save();}}, make("p.help", word("limitsHelp")), make("div.grid3", make("label", word("itsOffers"), policy),
		FIELDS.map(([, key], n) => make("label", word(key), inputs[n])), make("label", word("protection"), protect)), make("p.row", make("button.primary", word("save"))));
}

function card(contact, openOnes) {
	const error = alarm(), key = contact.id.slice(0, 12);
	const act = async words => {
		const result = await verb(words);
		error.textContent = problem(result);
		if (!result.exit) changed("contactsChanged");
	};
	const button = (name, work, more = "") => make("button" + more, {type: "button", "data-key": name + key, onclick: work}, word(name));
	const rename = async () => {const name = await ask({title: word("renameTitle", {name: contact.name}), field: {label: word("itsName"), value: contact.name}, yes: word("rename")}); if (name) act(["contacts", "rename", contact.id, name]);};
	const forget = async () => {if (await ask({title: word("forgetTitle", {name: contact.name}), text: word("forgetText"), yes: word("forget"), danger: true})) act(["contacts", "forget", contact.id]);};
	return make(`li.card${contact.blocked ? ".isBlocked" : ""}`, make("div.head", make("span.face", icon("contacts"), !contact.blocked && make("span.proved", icon("check"))), make("div.what", make("h2", named(contact.name)), make("span.state", contact.blocked ? word("blocked") : limits(contact)),
		make("span.note", make("span.mono", short(contact.id)), " · ", word("verified-" + contact.verifiedBy), " · ", when(contact.verifiedAt)))),
	make("details", {open: openOnes.has(contact.id), ontoggle: event => event.target.open ? openOnes.add(contact.id) : openOnes.delete(contact.id)}, make("summary", word("limits")), form(contact, act),
		make("p.row", button("rename", rename), contact.blocked ? button("unblock", () => act(["contacts", "unblock", contact.id])) : button("block", () => act(["contacts", "block", contact.id])), button("forget", forget, ".danger"))), error);
}

function stranger(line) {
	return make("li", icon("cross"), make("div.what", named(line.name), make("span.note.mono", short(line.id))), make("button", {type: "button", onclick: async () => {await verb(["contacts", "unblock", line.id]); changed("contactsChanged");}}, word("unblock")));
}

export async function open(main, signal) {
	const list = make("ul.cards", {role: "list"}), strangers = make("div"), me = make("section.card"), openOnes = new Set();
	const draw = () => {
		const all = [...store.contacts.values()].sort((a, b) => a.blocked - b.blocked || a.name.localeCompare(b.name));
		if (list.contains(document.activeElement) && document.activeElement.matches("input, select")) return;
		replace(list, all.length ? all.map(contact => card(contact, openOnes)) : make("li.card.empty", icon("contacts"), make("h2", word("noContacts")), make("p", word("noContactsHelp"))));
		replace(strangers, store.strangers?.length > 0 && make("section", make("h2", word("blockedStrangers")), things(store.strangers.map(stranger))));
	};
	main.append(make("h1", word("contacts")), list, strangers, me);
	on("contacts", draw, signal);
	draw();
	const line = (await verb(["contacts", "me"], {signal})).lines.find(l => l.event === "me");
	if (!line) return;
	const copy = make("button", {type: "button", onclick: async () => {await navigator.clipboard.writeText(line.id).catch(() => {}); copy.textContent = word("copied");}}, word("copyKey"));
	me.append(make("h2", word("pairTitle")), make("p", word("pairHelp")), make("pre", make("code", `waft pair --accept\nwaft pair NAME`)), make("p.help", word("pairHelp2")), make("p.mono.key", line.id), make("p.row", copy));
}
