import {ask, button, call, counted, dots, families, family, fold, framed, h, hasFocus, hasThumb, head, icon, lineOf, named, on, person, problem, put, searchField, select, senderKey, show, shown, sign, size, status, store, sum, t, update, when} from "/parts.js";
import {preview} from "/preview.js";
import {roomPicture} from "/use.js";
import {VirtualList} from "/virtual.js";

// Items of which there is no small picture.
const pictureless = new Set();

// The user's choices in this window.
let grid = true, takeTo = "";

export function isLocked({protection}) {
	const now = store.protection;
	return !!protection && protection !== "none" && !(protection === "untilFirstUnlock" ? now?.unlockedOnce : now?.unlocked);
}

const keyOf = entry => entry.arrival ?? entry.path;
const time = entry => entry.arrived ?? entry.modified;
const stamp = entry => entry.stamp ??= +new Date(time(entry));
const isLiar = entry => /lying|mislabelled/.test(entry.content) || !!entry.mark;

const ORDERS = {
	"": (a, b) => stamp(b) - stamp(a) || (b.arrival ?? 0) - (a.arrival ?? 0),
	name: (a, b) => a.stored < b.stored ? -1 : 1,
	size: (a, b) => (b.size ?? 0) - (a.size ?? 0),
};

// Fetches all items, then their facts. `some` is called now and then.
async function fetchAll(entries, signal, some) {
	const result = await call("inbox", {}, {signal, each: line => {
		const {event, arrival, arrived, delivery, content, via, size: bytes, from} = line;
		if (event === "arrival") {
			const entry = entries.get(arrival);
			if (entry) Object.assign(entry, {arrived, delivery, content, via, size: entry.size ?? bytes, from: entry.from ?? from, stamp: undefined});
		} else if (event === "entry") {
			entries.set(keyOf(line), line);
			if (entries.size % 2000 === 100) some();
		}
	}});
	if (result.exit) throw new Error(problem(result));
}

