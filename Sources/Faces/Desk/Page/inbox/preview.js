// Nothing of an item runs: pictures, sound and film come from another origin, all else is text.
import {alarm, attempt, button, call, dots, family, fold, h, help, icon, lineOf, linesOf, mono, named, oneOf, person, replace, shown, sign, size,
	status, store, t, things, warning, wayOf, when} from "/parts.js";
import {isLocked} from "/inbox.js";

// Pairs of a word and a value; those without one are left out.
const table = facts => h("dl", facts.filter(([, value]) => value).map(([key, value]) =>
	[h("dt", t(key)), h("dd", {dir: "auto"}, typeof value === "string" ? shown(value) : value)]));

const text = content => h("pre.text", {dir: "auto"}, content);
// What `waft preview` says of contents.
export function body(line) {
	const cut = line.isCut && help("isCut");
	switch (line.shownAs) {
	case "text": case "document": return [line.pageCount && h("p.help", t("pages", {n: line.pageCount})),
		line.lines?.length > 0 && text(line.lines.map(l => l.replace(/[\u202a-\u202e\u2066-\u2069]/g, shown)).join("\n")), cut];
	case "archive": case "folder": return [h("ul.members", (line.members ?? []).map(m => h("li", icon(m.kind === "tree" ? "folder" : m.kind),
		named(m.member), m.size !== undefined && h("span.note", size(m.size))))), cut];
	case "link": {
		const {url, host, port, ...parts} = line.urlParts ?? {};
		return [h("p.mono", {dir: "ltr"}, shown(url)), table([["url-scheme", parts.scheme], ["url-host", host && host + (port ? ":" + port : "")],
			...["user", "path", "query", "fragment"].map(key => ["url-" + key, parts[key]])])];
	}
	case "image": return [h("p.help", t("pixels", {wide: line.pixelWidth, high: line.pixelHeight}))];
	}
	return [];
}

// The content itself, from the other origin.
function content({arrival, type, kind, stored}, pages) {
	const src = `${store.facts.previews}/items/${arrival}`, form = family(type, kind);
	if (arrival && form === "image") return h("img.picture", {src, alt: t("pictureOf", {name: stored}), onerror: event => event.target.remove()});
	if (arrival && pages) return h("div.pages", {tabIndex: 0}, [...Array(Math.min(pages, 99)).keys()].map(n => h("img", {loading: "lazy",
		src: `${src}/pages/${n + 1}`, alt: t("page", {n: n + 1}), onerror: ({target}) => (n ? target : target.parentNode).remove()})));
	if (arrival && /movie|sound/.test(form)) return h("iframe." + form, {src: src + "/player", sandbox: "", title: t("playerOf", {name: stored}), referrerPolicy: "no-referrer"});
}

const attemptRow = a => h("li.call", h("div.what", h("strong", shown(a.name ?? a.handler)),
	h("span.note", dots(oneOf("delivery-", a.handlerAnswer), a.exitCode !== undefined && t("exitCode", {code: a.exitCode}),
		when(a.began), shown(a.reason))), a.output && text(a.output.split("\n").map(shown).join("\n"))));

const calls = (attempts = []) => attempts.length > 0 && fold(t("calls", {n: attempts.length}), {open: attempts.some(a => a.handlerAnswer === "failed")},
	things(attempts.map(attemptRow)));

export async function preview(side, entry, acts) {
	const inside = h("div.inside", status(t("loading"))), error = alarm(), menu = h("div.openers"), buttons = h("div.row"), facts = h("div"), warn = h("div");
	const locked = isLocked(entry), item = entry.path, isReceived = !!entry.arrival, kind = family(entry.type, entry.kind);
	replace(side, h("div.head", h("h2.what", named(entry.stored)), sign(t("close"), "cross", acts.close)), warn, inside, buttons, menu, error, facts);
	const act = (what, values) => attempt(error, "inbox/" + what, {item, ...values});
	const openIn = async () => {
		const programs = linesOf(await act("open-in", {isReceived}), "openIn");
		replace(menu, things(programs.map(p => h("li", h("button", {onclick: async () => {if (!(await act("open-in", {isReceived, program: p.place})).exit) replace(menu);}},
			icon(p.handler ? "handlers" : "program"), named(p.program), p.isDefault && h("span.note", t("isDefault")))))));
		menu.querySelector("button")?.focus();
	};
	if (isReceived) buttons.append(button("takeDots", acts.take), button("verify", acts.verify), button("removeDots", acts.remove, ".danger"));
	if (locked) replace(inside, h("div.empty", icon("lock"), h("p", t("lockedItem")), !store.protection?.dropBox && button("unlock", acts.unlock, ".primary")));
	const result = await call("inbox/item", {item, isReceived, isLocked: locked});
	if (!side.isConnected || !inside.isConnected) return;
	const line = lineOf(result, "preview"), known = lineOf(result, "arrival") ?? {}, can = new Set(isReceived ? result.lines.map(l => l.action) : ["open-in"]);
	// The journal's verdict is that of the receiver, which knew the offer.
	const verdict = known.content ?? line?.content ?? "";
	if (/lying|mislabelled/.test(verdict)) replace(warn, warning(t(verdict), " ", shown(line?.contentExplanation)));
	if (!locked) replace(inside, verdict !== "lying" && content(entry, line?.pageCount),
		line ? body(line) : !/image|movie|sound/.test(kind) && h("p.help", shown(result.failed?.reason)));
	if (can.has("show-in-folder")) buttons.prepend(button("showInFolder", () => act("open", {inFolder: true})));
	if (can.has("open-in")) buttons.prepend(button("openIn", openIn));
	if (can.has("open")) buttons.prepend(button("open", () => act("open"), ".primary"));
	if (/failed|parked|no$/.test(known.delivery)) buttons.append(button("retry", acts.retry));
	replace(facts, table([["type", entry.type && h("span", t("family-" + kind), " ", h("span.help.mono", shown(entry.type)))],
		["size", size(known.size)], ["sender", isReceived ? person(entry.from) : t("unknownSender")],
		["via", known.via && (wayOf(known.via) || "Waft")], ["arrivedAt", when(known.arrived)],
		["state", known.delivery && t("delivery-" + known.delivery)], ["subject", known.annotation?.subject], ["contents", line?.contentExplanation],
		["place", mono(entry.path)], ["checksum", known.digest && mono(known.digest)]]), calls(known.attempts));
}
