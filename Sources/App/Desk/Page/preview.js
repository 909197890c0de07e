// The pane with one item of the Inbox. Nothing of it runs: pictures, sound and film come from another origin, the rest is text.
import {alarm, button, dots, sign, things, wayOf} from "/parts.js";
import {make, named, replace, shown} from "/dom.js";
import {icon} from "/icons.js";
import {isLocked} from "/inbox.js";
import {called, store} from "/store.js";
import {family} from "/types.js";
import {problem, verb} from "/verbs.js";
import {has, size, when, word} from "/words.js";

const table = rows => make("dl.facts-table", rows.filter(([, value]) => value).map(([key, value]) => [make("dt", key), make("dd", {dir: "auto"}, value)]));

/** What `waft preview` says, by its form. */
function body(line) {
	const cut = line.isCut && make("p.help", word("isCut"));
	switch (line.shownAs) {
	case "text": return [make("pre.text", {tabIndex: 0, dir: "auto"}, (line.lines ?? []).map(l => l.replace(/[\u202a-\u202e\u2066-\u2069]/g, shown)).join("\n")), cut];
	case "document": return [line.pageCount && make("p.help", word("pages", {n: line.pageCount})), line.lines?.length > 0 && make("pre.text", {tabIndex: 0, dir: "auto"}, line.lines.join("\n")), cut];
	case "archive": case "folder": return [make("ul.members", {role: "list", tabIndex: 0}, (line.members ?? []).map(m => make("li", icon(m.kind === "tree" ? "folder" : m.kind === "link" ? "link" : "other"),
		named(m.member), m.size !== undefined && make("span.note", size(m.size))))), cut];
	case "link": {
		const {url, scheme, host, port, path, query, fragment, user} = line.urlParts ?? {};
		return [make("p.mono", {dir: "ltr"}, shown(url)), table([[word("url-scheme"), shown(scheme)], [word("url-host"), host && shown(host) + (port ? ":" + port : "")], [word("url-user"), user && shown(user)], [word("url-path"), path && shown(path)], [word("url-query"), query && shown(query)], [word("url-fragment"), fragment && shown(fragment)]])];
	}
	case "image": return [make("p.help", word("pixels", {wide: line.pixelWidth, high: line.pixelHeight}))];
	}
	return [];
}

/** The content itself, from the other origin. */
function content(entry) {
	const at = `${store.facts.previews}/items/${entry.arrival}`, kind = family(entry.type, entry.kind);
	if (!entry.arrival) return null;
	if (kind === "image") return make("img.picture", {src: at, alt: word("pictureOf", {name: entry.stored}), onerror: event => event.target.remove()});
	if (kind === "movie" || kind === "sound") return make("iframe." + kind, {src: at, sandbox: "", title: word("playerOf", {name: entry.stored}), referrerPolicy: "no-referrer"});
	return null;
}

function calls(attempts = []) {
	return attempts.length > 0 && make("details", {open: attempts.some(a => a.handlerAnswer === "failed")}, make("summary", word("calls", {n: attempts.length})), things(attempts.map(a => make("li.call", make("div.what",
		make("strong", shown(a.name ?? a.handler)), make("span.note", dots(has("handler-" + a.handlerAnswer) ? word("handler-" + a.handlerAnswer) : "", a.exitCode !== undefined && word("exitCode", {code: a.exitCode}), when(a.began), a.reason && shown(a.reason))),
		a.output && make("pre.text", {tabIndex: 0}, a.output.split("\n").map(shown).join("\n")))))));
}

/**
 * Fills the pane.
 * - acts: close, take, remove, verify, retry, unlock.
 */
export async function preview(side, entry, acts) {
	const inside = make("div.inside", make("p.help", {role: "status"}, word("loading"))), error = alarm(), menu = make("div.openers"), buttons = make("div.row.acts"), facts = make("div"), warn = make("div");
	const mine = () => side.isConnected && inside.isConnected;
	replace(side, make("div.head", make("h2.what", named(entry.stored ?? entry.name)), sign("close", "cross", acts.close)), warn, inside, buttons, menu, error, facts);
	const act = async words => {
		error.textContent = "";
		const result = await verb(words);
		error.textContent = problem(result);
		return result;
	};
	const which = entry.arrival ?? entry.stored;
	const openIn = async () => {
		const {lines} = await act(["inbox", "open-in", which]), programs = lines.filter(l => l.event === "openIn");
		replace(menu, things(programs.map(p => make("li", make("button", {type: "button", onclick: async () => {if (!(await act(["inbox", "open-in", which, p.place])).exit) replace(menu);}},
			icon(p.handler ? "handlers" : "program"), named(p.program), p.isDefault && make("span.note", word("isDefault")))))));
		menu.querySelector("button")?.focus();
	};
	buttons.append(button("takeDots", acts.take), button("verify", acts.verify), button("removeDots", acts.remove, ".danger"));
	if (isLocked(entry)) {
		replace(inside, make("div.lockedItem", icon("lock"), make("p", word("lockedItem")), !store.protection?.dropBox && button("unlock", acts.unlock, ".primary")));
	}
	const [shownBy, about, options] = await Promise.all([isLocked(entry) ? {lines: [], exit: 18} : verb(["inbox", "preview", which, "--lines", 300]),
		entry.arrival ? verb(["inbox", "show", entry.arrival]) : {lines: []}, verb(["inbox", "options", which])]).catch(() => []);
	if (!mine() || !about) return;
	const line = shownBy.lines.find(l => l.event === "preview"), known = about.lines.find(l => l.event === "arrival") ?? {}, can = new Set(options.lines.map(l => l.action));
	// The journal's verdict is that of the receiver, which knew the offer.
	const verdict = known.content ?? line?.content ?? "";
	if (/lying|mislabelled/.test(verdict)) replace(warn, make("p.warning", icon("warn"), word(verdict), " ", shown(line?.contentExplanation ?? "")));
	if (!isLocked(entry)) replace(inside, verdict !== "lying" && content(entry), line ? body(line) : /image|movie|sound/.test(family(entry.type, entry.kind)) ? null : make("p.help", shown(shownBy.failed?.reason ?? "")));
	if (can.has("open-in")) buttons.prepend(button("openIn", openIn));
	if (can.has("open")) buttons.prepend(button("open", () => act(["inbox", "open", which]), ".primary"));
	if (/failed|parked|no/.test(known.delivery ?? "") && known.delivery !== "none") buttons.append(button("retry", acts.retry));
	const {annotation = {}} = known;
	replace(facts, table([[word("type"), entry.type && make("span", word("family-" + family(entry.type, entry.kind)), " ", make("span.help.mono", shown(entry.type)))], [word("size"), known.size !== undefined && size(known.size)],
		[word("sender"), entry.from && shown(called(entry.from))], [word("via"), known.via && wayOf(known.via)], [word("arrivedAt"), when(known.arrived)],
		[word("delivery"), known.delivery && word("delivery-" + known.delivery)], [word("subject"), annotation.subject && shown(annotation.subject)], [word("contents"), line?.contentExplanation && shown(line.contentExplanation)],
		[word("place"), make("span.mono", shown(entry.path))], [word("checksum"), known.digest && make("span.mono", shown(known.digest))]]), calls(known.attempts));
}
