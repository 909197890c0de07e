// The pane with one item of the Inbox. Nothing of it runs: pictures, sound and film come from another origin, the rest is text.
import {alarm, button, called, dots, family, has, icon, lineOf, make, named, problem, replace, shown, shownLines, sign, size, store, things, verb, warning,
	wayOf, when, word} from "/parts.js";
import {isLocked} from "/inbox.js";

/** Facts: pairs of a word and a value; those without a value are left out. */
const table = facts => make("dl.facts-table", facts.filter(([, value]) => value).map(([key, value]) =>
	[make("dt", word(key)), make("dd", {dir: "auto"}, typeof value === "string" ? shown(value) : value)]));

const text = content => make("pre.text", {tabIndex: 0, dir: "auto"}, content);

/** What `waft preview` says, by its form. */
function body(line) {
	const cut = line.isCut && make("p.help", word("isCut"));
	switch (line.shownAs) {
	case "text": return [text((line.lines ?? []).map(l => l.replace(/[\u202a-\u202e\u2066-\u2069]/g, shown)).join("\n")), cut];
	case "document": return [line.pageCount && make("p.help", word("pages", {n: line.pageCount})), line.lines?.length > 0 && text(line.lines.join("\n")), cut];
	case "archive": case "folder": return [make("ul.members", {tabIndex: 0}, (line.members ?? []).map(m => make("li", icon(m.kind === "tree" ? "folder" : m.kind),
		named(m.member), m.size !== undefined && make("span.note", size(m.size))))), cut];
	case "link": {
		const {url, host, port, ...parts} = line.urlParts ?? {};
		return [make("p.mono", {dir: "ltr"}, shown(url)), table([["url-scheme", parts.scheme], ["url-host", host && host + (port ? ":" + port : "")],
			...["user", "path", "query", "fragment"].map(key => ["url-" + key, parts[key]])])];
	}
	case "image": return [make("p.help", word("pixels", {wide: line.pixelWidth, high: line.pixelHeight}))];
	}
	return [];
}

/** The content itself, from the other origin. */
function content({arrival, type, kind, stored}) {
	const src = `${store.facts.previews}/items/${arrival}`, form = family(type, kind);
	if (arrival && form === "image") return make("img.picture", {src, alt: word("pictureOf", {name: stored}), onerror: event => event.target.remove()});
	if (arrival && /movie|sound/.test(form)) return make("iframe." + form, {src, sandbox: "", title: word("playerOf", {name: stored}), referrerPolicy: "no-referrer"});
}

const call = a => make("li.call", make("div.what", make("strong", shown(a.name ?? a.handler)),
	make("span.note", dots(has("handler-" + a.handlerAnswer) && word("handler-" + a.handlerAnswer), a.exitCode !== undefined && word("exitCode", {code: a.exitCode}),
		when(a.began), a.reason && shown(a.reason))), a.output && make("pre.text", {tabIndex: 0}, shownLines(a.output))));

const calls = (attempts = []) => attempts.length > 0 && make("details", {open: attempts.some(a => a.handlerAnswer === "failed")},
	make("summary", word("calls", {n: attempts.length})), things(attempts.map(call)));

/**
 * Fills the pane.
 * - acts: close, take, remove, verify, retry, unlock.
 */
export async function preview(side, entry, acts) {
	const inside = make("div.inside", make("p.help", {role: "status"}, word("loading"))), error = alarm(), menu = make("div.openers"), buttons = make("div.row"), facts = make("div"), warn = make("div");
	const locked = isLocked(entry), which = entry.arrival ?? entry.stored, kind = family(entry.type, entry.kind);
	replace(side, make("div.head", make("h2.what", named(entry.stored ?? entry.name)), sign(word("close"), "cross", acts.close)), warn, inside, buttons, menu, error, facts);
	const act = async (...words) => {
		error.textContent = "";
		const result = await verb(["inbox", ...words]);
		error.textContent = problem(result);
		return result;
	};
	const openIn = async () => {
		const programs = (await act("open-in", which)).lines.filter(l => l.event === "openIn");
		replace(menu, things(programs.map(p => make("li", make("button", {onclick: async () => {if (!(await act("open-in", which, p.place)).exit) replace(menu);}},
			icon(p.handler ? "handlers" : "program"), named(p.program), p.isDefault && make("span.note", word("isDefault")))))));
		menu.querySelector("button")?.focus();
	};
	buttons.append(button("takeDots", acts.take), button("verify", acts.verify), button("removeDots", acts.remove, ".danger"));
	if (locked) replace(inside, make("div.lockedItem", icon("lock"), make("p", word("lockedItem")), !store.protection?.dropBox && button("unlock", acts.unlock, ".primary")));
	const nothing = {lines: []};
	const [shownBy, about, options] = await Promise.all([locked ? nothing : verb(["inbox", "preview", which, "--lines", 300]),
		entry.arrival ? verb(["inbox", "show", entry.arrival]) : nothing, verb(["inbox", "options", which])]);
	if (!side.isConnected || !inside.isConnected) return;
	const line = lineOf(shownBy, "preview"), known = lineOf(about, "arrival") ?? {}, can = new Set(options.lines.map(l => l.action));
	// The journal's verdict is that of the receiver, which knew the offer.
	const verdict = known.content ?? line?.content ?? "";
	if (/lying|mislabelled/.test(verdict)) replace(warn, warning(word(verdict), " ", shown(line?.contentExplanation)));
	if (!locked) replace(inside, verdict !== "lying" && content(entry), line ? body(line) : !/image|movie|sound/.test(kind) && make("p.help", shown(shownBy.failed?.reason)));
	if (can.has("show-in-folder")) buttons.prepend(button("showInFolder", () => act("open", which, "--folder")));
	if (can.has("open-in")) buttons.prepend(button("openIn", openIn));
	if (can.has("open")) buttons.prepend(button("open", () => act("open", which), ".primary"));
	if (/failed|parked|no$/.test(known.delivery)) buttons.append(button("retry", acts.retry));
	replace(facts, table([["type", entry.type && make("span", word("family-" + kind), " ", make("span.help.mono", shown(entry.type)))],
		["size", known.size !== undefined && size(known.size)], ["sender", called(entry.from)], ["via", known.via && (wayOf(known.via) || "Waft")], ["arrivedAt", when(known.arrived)],
		["delivery", known.delivery && word("delivery-" + known.delivery)], ["subject", known.annotation?.subject], ["contents", line?.contentExplanation],
		["place", make("span.mono", shown(entry.path))], ["checksum", known.digest && make("span.mono", shown(known.digest))]]), calls(known.attempts));
}