export function open(main, signal, wanted) {
	let entries = new Map(), seen = [], chosen = new Set(), anchor = -1, pane = null, loaded = false;
	const picker = (label, first, ...options) => select([["", t(first)], ...options], "", {ariaLabel: t(label), onchange: () => draw()});
	const search = searchField("search", () => draw());
	const byFamily = picker("type", "allTypes", ...families.map(name => [name, t("family-" + name)])), bySender = picker("sender", "allSenders");
	const byTime = picker("time", "anyTime", [1, t("today")], [7, t("days7")], [30, t("days30")]);
	const byState = picker("state", "anyState",
		...["none", "waiting", "yes", "no", "failed", "parked", "locked", "liar"].map(name => [name, t("delivery-" + name)]));
	const order = picker("order", "newest", ["name", t("byName")], ["size", t("largest")]);
	const toggle = sign("", "grid", () => {grid = !grid; draw();});
	const room = fold([icon("used"), t("used")], {className: "card used", ontoggle: () => drawRoom()}, h("div"));
	const total = status(), seal = h("div"), bulk = h("div.row.bulk"),
		side = h("aside.card.pane", {ariaLabel: t("preview"), hidden: true, onkeydown: ({key}) => key === "Escape" && closePane()});
	const noneTitle = h("h2"), noneHelp = h("p"), none = h("section.empty.card", {hidden: true}, icon("inbox"), noneTitle, noneHelp);

	const list = new VirtualList({
		label: t("inbox"), isChosen: entry => chosen.has(keyOf(entry)), draw: option, chose: choose,
		keys: {
			Enter() {
				if (seen[list.active]) openPane(seen[list.active]);
				side.querySelector("button")?.focus();
			},
			" ": () => toggleOne(list.active),
			Delete: () => remove(),
			Escape: closePane,
			a: event => event.ctrlKey && choosing(seen.map(keyOf)),
		},
	});

	function option(entry) {
		const {arrival, type, kind, from} = entry, locked = isLocked(entry), picture = h("span.thumb", icon(locked ? "lock" : family(type, kind)));
		if (arrival && !locked && !isLiar(entry) && !pictureless.has(arrival) && hasThumb(type, kind)) picture.append(h("img", {
			"data-src": `${store.facts.previews}/items/${arrival}/thumb`, alt: "", decoding: "async",
			onerror: event => {pictureless.add(arrival); event.target.remove();},
		}));
		return [h("span.tick", {"aria-hidden": "true"}, icon("check")), picture, h("span.what", named(entry.stored),
			h("span.note", dots(isLiar(entry) && t("delivery-liar"), size(entry.size), from && person(from), when(time(entry)))))];
	}

	function choose(place, event) {
		const entry = seen[place];
		if (!entry) return;
		if (event.target?.closest?.(".tick") || event.ctrlKey && event.type === "click") return toggleOne(place);
		if (!event.shiftKey || anchor < 0) anchor = place;
		// By the arrow keys the pane follows where it has a place of its own.
		if (event.type === "click" || matchMedia("(min-width: 70rem)").matches) openPane(entry);
		choosing(seen.slice(Math.min(anchor, place), Math.max(anchor, place) + 1).map(keyOf));
	}

	function choosing(keys) {
		chosen = new Set(keys);
		drawBulk();
		list.update();
	}

	function toggleOne(place) {
		const key = seen[place] && keyOf(seen[place]);
		if (key === undefined) return;
		if (!chosen.delete(key)) chosen.add(key);
		anchor = place;
		choosing(chosen);
	}

	function says(text, bad) {
		put(total, text);
		total.classList.toggle("bad", !!bad);
	}

	// Calls take items that arrived by Waft: with numbers.
	const able = () => [...chosen].filter(Number);

	// Makes a call of the Inbox for items, and says what came of it. A number can be the name of another item, a path cannot.
	async function act(name, keys = able(), more) {
		const result = await call("inbox/" + name, {items: keys.map(key => entries.get(key)?.path ?? String(key)), ...more}), checked = lineOf(result, "verified");
		for (const line of result.lines) if (/taken|removed/.test(line.event)) forget(line);
		const faults = result.lines.filter(line => /^(changed|missing|unreadable|absent|failed)$/.test(line.event));
		const text = checked ? t("verified", {n: checked.ok}) + faults.map(f =>
			` ${shown(f.stored)}: ${t("fault-" + f.event)} ${shown(f.reason ?? (f.differences ?? []).join(", "))}`).join("") : problem(result);
		if (text) says(text, result.exit);
	}

	async function remove(keys = able()) {
		const items = counted(keys.length);
		if (!keys.length || !await ask({title: t("removeTitle", {items}), text: t("removeText"), yes: t("remove"), danger: true})) return;
		await act("remove", keys);
		list.node.focus();
	}

	async function take(keys = able()) {
		const items = counted(keys.length), value = takeTo || store.receiver?.inbox?.replace(/\/[^/]*\/?$/, "");
		const folder = await ask({title: t("takeTitle", {items}), text: t("takeText"), yes: t("take"), more: {label: t("targetFolder"), value}});
		if (!folder) return;
		takeTo = folder;
		await act("take", keys, {folder});
		list.node.focus();
	}

	function forget(line) {
		const key = keyOf(line);
		entries.delete(key);
		chosen.delete(key);
		if (pane === key) closePane();
		draw();
	}

	function closePane() {
		if (hasFocus(side)) list.node.focus();
		pane = null;
		show(side, false);
		side.replaceChildren();
	}

	function openPane(entry) {
		if (pane === keyOf(entry)) return;
		pane = keyOf(entry);
		show(side, true);
		const only = [pane];
		preview(side, entry, {
			close: closePane, take: () => take(only), remove: () => remove(only), verify: () => act("verify", only), retry: () => act("retry", only), unlock,
		});
	}

	async function unlock() {
		const passphrase = await ask({title: t("unlock"), text: t("unlockText"), yes: t("unlock"), more: {label: t("passphrase"), type: "password"}});
		if (passphrase === null) return;
		const result = await call("protection/unlock", {passphrase});
		result.exit ? says(problem(result), true) : draw();
	}

	function drawSeal() {
		const now = store.protection, locked = [...entries.values()].filter(isLocked).length;
		update(seal, !now?.setUp ? null : locked || !now.unlocked
			? h("p.warning", icon("lock"), h("span.what", t(locked ? "lockedItems" : "locked", {n: locked})), !now.dropBox && button("unlock", unlock))
			: h("p.row.help", icon("lock"), t("isUnlocked"), button("lock", () => call("protection/lock"))));
	}

	function drawBulk() {
		const n = chosen.size;
		show(bulk, n > 1 || (n === 1 && side.hidden));
		if (bulk.hidden) return;
		update(bulk, h("strong", t("chosenN", {n})), able().length > 0 && [button("takeDots", () => take()), button("verify", () => act("verify")),
			button("removeDots", () => remove(), ".danger")],
			sign(t("chooseNone"), "cross", () => {choosing([]); list.node.focus();}));
	}

	function drawRoom() {if (room.open) roomPicture(room.lastElementChild, [...entries.values()]);}

	const drawSenders = framed(() => {
		const senders = [...new Map([...entries.values()].filter(e => e.from).map(({from}) => [senderKey(from), person(from)]))];
		senders.sort(([, a], [, b]) => a.localeCompare(b));
		const now = bySender.value;
		bySender.replaceChildren(...select([["", t("allSenders")], ...senders.slice(0, 500)]).children);
		bySender.value = now;
	});

	const draw = framed(() => {
		const text = search.value.trim().toLocaleLowerCase(), since = byTime.value && new Date().setHours(0, 0, 0, 0) - (byTime.value - 1) * 864e5;
		const state = byState.value, hasState = e => state === "locked" ? isLocked(e) : state === "liar" ? isLiar(e) : (e.delivery ?? "none") === state;
		seen = [...entries.values()].filter(entry => entry.stored.toLocaleLowerCase().includes(text)
			&& (!byFamily.value || family(entry.type, entry.kind) === byFamily.value)
			&& (!bySender.value || senderKey(entry.from) === bySender.value) && stamp(entry) >= since && (!state || hasState(entry)));
		seen.sort(ORDERS[order.value]);
		update(toggle, icon(grid ? "list" : "grid"));
		toggle.ariaLabel = toggle.title = t(grid ? "asList" : "asGrid");
		says(seen.length === entries.size ? dots(counted(seen.length), size(sum(seen, e => e.size)))
			: t("someSeen", {some: seen.length, n: entries.size}));
		show(list.node, seen.length);
		show(none, !seen.length && loaded);
		put(noneTitle, t(entries.size ? "nothingFound" : "emptyInbox"));
		put(noneHelp, entries.size ? "" : t("emptyInboxHelp"));
		if (pane !== null) list.active = seen.findIndex(e => keyOf(e) === pane);
		list.set(seen, grid);
		drawBulk();
		drawSeal();
		drawRoom();
	});
	const load = async () => {
		says(t("loading"));
		entries = new Map();
		try {await fetchAll(entries, signal, draw);} catch (error) {return signal.aborted || says(shown(error.message), true);}
		loaded = true;
		drawSenders();
		draw();
		const first = [...entries.values()].find(e => String(e.arrival) === wanted);
		if (first) {openPane(first); choosing([keyOf(first)]);}
		wanted = null;
	};
	main.append(head("inbox", toggle), seal, search, fold(t("filters"), {className: "filters", open: matchMedia("(min-width: 56rem)").matches},
		h("div", byFamily, bySender, byTime, byState, order)), room, total, bulk, h("div.panes", list.node, none, side));
	signal.addEventListener("abort", () => list.sizes.disconnect());
	on("arrivals", line => {
		if (/taken|removed|gone/.test(line.event)) return forget(line);
		const old = entries.get(line.arrival);
		if (line.event === "stored") {
			// A folder of the Inbox is an entry that the list knows.
			entries.set(line.arrival, {...line, kind: family(line.type) === "folder" ? "tree" : "file", arrived: new Date().toISOString()});
			drawSenders();
		} else if (old) old.delivery = {opened: "yes", deferred: "waiting", failed: "failed"}[line.event]; else return;
		draw();
		if (pane === line.arrival && side.querySelector("[data-key=retry]")) {closePane(); openPane(old);}
	}, signal);
	on("protection", () => {drawSeal(); list.set(seen, grid);}, signal);
	on("back", load, signal);
	load();
}
