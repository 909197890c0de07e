// The Inbox: the items that arrived, and its folders. One list; search and filters above it, a large preview over it.
import {ask, button, call, counted, cut, dots, family, framed, h, icon, named, on, problem, put, searchField, show,
	shown, sign, size, status, store, sum, t, update} from "/parts.js";
import {openSheet} from "/send.js";
import {draggable, strip} from "/drag.js";
import {filters} from "/filters.js";
import {folderOf, foldersIn, isBelow, isFree, isLiar, isLocked, keyOf, parent} from "/entries.js";
import {previewer} from "/preview.js";
import {tile, wordsOf} from "/tile.js";
import {verify} from "/verifying.js";
import {VirtualList} from "/virtual.js";

// The user's choices in this window.
let grid = true, takeTo = "";

// Fetches all items, then their facts. `add` takes an item, and `some` is called now and then.
async function fetchAll(entries, signal, add, some) {
	const result = await call("inbox", {}, {signal, each: line => {
		const {event, arrival, arrived, delivery, content, via, size: bytes, from} = line;
		if (event === "arrival") {
			const entry = entries.get(arrival);
			if (entry) Object.assign(entry, {arrived, delivery, content, via, size: entry.size ?? bytes,
				from: entry.from ?? from, stamp: undefined});
		} else if (event === "entry") {
			add(line);
			if (entries.size % 2000 === 100) some();
		}
	}});
	if (result.exit) throw new Error(problem(result));
}

