// The large preview of an item, over the window: its contents, its sender, and buttons.
import {alarm, attempt, button, call, counted, cut, dots, family, fold, h, icon, lineOf, linesOf, mono, named, oneOf,
	person, put, replace, show, shown, sign, size, store, t, things, warning, wayOf, when} from "/parts.js";
import {openSheet} from "/send.js";
import {body, content, sentence, table, text} from "/contents.js";
import {isFree, isLocked, keyOf, time} from "/entries.js";

const attemptRow = a => h("li.call", h("div.what", h("strong", shown(a.name ?? a.handler)),
	h("span.note", dots(oneOf("delivery-", a.handlerAnswer),
		a.exitCode !== undefined && t("exitCode", {code: a.exitCode}),
		when(a.began), shown(a.reason))), a.output && text(a.output.split("\n").map(shown).join("\n"))));

const calls = (attempts = []) => attempts.length > 0 && fold(t("calls", {n: attempts.length}),
	{open: attempts.some(a => a.handlerAnswer === "failed")}, things(attempts.map(attemptRow)));

// Why an item is not what its name says, in words for people. `types` are those that its contents may have.
function lie(verdict, kind, is) {
	const why = is ? t("liarIs", {says: t("family-" + kind), is: t("family-" + is)}) : t("liarIsNot");
	return warning(verdict === "lying" ? [why, " ", t("liarClosed")] : why);
}

