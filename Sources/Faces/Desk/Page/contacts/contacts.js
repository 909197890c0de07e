import {face, alarm, ask, attempt, button, call, cardHead, copier, counted, dots, empty, field, fold, form, h, h2,
	hasFocus, head, help, label, lineOf, named, on, quoted, row, said, select, short, shown, size, store, submit, t,
	things, update, when} from "/parts.js";
import {drawQR, pairAny} from "/pair.js";
const amount = bytes => bytes === undefined ? ""
	: [["TB", 1e12], ["GB", 1e9], ["MB", 1e6], ["kB", 1e3]].map(([unit, n]) => bytes % n === 0 ? `${bytes / n}${unit}`
		: "").find(Boolean) || String(bytes);

const limits = c => dots(t("policy-" + c.policy), c.types && shown(c.types.join(", ")),
	c.sizeAtMost !== undefined && t("atMost", {size: size(c.sizeAtMost)}),
	c.sizePerDay !== undefined && t("perDay", {size: size(c.sizePerDay)}),
		c.itemsAtMost !== undefined && counted(c.itemsAtMost), shown(c.hours),
	c.until && t("until", {time: when(c.until)}), c.folder && t("inFolder", {path: c.folder}));

// A field: value of the call, word, example, value, and the word that takes the limit away.
const FIELDS = [
	["types", "types", "public.image", c => (c.types ?? []).join(" "), "any"],
		["sizeAtMost", "sizeAtMost", "5GB", c => amount(c.sizeAtMost), "any"],
	["sizePerDay", "sizePerDay", "20GB", c => amount(c.sizePerDay), "any"],
		["itemsAtMost", "itemsAtMost", "100", c => String(c.itemsAtMost ?? ""), "any"],
	["hours", "hours", "08:00-18:00", c => c.hours ?? "", "any"], ["lasting", "lasting", "30d", () => "", "ever"],
	["folder", "intoFolder", "2026", c => c.folder ?? "", ""],
];

function limitsForm(contact, act) {
	const inputs = FIELDS.map(([, , placeholder, now]) => field({value: now(contact), placeholder}));
	const policy = select(["ask", "accept", "decline"].map(of => [of, t("policy-" + of)]), contact.policy);
	const save = () => {
		const values = policy.value === contact.policy ? {} : {policy: policy.value};
		FIELDS.forEach(([name, , , now, none], n) => {
			const value = inputs[n].value.trim();
			if (value !== now(contact)) values[name] = name === "types" ? (value || none).split(/[\s,]+/) : value || none;
		});
		if (Object.keys(values).length) act("set", values);
	};
	return form(".fields", save, help("limitsHelp"), h("div.grid3", label("itsOffers", policy),
		FIELDS.map(([, key], n) => h("label", t(key), inputs[n]))), h("p.row", submit(t("save"))));
}

function card(contact, opened) {
	const error = alarm(), {id, name, blocked} = contact;
	const act = (what, values) => attempt(error, "contacts/" + what, {contact: id, ...values});
	const rename = async () => {
		const now = await ask({title: t("renameTitle", {name}), more: {label: t("itsName"), value: name},
			yes: t("rename")});
		if (now) act("rename", {name: now});
	};
	const forget = async () => {
		if (await ask({title: t("forgetTitle", {name}), text: t("forgetText"), yes: t("forget"),
			danger: true})) act("forget");
	};
	const blocking = blocked ? "unblock" : "block";
	return h(`li.card${blocked ? ".isBlocked" : ""}`, cardHead(face({id, name}), h("h2", named(name)),
		[blocked ? t("blocked") : limits(contact), h("br"),
			dots(short(id), t("verified-" + contact.verifiedBy), when(contact.verifiedAt),
				contact.ends && t("until", {time: when(contact.ends)}))]),
	fold(t("limits"), {open: opened.has(id), ontoggle: event => event.target.open ? opened.add(id) : opened.delete(id)},
		limitsForm(contact, act),
		h("p.row", button("rename", rename, "", id), button(blocking, () => act(blocking), "", id),
			button("forget", forget, ".danger", id))), error);
}

const stranger = ({id, name}) => row("cross", name, short(id),
	button("unblock", () => call("contacts/unblock", {contact: id})));

function ownKey(id) {
	const picture = h("div");
	return [h2("myKey"), h("p.mono.key", id), h("p.row", copier(id)),
		fold(t("asQR"), {ontoggle: event => event.target.open && drawQR(picture, id, t("qrOf", {what: t("myKey")}))},
			picture), said([`waft contacts allow ${id} --name ${quoted(store.receiver?.name ?? store.facts.name)}`])];
}

export async function open(main, signal) {
	const list = h("ul.cards"), strangers = h("div"), me = h("section.card"), opened = new Set(),
		none = empty("contacts", "noContacts");
	const draw = () => {
		if (hasFocus(list) && document.activeElement.matches("input, select")) return;
		const all = [...store.contacts.values()].sort((a, b) => a.blocked - b.blocked || a.name.localeCompare(b.name));
		update(list, all.map(contact => card(contact, opened)));
		none.hidden = all.length > 0;
		update(strangers, store.strangers.length > 0
			&& h("section", h2("blockedStrangers"), things(store.strangers.map(stranger))));
	};
	main.append(head("contacts", button("pairAny", pairAny, ".primary")), none, list, strangers, me);
	on("contacts", draw, signal);
	draw();
	const line = lineOf(await call("contacts/me", {}, {signal}), "me");
	if (line) update(me, ownKey(line.id));
}