export function open(main, signal, wanted) {
	let entries = new Map(), seen = [], chosen = new Set(), anchor = -1, loaded = false, root = "", isFlat = false;
	// The folder that is shown, as a path below the Inbox.
	let here = wanted?.startsWith("/") ? wanted.slice(1) : "";
	const all = () => [...entries.values()], search = searchField("search", () => draw());
	const filter = filters(all, () => draw()), toggle = sign("", "grid", () => {grid = !grid; draw();});
	const heading = h("div.steps"), seal = h("div"), checks = h("div"), faces = strip(signal);
	const total = status(), bulk = h("div.row.bulk", {hidden: true}), noneTitle = h("h2"), noneHelp = h("p");
	const none = h("section.empty.card", {hidden: true}, icon("inbox"), noneTitle, noneHelp);
	const placeOf = key => seen.findIndex(entry => keyOf(entry) === key);

	const list = new VirtualList({
		label: t("inbox"), isChosen: entry => chosen.has(keyOf(entry)), chose: choose,
		draw: entry => tile(entry, isFlat, grid), words: entry => wordsOf(entry, isFlat),
		keys: {
			Enter: () => use(seen[list.active]),
			" ": ({ctrlKey}) => {
				if (ctrlKey) toggleOne(list.active);
				else if (seen[list.active]) preview.open(seen[list.active]);
			},
			Delete: () => remove(),
			Backspace: () => here && enter(parent(here)),
			Escape: () => choosing([]),
			a: event => event.ctrlKey && choosing(seen.map(keyOf)),
		},
	});

	const preview = previewer({
		enter: ({way}) => enter(way), take: entry => take([entry]), remove: entry => remove([entry]), unlock,
		retry: entry => act("retry", [entry]), verify: ({path}, part) => verify(part, [path], 0, signal),
	}, (entry, way) => seen[placeOf(keyOf(entry)) + way], entry => {
		list.active = entry ? placeOf(keyOf(entry)) : -1;
		if (list.active >= 0) {list.reveal(); choosing([keyOf(entry)]);}
		list.node.focus({preventScroll: true});
	});

	// A folder with items in it is entered, all else is looked at.
	const use = entry => entry && (entry.inside ? enter(entry.way) : preview.open(entry));

	function choose(at, event) {
		const entry = seen[at], {target} = event;
		if (!entry) return;
		if (target?.closest?.(".tick") || event.ctrlKey && event.type === "click") return toggleOne(at);
		if (!event.shiftKey || anchor < 0) anchor = at;
		choosing(seen.slice(Math.min(anchor, at), Math.max(anchor, at) + 1).map(keyOf));
		if (event.type !== "click" || event.shiftKey) return;
		// A finger has no second click.
		if (target.closest(".thumb") || event.detail > 1 || matchMedia("(pointer: coarse)").matches) use(entry);
	}

	function choosing(keys) {
		chosen = new Set(keys);
		drawBulk();
		list.update();
	}

	function toggleOne(at) {
		const key = seen[at] && keyOf(seen[at]);
		if (key === undefined) return;
		if (!chosen.delete(key)) chosen.add(key);
		anchor = at;
		choosing(chosen);
	}

	function enter(folder) {
		here = folder;
		history.pushState(null, "", "#inbox" + (here && "/" + encodeURIComponent("/" + here)));
		search.value = "";
		[anchor, list.active, list.node.scrollTop] = [-1, 0, 0];
		choosing([]);
		draw();
		list.node.focus({preventScroll: true});
	}

	function says(text, bad) {
		put(total, text);
		total.classList.toggle("bad", !!bad);
	}

	const picked = () => seen.filter(entry => chosen.has(keyOf(entry)));
	// Calls take items that arrived by Waft.
	const able = (some = picked()) => some.filter(entry => entry.arrival);

	// Makes a call of the Inbox for items. A number can be the name of another item, a path cannot.
	async function act(name, some, more) {
		const result = await call("inbox/" + name, {items: some.map(({path}) => path), ...more});
		for (const line of result.lines) if (/taken|removed/.test(line.event)) forget(line);
		if (result.exit) says(problem(result), true);
	}

	async function remove(some = able()) {
		const title = t("removeTitle", {items: counted(some.length)});
		if (!some.length || !await ask({title, text: t("removeText"), yes: t("remove"), danger: true})) return;
		await act("remove", some);
		if (!preview.entry) list.node.focus();
	}

	async function take(some = able()) {
		const more = {label: t("targetFolder"), value: takeTo || parent(root)};
		const title = t("takeTitle", {items: counted(some.length)});
		const folder = await ask({title, text: t("takeText"), yes: t("take"), more});
		if (!folder) return;
		takeTo = folder;
		await act("take", some, {folder});
		if (!preview.entry) list.node.focus();
	}

	// For a folder: the items in it.
	function verifyPicked() {
		const within = ({way}) => all().filter(one => one.arrival && isBelow(one.folder, way));
		const some = picked().flatMap(entry => entry.inside ? within(entry) : [entry]);
		const paths = able(some).map(({path}) => path);
		verify(checks, paths, some.length - paths.length, signal);
	}

	function forget(line) {
		const key = keyOf(line), at = placeOf(key), isShown = preview.entry && keyOf(preview.entry) === key;
		const next = isShown && (seen[at + 1] ?? seen[at - 1]);
		entries.delete(key);
		chosen.delete(key);
		seen = seen.filter(one => keyOf(one) !== key);
		if (next) preview.open(next); else if (isShown) preview.close();
		draw();
	}

	async function unlock() {
		const more = {label: t("passphrase"), type: "password"};
		const passphrase = await ask({title: t("unlock"), text: t("unlockText"), yes: t("unlock"), more});
		if (passphrase === null) return;
		const result = await call("protection/unlock", {passphrase});
		result.exit ? says(problem(result), true) : draw();
		return problem(result);
	}

	function drawSeal() {
		const now = store.protection, locked = all().filter(isLocked).length;
		update(seal, !now?.setUp ? null : locked || !now.unlocked
			? h("p.warning", icon("lock"), h("span.what", t(locked ? "lockedItems" : "locked", {n: locked})),
				!now.dropBox && button("unlock", unlock))
			: h("p.row.help", icon("lock"), t("isUnlocked"), button("lock", () => call("protection/lock"))));
	}

	function drawBulk() {
		const some = picked(), n = some.length, free = some.filter(isFree);
		show(bulk, n);
		if (!n) return;
		update(bulk, h("strong", t("chosenN", {n})),
			free.length > 0 && button("sendOn", () => openSheet({paths: free.map(({path}) => path)})),
			able().length > 0 && button("takeDots", () => take()), button("verify", verifyPicked),
			able().length > 0 && button("removeDots", () => remove(), ".danger"),
			sign(t("chooseNone"), "cross", () => {choosing([]); list.node.focus();}));
	}

	// The place: the Inbox, and the folders on the way to this one.
	function drawSteps() {
		const names = here.split("/");
		const step = (path, name) => h("button.link", {"data-key": "step-" + path, onclick: () => enter(path)}, name);
		update(heading, here && h("nav.row", {ariaLabel: t("way")}, step("", t("inbox")), " › ",
			names.slice(0, -1).map((name, n) => [step(names.slice(0, n + 1).join("/"), cut(name)), " › "])),
		h("h1", here ? named(names.at(-1)) : t("inbox")));
	}

	const draw = framed(() => {
		const text = search.value.trim().toLocaleLowerCase(), passes = filter.passes();
		const below = all().filter(entry => isBelow(entry.folder, here));
		isFlat = !!text || filter.isOn;
		const folders = foldersIn(here, below, root), isFolder = new Set(folders.map(({path}) => path));
		const loose = below.filter(entry => !isFolder.has(entry.path));
		const has = entry => ((entry.folder && entry.folder + "/") + entry.stored).toLocaleLowerCase().includes(text);
		seen = isFlat ? loose.filter(entry => has(entry) && passes(entry))
			: [...loose.filter(entry => entry.folder === here), ...folders];
		if (text && !filter.isOn) seen.push(...folders.filter(has));
		seen.sort(filter.order);
		update(toggle, icon(grid ? "list" : "grid"));
		toggle.ariaLabel = toggle.title = t(grid ? "asList" : "asGrid");
		says(isFlat ? t("someSeen", {some: seen.length, n: loose.length})
			: dots(counted(loose.length), size(sum(loose, e => e.size))));
		show(list.node, seen.length);
		show(none, !seen.length && loaded);
		put(noneTitle, t(entries.size ? "nothingFound" : "emptyInbox"));
		put(noneHelp, entries.size ? "" : t("emptyInboxHelp"));
		if (preview.entry) list.active = placeOf(keyOf(preview.entry));
		list.set(seen, grid);
		drawSteps();
		drawBulk();
		drawSeal();
		filter.drawUse();
	});

	// The first item of a list is in the Inbox itself.
	function add(entry) {
		root ||= parent(entry.path);
		entry.folder = folderOf(entry, root);
		entries.set(keyOf(entry), entry);
	}

	const load = async () => {
		says(t("loading"));
		entries = new Map();
		try {
			await fetchAll(entries, signal, add, draw);
		} catch (error) {return signal.aborted || says(shown(error.message), true);}
		loaded = true;
		filter.drawSenders();
		const first = wanted && all().find(e => String(e.arrival) === wanted);
		wanted = null;
		if (first) here = first.folder;
		draw();
		if (!first) return;
		choosing([keyOf(first)]);
		preview.open(first);
	};

	// What is dragged: the chosen ones if it is one of them. Sealed items and liars stay.
	draggable(list.node, ({target}) => {
		const entry = seen[target.closest?.("[role=option]")?.dataset.place];
		const some = entry && chosen.has(keyOf(entry)) ? picked() : [entry];
		return some.filter(one => one && isFree(one) && !isLiar(one));
	});
	main.append(h("div.head", heading, search, filter.opener, toggle), seal, checks, h("div.row.sums", total, bulk),
		list.node, none, filter.panel, faces, preview.node);
	signal.addEventListener("abort", () => list.sizes.disconnect());
	on("arrivals", line => {
		if (/taken|removed|gone/.test(line.event)) return forget(line);
		const old = entries.get(line.arrival);
		if (line.event === "stored") {
			// A folder of the Inbox is an entry that the list knows.
			root ||= store.receiver?.inbox ?? "";
			add({...line, kind: family(line.type) === "folder" ? "tree" : "file", arrived: new Date().toISOString()});
			filter.drawSenders();
		} else if (old) old.delivery = {opened: "yes", deferred: "waiting", failed: "failed"}[line.event]; else return;
		draw();
		if (old && old === preview.entry) preview.open(old);
	}, signal);
	on("protection", () => {
		drawSeal();
		list.set(seen, grid);
		if (preview.entry && preview.entry.protection) preview.open(preview.entry);
	}, signal);
	on("back", load, signal);
	load();
}