// `acts` has the work of the buttons; `beside(entry, step)` gives the item before or after; `closed` is called at the
// end.
export function previewer(acts, beside, closed) {
	const title = h("h2#preview-title", {tabIndex: -1}), facts = h("p.facts"), warn = h("div");
	const stage = h("div.contents", {tabIndex: 0, role: "group", "aria-labelledby": "preview-title"});
	const before = sign(t("itemBefore"), "before", () => step(-1)), after = sign(t("itemAfter"), "after", () => step(1));
	const buttons = h("div.row"), error = alarm(), checks = h("div");
	const details = h("aside.details", {ariaLabel: t("facts"), hidden: true});
	const more = button("facts", () => {show(details, details.hidden); more.ariaExpanded = !details.hidden;});
	const node = h("dialog#preview", {"aria-labelledby": "preview-title", onkeydown: press, onclose: over},
		h("div.head", h("div.what", title, facts), before, after, sign(t("close"), "cross", () => node.close())),
		warn, h("div.middle", stage, details), h("footer", checks, error, buttons));
	before.classList.add("before");
	after.classList.add("after");
	let now = null, asked = new AbortController();

	function press(event) {
		if (event.repeat && event.key === " ") return;
		const way = {ArrowLeft: -1, ArrowRight: 1}[event.key];
		const isSpace = event.key === " " && !event.target.closest("button, summary, a");
		if (way) step(way);
		else if (isSpace) node.close();
		else if (event.key === "Delete" && now.arrival) acts.remove(now);
		else return;
		event.preventDefault();
	}

	function step(way) {
		const next = beside(now, way);
		if (next) open(next);
	}

	// Film and sound end with it.
	function over() {
		asked.abort();
		replace(stage);
		const last = now;
		now = null;
		closed(last);
	}

	function openers(programs, menu) {
		const open = program => attempt(error, "inbox/open-in", {item: now.path, isReceived: !!now.arrival, program});
		replace(menu, things(programs.map(p => h("li", h("button", {onclick: async () => {
			if (!(await open(p.place)).exit) replace(menu);
		}}, icon(p.handler ? "handlers" : "program"), named(p.program), p.isDefault && h("span.note", t("isDefault")))))));
		menu.querySelector("button")?.focus();
	}

	async function open(entry) {
		asked.abort();
		const {signal} = asked = new AbortController(), {path: item, arrival} = entry, isReceived = !!arrival;
		const locked = isLocked(entry), kind = family(entry.type, entry.kind), isNew = !now || keyOf(now) !== keyOf(entry);
		now = entry;
		replace(title, cut(entry.stored));
		put(facts, dots(entry.folder && t("inFolderOf", {path: entry.folder}),
			entry.inside ? counted(entry.inside) : entry.from && person(entry.from), size(entry.size), when(time(entry))));
		for (const [sign, way] of [[before, -1], [after, 1]]) sign.disabled = !beside(entry, way);
		for (const part of [warn, error, checks, details]) replace(part);
		checks.stop?.();
		const isFirst = !node.open;
		if (isFirst) {show(details, false); more.ariaExpanded = false; node.showModal();}
		if (isFirst || isNew && !buttons.contains(document.activeElement)) title.focus();
		if (isFirst || isNew) replace(stage, h("p.help", {role: "status"}, t("loading")));
		const act = (what, values) => attempt(error, "inbox/" + what, {item, ...values});
		const own = [entry.inside && button("enter", () => {node.close(); acts.enter(entry);}, ".primary"),
			isFree(entry) && button("sendOn", () => openSheet({paths: [item]})),
			isReceived && button("takeDots", () => acts.take(entry)), more];
		replace(buttons, own);
		if (locked) replace(stage, h("div.empty", icon("lock"), h("p", t("lockedItem")),
			!store.protection?.dropBox && button("unlock", async () => put(error, await acts.unlock()), ".primary")));
		const seenAtOnce = !locked && entry.content === "consistent" && kind !== "pdf" && content(entry);
		if (seenAtOnce) replace(stage, seenAtOnce);
		const result = await call("inbox/item", {item, isReceived, isLocked: locked}, {signal});
		if (signal.aborted) return;
		const line = lineOf(result, "preview"), known = lineOf(result, "arrival") ?? {};
		const options = linesOf(result, "option");
		const can = new Set(isReceived ? options.map(({action}) => action) : kind === "folder" ? [] : ["open-in"]);
		// The journal's verdict is that of the receiver, which knew the offer.
		const verdict = known.content ?? line?.content ?? "", isLie = /lying|mislabelled/.test(verdict);
		const real = [line?.contentType, ...options.map(({type}) => type)].map(type => family(type))
			.find(one => one !== "other" && one !== kind);
		if (isLie) replace(warn, lie(verdict, kind, real));
		if (!locked && !seenAtOnce) {
			const whole = verdict !== "lying" && content(entry, line?.pageCount);
			const parts = line ? body(line).filter(Boolean) : [];
			replace(stage, whole || (parts.length ? parts : nothing(entry, isLie ? real ?? "other" : kind, line)));
		}
		const menu = h("div.openers");
		const openIn = async () => openers(linesOf(await act("open-in", {isReceived}), "openIn"), menu);
		replace(buttons, can.has("open") && button("open", () => act("open"), ".primary"),
			can.has("show-in-folder") && button("showInFolder", () => act("open", {inFolder: true})), own);
		replace(details, h("div.row", can.has("open-in") && button("openIn", openIn),
			isReceived && button("verify", () => acts.verify(entry, checks)),
			/failed|parked|no$/.test(known.delivery) && button("retry", () => acts.retry(entry)),
			isReceived && button("removeDots", () => acts.remove(entry), ".danger")), menu,
		table([["type", entry.type && h("span", t("family-" + kind), " ", h("span.help.mono", shown(entry.type)))],
			["size", size(known.size)],
			["sender", isReceived ? h("span", person(entry.from)) : kind !== "folder" && t("unknownSender")],
			["via", known.via && (wayOf(known.via) || "Waft")], ["arrivedAt", when(known.arrived)],
			["state", known.delivery && t("delivery-" + known.delivery)], ["subject", known.annotation?.subject],
			["contents", line?.contentExplanation || result.failed?.reason],
			["place", mono(item)], ["checksum", known.digest && mono(known.digest)]]), calls(known.attempts));
	}

	// Why there is nothing to see.
	const nothing = (entry, kind, line) => sentence(kind, "cannotShow-" + (kind === "folder" ? line ? "empty" : "folder"
		: !entry.size && line ? "blank" : /image|movie|sound|pdf|program/.test(kind) ? kind : "other"));

	return {node, open, get entry() {return now;}, close: () => node.close()};
}
