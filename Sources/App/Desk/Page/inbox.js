// The view of the Inbox.
import {dots} from "/parts.js";
import {framed, make, named, replace, show, shown} from "/dom.js";
import {ask} from "/ask.js";
import {icon} from "/icons.js";
import {preview} from "/preview.js";
import {roomPicture} from "/room.js";
import {called, on, store} from "/store.js";
import {families, family, hasThumb} from "/types.js";
import {post, problem, verb} from "/verbs.js";
import {VirtualList} from "/virtual.js";
import {size, when, word} from "/words.js";

export const keyOf = entry => entry.arrival ?? entry.path;
/** Items of which there is no small picture. */
const pictureless = new Set();
const kept = (name, value) => {try {if (value === undefined) return localStorage.getItem(name); localStorage.setItem(name, value);} catch {return null;}};

/** Whether an item cannot be read before an unlock. */
export function isLocked({protection}) {
	const now = store.protection;
	return !!protection && protection !== "none" && !(protection === "untilFirstUnlock" ? now?.unlockedOnce : now?.unlocked);
}

const nameOf = entry => entry.stored ?? entry.name;
const time = entry => entry.arrived ?? entry.modified;
const isLiar = entry => /lying|mislabelled/.test(entry.content ?? "") || !!entry.mark;

/** Fetches all items, and then what the journal knows of them. `some` is called from time to time. */
async function fetchAll(entries, signal, some) {
	const list = await verb(["inbox", "list"], {signal, each: line => {
		if (line.event === "entry") entries.set(keyOf(line), line);
		if (line.event === "entry" && entries.size % 2000 === 100) some();
	}});
	if (list.exit) throw new Error(problem(list));
	some();
	// Items in folders of the Inbox are in the filtered list only.
	if ([...entries.values()].some(entry => entry.kind === "tree" && !entry.arrival)) {
		await verb(["inbox", "list", "--since", "3650d"], {signal, each: line => line.event === "entry" && entries.has(keyOf(line)) || line.arrival && entries.set(keyOf(line), line)});
	}
	await verb(["history", "--limit", "100000"], {signal, each: ({event, arrival, arrived, delivery, content, via, size: bytes, from}) => {
		const entry = event === "arrival" && entries.get(arrival);
		if (entry) Object.assign(entry, {arrived, delivery, content, via, size: entry.size ?? bytes, from: entry.from ?? from, stamp: undefined});
	}});
}

