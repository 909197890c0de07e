import {alarm, brief, button, call, choices, cut, dots, family, fate, h, hasFocus, head, on, person, replace, row, size,
	t, tellFault, wayOf, when} from "/parts.js";

const PAGE = 50;

function arrival(line) {
	const note = dots(person(line.from, line.via), size(line.size), when(line.arrived),
		line.delivery !== "none" && t("delivery-" + line.delivery),
		line.left && t("left-" + line.left.how), /lying|mislabelled/.test(line.content) && t("delivery-liar"));
	return row(family(line.type, line.kind), line.left ? line.stored
		: h("a", {href: "#inbox/" + line.arrival}, cut(line.stored)), note);
}

function sent({items, count, storedCount, moved, ended, via, peer}) {
	const names = items.slice(0, 3).map(item => brief(item.name)).join(", ") + (count > 3 ? " …" : ""),
		all = storedCount === count;
	return fate(all, names, ["→ ", dots(person(peer),
		all ? t("allStored", {n: count}) : t("someStored", {stored: storedCount, n: count}), size(moved), when(ended),
			wayOf(via))]);
}

export function open(main, signal) {
	let way = "received", oldest = 0, limit = PAGE;
	const list = h("ul.things"), error = alarm(), older = button("older", () => load(true));
	async function load(more) {
		if (!more) {oldest = 0; limit = PAGE;}
		// What was sent has no numbers: a longer list is fetched anew.
		else if (way === "sent") limit += PAGE * 2;
		const asked = way, result = await call("history",
			{limit, sent: way === "sent", before: way !== "sent" && more ? oldest : undefined}, {signal});
		if (signal.aborted || asked !== way) return;
		const lines = result.lines.filter(line => /^(arrival|transfer)$/.test(line.event)).reverse(),
			rows = lines.map(way === "sent" ? sent : arrival);
		tellFault(error, result);
		if (way === "received" && lines.length) oldest = lines.at(-1).arrival;
		more && way === "received" ? list.append(...rows)
			: replace(list, rows.length ? rows : h("li.help", t("noHistory")));
		older.hidden = lines.length < limit;
	}
	const ways = ["received", "sent"].map(value => [value, t(value)]);
	main.append(head("history", choices(t("history"), "way", ways, way, value => {way = value; load();})), error, list,
		h("p", older));
	on("arrivals back", () => way === "received" && !hasFocus(list) && load(), signal);
	load();
}
