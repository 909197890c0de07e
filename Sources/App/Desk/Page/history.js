// The view of the history: what has arrived, and what this machine has sent.
import {alarm, button, wayOf} from "/parts.js";
import {make, named, replace, shown, isolated} from "/dom.js";
import {icon} from "/icons.js";
import {called, on} from "/store.js";
import {family} from "/types.js";
import {problem, verb} from "/verbs.js";
import {has, size, when, word} from "/words.js";

const PAGE = 50;

const row = (kind, title, facts, href) => make("li", icon(kind), make("div.what", href ? make("a", {href}, title) : title, make("span.note", facts.filter(Boolean).join(" · "))));

function arrival(line) {
	const facts = [isolated(called(line.from)), line.via !== "waft" && wayOf(line.via), size(line.size), when(line.arrived), line.delivery !== "none" && word("delivery-" + line.delivery),
		line.left && word("left-" + line.left.how), /lying|mislabelled/.test(line.content ?? "") && word("liar")];
	return row(family(line.type, line.kind), named(line.stored), facts, line.left ? "" : "#inbox/" + line.arrival);
}

function sent(line) {
	const names = line.items.slice(0, 3).map(item => shown(item.name)).join(", ") + (line.count > 3 ? " …" : "");
	const facts = [line.storedCount === line.count ? word("allStored", {n: line.count}) : word("someStored", {stored: line.storedCount, n: line.count}), size(line.moved), when(line.ended), line.via !== "waft" && wayOf(line.via)];
	return make(`li${line.storedCount === line.count ? ".good" : ".wrong"}`, icon(line.storedCount === line.count ? "check" : "cross"), make("div.what", named(names), make("span.note", "→ ", isolated(called(line.peer ?? {}) || "?"), " · ", facts.filter(Boolean).join(" · "))));
}

export function open(main, signal) {
	let way = "received", oldest = 0, shownLines = PAGE;
	const list = make("ul.things", {role: "list"}), error = alarm(), older = button("older", () => load(true));
	const choices = make("div.choices", {role: "radiogroup", "aria-label": word("history")}, ["received", "sent"].map(value => make("label", make("input", {type: "radio", name: "way", value, checked: value === way, onchange: () => {way = value; load();}}), make("span", word(value)))));
	async function load(more) {
		if (!more) {oldest = 0; shownLines = PAGE;}
		// What was sent has no numbers: a longer list is fetched anew.
		else if (way === "sent") shownLines += PAGE * 2;
		const words = way === "sent" ? ["history", "--sent", "--limit", shownLines] : ["history", "--limit", PAGE, ...(more && oldest ? ["--before", oldest] : [])];
		const result = await verb(words, {signal});
		if (signal.aborted) return;
		const lines = result.lines.filter(line => /^(arrival|transfer)$/.test(line.event)).reverse(), rows = lines.map(way === "sent" ? sent : arrival);
		error.textContent = problem(result);
		if (way === "received" && lines.length) oldest = lines.at(-1).arrival;
		more && way === "received" ? list.append(...rows) : replace(list, rows.length ? rows : make("li.help", word("noHistory")));
		older.hidden = lines.length < (way === "sent" ? shownLines : PAGE);
	}
	main.append(make("div.head", make("h1", word("history")), choices), error, list, make("p", older));
	on("arrivals back", () => way === "received" && !list.contains(document.activeElement) && load(), signal);
	load();
}