export function open(main, signal, wanted) {
	let entries = new Map(), seen = [], chosen = new Set(), anchor = -1, grid = kept("grid") !== "no", pane = null;
	const picker = (label, options, change = draw) => make("select", {"aria-label": label, onchange: change}, options.map(([value, text]) => make("option", {value}, text)));
	const search = make("input", {type: "search", placeholder: word("search"), "aria-label": word("search"), oninput: () => draw()});
	const byFamily = picker(word("type"), [["", word("allTypes")], ...families.map(f => [f, word("family-" + f)])], () => draw());
	const bySender = picker(word("sender"), [["", word("allSenders")]], () => draw());
	const byTime = picker(word("time"), [["", word("anyTime")], ["1", word("today")], ["7", word("days7")], ["30", word("days30")]], () => draw());
	const byState = picker(word("state"), [["", word("anyState")], ...["none", "waiting", "yes", "no", "failed", "parked", "locked", "liar"].map(s => [s, word("delivery-" + s)])], () => draw());
	const order = picker(word("order"), [["time", word("newest")], ["name", word("byName")], ["size", word("largest")]], () => draw());
	const toggle = make("button.round", {type: "button", onclick: () => {grid = !grid; kept("grid", grid ? "yes" : "no"); draw();}});
	const room = make("details.card.room", {ontoggle: () => drawRoom()}, make("summary", icon("room"), word("room")), make("div"));
	const total = make("p.help", {role: "status"}), seal = make("div"), bulk = make("div.row.bulk"), side = make("aside.card.pane", {"aria-label": word("preview"), hidden: true});

	const list = new VirtualList({
		label: word("inbox"), isChosen: entry => chosen.has(keyOf(entry)), draw: option,
		chose: (place, event) => choose(place, event),
		keys: event => {
			if (event.key === "Enter") side.querySelector("button, a, [tabindex]")?.focus();
			else if (event.key === " ") toggleOne(list.active);
			else if (event.key === "Delete") remove();
			else if (event.key === "Escape") closePane();
			else if (event.key === "a" && event.ctrlKey) {chosen = new Set(seen.map(keyOf)); drawBulk(); list.update();}
			else return;
			event.preventDefault();
		},
	});

	function option(entry) {
		const kind = family(entry.type, entry.kind), locked = isLocked(entry);
		const picture = make("span.thumb", icon(locked ? "lock" : kind));
		if (entry.arrival && !locked && !isLiar(entry) && !pictureless.has(entry.arrival) && hasThumb(entry.type, entry.kind)) picture.append(make("img", {
			"data-src": `${store.facts.previews}/items/${entry.arrival}/thumb`, alt: "", decoding: "async",
			onerror: event => {pictureless.add(entry.arrival); event.target.remove();},
		}));
		return [make("span.tick", {"aria-hidden": "true"}, icon("check")), picture, make("span.what", named(nameOf(entry)),
			make("span.note", dots(isLiar(entry) && word("liar"), entry.size !== undefined && size(entry.size), entry.from ? shown(called(entry.from)) : "", when(time(entry)))))];
	}

	function choose(place, event) {
		const entry = seen[place];
		if (!entry) return;
		if (event.target?.closest?.(".tick") || event.ctrlKey && event.type === "click") return toggleOne(place);
		if (event.shiftKey && anchor >= 0) chosen = new Set(seen.slice(Math.min(anchor, place), Math.max(anchor, place) + 1).map(keyOf));
		else {chosen = new Set([keyOf(entry)]); anchor = place;}
		// By the arrow keys the pane follows where it has a place of its own.
		if (event.type === "click" || matchMedia("(min-width: 72rem)").matches) openPane(entry);
		drawBulk();
	}

	function toggleOne(place) {
		const key = seen[place] && keyOf(seen[place]);
		if (key === undefined) return;
		chosen.has(key) ? chosen.delete(key) : chosen.add(key);
		anchor = place;
		drawBulk();
		list.update();
	}

	const words = keys => [...keys].map(key => entries.get(key)).filter(Boolean).map(entry => entry.arrival ?? nameOf(entry));

	/** Runs a verb of the Inbox for the chosen items, and says what came of it. */
	async function act(name, more = [], keys = chosen) {
		const result = await verb(["inbox", name, ...words(keys), ...more]);
		for (const line of result.lines) if (/taken|removed/.test(line.event)) forget(line);
		const checked = result.lines.find(line => line.event === "verified");
		const faults = result.lines.filter(line => /^(changed|missing|unreadable|absent|failed)$/.test(line.event));
		const text = checked ? word("verified", {n: checked.ok}) + faults.map(f => ` ${shown(f.stored ?? "")}: ${word("fault-" + f.event)} ${shown(f.reason ?? (f.differences ?? []).join(", "))}`).join("") : problem(result);
		if (text) {total.textContent = text; total.classList.toggle("bad", result.exit !== 0);}
		return result;
	}

	async function remove(keys = chosen) {
		const n = keys.size;
		if (!n || !await ask({title: word("removeTitle", {items: word("items", {n})}), text: word("removeText"), yes: word("remove"), danger: true})) return;
		await act("remove", [], new Set(keys));
		list.node.focus();
	}

	async function take(keys = chosen) {
		const n = keys.size, folder = n && await ask({title: word("takeTitle", {items: word("items", {n})}), text: word("takeText"), yes: word("take"),
			field: {label: word("targetFolder"), value: kept("folder") ?? store.receiver?.inbox?.replace(/\/[^/]*\/?$/, "") ?? ""}});
		if (!folder) return;
		kept("folder", folder);
		await act("take", [folder], new Set(keys));
		list.node.focus();
	}

	function forget(line) {
		const key = line.arrival ?? line.path;
		entries.delete(key);
		chosen.delete(key);
		if (pane === key) closePane();
		draw();
	}

	function closePane() {
		if (side.contains(document.activeElement)) list.node.focus();
		pane = null;
		show(side, false);
		side.replaceChildren();
	}

	function openPane(entry) {
		if (pane === keyOf(entry)) return;
		pane = keyOf(entry);
		show(side, true);
		const only = new Set([pane]);
		preview(side, entry, {close: closePane, take: () => take(only), remove: () => remove(only), verify: () => act("verify", [], only), retry: () => act("retry", [], only), unlock});
	}

	async function unlock() {
		const passphrase = await ask({title: word("unlock"), text: word("unlockText"), yes: word("unlock"), field: {label: word("passphrase"), type: "password"}});
		if (passphrase === null) return;
		const answer = await post("/unlock", {passphrase}).then(r => r.json()).catch(() => ({exit: 1, message: word("unreachable")}));
		if (answer.exit) {total.textContent = shown(answer.message) || word("notUnlocked"); total.classList.add("bad");} else draw();
	}

	function drawSeal() {
		const now = store.protection, locked = [...entries.values()].filter(isLocked).length;
		replace(seal, !now?.setUp ? null : locked || !now.unlocked ? make("p.warning", icon("lock"), make("span.what", word(locked ? "lockedItems" : "locked", {n: locked})),
			!now.dropBox && make("button", {type: "button", "data-key": "unlock", onclick: unlock}, word("unlock")))
			: make("p.row.help", icon("lock"), word("isUnlocked"), make("button", {type: "button", "data-key": "lock", onclick: () => verb(["lock"])}, word("lock"))));
	}

	function drawBulk() {
		const n = chosen.size;
		show(bulk, n > 1 || (n === 1 && side.hidden));
		if (bulk.hidden) return;
		replace(bulk, make("strong", word("chosenN", {n})), make("button", {type: "button", "data-key": "take", onclick: () => take()}, word("takeDots")),
			make("button", {type: "button", "data-key": "verify", onclick: () => act("verify")}, word("verify")), make("button.danger", {type: "button", "data-key": "remove", onclick: () => remove()}, word("removeDots")),
			make("button.round", {type: "button", "aria-label": word("chooseNone"), onclick: () => {chosen.clear(); drawBulk(); list.update(); list.node.focus();}}, icon("cross")));
	}

	function drawRoom() {if (room.open) roomPicture(room.lastElementChild, [...entries.values()]);}

	function drawSenders() {
		const names = [...new Set([...entries.values()].map(e => e.from ? called(e.from) : "").filter(Boolean))].sort((a, b) => a.localeCompare(b)).slice(0, 500), now = bySender.value;
		bySender.replaceChildren(make("option", {value: ""}, word("allSenders")), ...names.map(name => make("option", {value: name}, shown(name))));
		bySender.value = now;
	}

	const drawn = framed(() => {
		const text = search.value.trim().toLocaleLowerCase(), since = byTime.value === "1" ? new Date().setHours(0, 0, 0, 0) : byTime.value ? Date.now() - byTime.value * 864e5 : 0;
		const state = entry => !byState.value || (byState.value === "locked" ? isLocked(entry) : byState.value === "liar" ? isLiar(entry) : (entry.delivery ?? "none") === byState.value);
		const stamp = entry => entry.stamp ??= +new Date(time(entry));
		seen = [...entries.values()].filter(entry => (!text || nameOf(entry).toLocaleLowerCase().includes(text)) && (!byFamily.value || family(entry.type, entry.kind) === byFamily.value)
			&& (!bySender.value || (entry.from && called(entry.from) === bySender.value)) && (!since || stamp(entry) >= since) && state(entry));
		const compare = {time: (a, b) => stamp(b) - stamp(a) || (b.arrival ?? 0) - (a.arrival ?? 0), name: (a, b) => nameOf(a) < nameOf(b) ? -1 : 1, size: (a, b) => (b.size ?? 0) - (a.size ?? 0)};
		seen.sort(compare[order.value]);
		replace(toggle, icon(grid ? "list" : "grid"));
		toggle.ariaLabel = toggle.title = word(grid ? "asList" : "asGrid");
		total.classList.remove("bad");
		total.textContent = seen.length === entries.size ? dots(word("items", {n: seen.length}), size(seen.reduce((sum, e) => sum + (e.size ?? 0), 0)))
			: word("someSeen", {some: seen.length, n: entries.size});
		show(list.node, seen.length);
		show(none, !seen.length && loaded);
		none.lastElementChild.textContent = word(entries.size ? "noMatch" : "emptyInboxHelp");
		none.querySelector("h2").textContent = word(entries.size ? "nothingFound" : "emptyInbox");
		list.active = pane === null ? list.active : seen.findIndex(e => keyOf(e) === pane);
		list.set(seen, grid);
		drawBulk();
		drawSeal();
		drawRoom();
	});
	function draw() {drawn();}

	let loaded = false;
	const none = make("section.empty.card", {hidden: true}, icon("inbox"), make("h2"), make("p"));
	const load = async () => {
		total.textContent = word("loading");
		entries = new Map();
		try {await fetchAll(entries, signal, draw); loaded = true;} catch (error) {
			if (signal.aborted) return; total.textContent = shown(error.message); total.classList.add("bad"); return;}
		drawSenders();
		draw();
		const first = wanted && [...entries.values()].find(e => String(e.arrival) === wanted);
		if (first) {chosen = new Set([keyOf(first)]); openPane(first);}
		wanted = null;
	};
	main.append(make("div.head", make("h1", word("inbox")), toggle), seal, search, make("details.filters", {open: matchMedia("(min-width: 56rem)").matches}, make("summary", word("filters")), make("div", byFamily, bySender, byTime, byState, order)), room, total, bulk,
		make("div.panes", list.node, none, side));
	signal.addEventListener("abort", () => list.sizes.disconnect());
	on("arrivals", line => {
		if (/taken|removed|gone/.test(line.event)) return forget(line);
		const old = entries.get(line.arrival), delivery = {opened: "yes", deferred: "waiting", failed: "failed"}[line.event];
		if (line.event === "stored") {
			// A folder of the Inbox is an entry that the list knows.
			const {event, item, ...entry} = line;
			entries.set(line.arrival, {...entry, kind: family(line.type) === "folder" ? "tree" : "file", arrived: new Date().toISOString()});
			drawSenders();
		} else if (old) old.delivery = delivery; else return;
		draw();
	}, signal);
	on("protection", () => {drawSeal(); list.set(seen, grid);}, signal);
	on("back", load, signal);
	load();
}
