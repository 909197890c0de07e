// The sheet: items, and what to do with them.
import {$, alarm, button, called, counted, deviceIcon, dots, familyOf, fold, form, h, has, help, label, lineOf,
	linesOf, named, on, person, post, put, read, replace, request, row, shown, sign, size, standing, status, submit, sum,
	t, tellFault, target, update} from "/parts.js";
import {tar} from "/tar.js";
import {send, sendingOf, stream} from "/sending.js";
import {sendByCode} from "/code.js";
import {peersInOrder} from "/room.js";
import {body} from "/contents.js";

let items = [], chosen = new Map(), leave = null;
// The peer whose face was tapped: files that are chosen then go to it at once.
let only = null;

// Puts files together: those of a folder become one item. A path without a file is that of a folder.
function packed(found) {
	const folders = new Map(), made = [];
	for (const {file, path} of found) {
		const folder = path.split("/")[0];
		if (file && folder === path) made.push({kind: "file", name: path, size: file.size, blob: file});
		else if (folders.has(folder)) folders.get(folder).push({file, path});
		else folders.set(folder, [{file, path}]);
	}
	for (const [name, inside] of folders) made.push({kind: "tree", name, ...tar(inside)});
	return made;
}

// A text of one line that is a link, or a text; null if there is none.
function typed() {
	const text = $("sheet-text").value;
	return !text.trim() ? null : /^[a-z][a-z0-9+.-]*:\S+$/i.test(text.trim()) ? {kind: "url", text: text.trim()}
		: {kind: "text", text};
}

const all = () => ({words: typed(), blobs: items.filter(item => item.blob), paths: items.filter(item => item.path)});

export function sendAtOnce(peer, {files = [], paths = []}) {
	send(peer, {blobs: packed(files), paths: paths.map(itemOf)});
}

const itemOf = path => ({kind: "path", name: path.split("/").pop() || path, path});

function chooseFiles(folder) {
	const input = h("input", {type: "file", multiple: true, webkitdirectory: folder});
	input.onchange = () => {
		const files = [...input.files].map(file => ({file, path: file.webkitRelativePath || file.name}));
		if (!only || only.away || !files.length || items.length || typed() || chosen.size !== 1) return openSheet({files});
		sendAtOnce(only, {files});
		$("sheet").close();
	};
	input.click();
}

// Opens the sheet, or adds to an open one.
export function openSheet({files, text, paths = [], peers = [], isForOne = false, error = ""}) {
	const sheet = $("sheet"), fresh = !sheet.open;
	if (fresh) {items = []; chosen = new Map(); only = isForOne ? peers[0] : null; draw(sheet);}
	if (files) items.push(...packed(files));
	if (files && !files.length) error = t("emptyFolder");
	items.push(...paths.map(itemOf));
	if (text) $("sheet-text").value = ($("sheet-text").value + "\n" + text).trim();
	for (const peer of peers) chosen.set(target(peer), peer);
	if (fresh) sheet.showModal();
	put($("sheet-problem"), error);
	drawItems();
	drawPeers();
	(items.length && chosen.size ? $("sheet-go") : $("sheet-files")).focus();
}

function draw(sheet) {
	leave?.abort();
	leave = new AbortController();
	known = "";
	const to = [h("div.row#sheet-peers"), h("p.row", button("byCode", goByCode))];
	replace(sheet, form(".fields", go, h("div.head",
		h("h2#sheet-title", only ? t("sendTo", {who: person(only)}) : t("send")),
		sign(t("close"), "cross", () => sheet.close())),
		h("div.row.choose", button("files", () => chooseFiles(false), "#sheet-files"),
			button("folder", () => chooseFiles(true))),
		h("ul.things#sheet-items", {ariaLabel: t("chosen")}),
		label("textOrLink", h("textarea#sheet-text", {rows: 2, dir: "auto", oninput: drawGo})),
		label("subject", h("input#sheet-subject", {maxLength: 200, dir: "auto"})),
		only ? fold(t("toOthers"), to) : h("fieldset", h("legend", t("toWhom")), to),
		h("p.help#sheet-note"), h("div#sheet-more"), alarm({id: "sheet-problem"}),
		h("p.row.end", submit("", {id: "sheet-go"}))));
	on("peers contacts", drawPeers, leave.signal);
	sheet.onclose = () => leave.abort();
}

function itemRow(item, place) {
	const note = item.kind === "path" ? shown(item.path) : item.kind === "tree"
		? t("folderOf", {n: item.files.length, size: size(item.size)}) : size(item.size);
	const kind = item.kind === "path" ? "document" : familyOf(item);
	return row(kind, item.name, note, sign(t("removeItem", {name: item.name}), "cross", () => {
		items.splice(place, 1);
		drawItems();
		($("sheet-items").querySelectorAll("button")[Math.min(place, items.length - 1)] ?? $("sheet-files")).focus();
	}));
}

function drawItems() {
	replace($("sheet-items"), items.slice(0, 200).map(itemRow),
		items.length > 200 && h("li.help", t("others", {n: items.length - 200})));
	drawGo();
}

function drawPeers() {
	const box = peer => h("label.choice", h("input", {
		type: "checkbox", "data-key": "to-" + target(peer), defaultChecked: chosen.has(target(peer)),
		onchange: event => {event.target.checked ? chosen.set(target(peer), peer) : chosen.delete(target(peer)); drawGo();},
	}), deviceIcon(peer), named(called(peer) || t("unnamed")), h("span.note", dots(standing(peer))));
	const all = peersInOrder().flat();
	update($("sheet-peers"), all.length ? all.map(box) : help("nobodyTitle"));
	drawGo();
}

function drawGo() {
	const n = items.length + !!typed(), peers = [...chosen.values()], away = peers.some(peer => peer.away),
		blobs = items.some(item => item.blob);
	put($("sheet-go"), n && chosen.size ? t("sendN", {items: counted(n),
		peers: t("toPeers", {n: sum(peers, peer => peer.members?.length ?? 1)})})
		: t("send"));
	put($("sheet-note"), [blobs && peers.some(peer => !peer.away) && t("streamNote"), away && t("awayNote"),
		away && blobs && t("awayCopies")].filter(Boolean).join(" "));
	drawActivities();
}

// Activities: what this machine can do with the items.

let known = "", asking = new AbortController();

// Asks for them when the items have changed.
function drawActivities() {
	const things = all(), now = JSON.stringify([items.map(({name, size: bytes}) => [name, bytes]), things.words]);
	if (now === known) return;
	known = now;
	asking.abort();
	const {signal} = asking = new AbortController();
	replace($("sheet-more"));
	if (!items.length && !things.words) return;
	const list = async () => {
		const {sending} = await (await post("/sendings", sendingOf(things))).json(), path = "/sendings/" + sending;
		return read(path + "/activities", {signal}).finally(() => request(path, "DELETE"));
	};
	const run = async type => {
		const lines = [], result = await stream(things, {activity: type}, {each: line => {lines.push(line);}});
		return {...result, lines};
	};
	const timer = setTimeout(async () => {
		const found = linesOf(await list().catch(() => ({lines: []})), "activity");
		if (!signal.aborted && found.length) replace($("sheet-more"), activities(found, run));
	}, 400);
	signal.addEventListener("abort", () => clearTimeout(timer));
}

function activities(found, run) {
	const says = status(), error = alarm(), contents = h("div.inside");
	const wordOf = ({type, title}) => {
		const key = type.replace(/^org\.waft\.activity\./, "activity-");
		return has(key) ? t(key) : shown(title);
	};
	const buttons = found.map(wordOf).map((title, n) => h("button",
		{disabled: !!found[n].reason, title: shown(found[n].reason), onclick: async () => {
		buttons.forEach(node => {node.ariaDisabled = "true";});
		put(error, "");
		put(says, title + " …");
		const result = await run(found[n].type).catch(() => ({exit: -1, lines: []})),
			made = lineOf(result, "completed")?.returnedItems ?? [];
		buttons.forEach(node => {node.ariaDisabled = null;});
		put(says, result.exit ? "" : t("activityDone", {name: title}) + made.map(path => " " + shown(path)).join());
		tellFault(error, result);
		replace(contents, linesOf(result, "preview").map(body));
	}}, title));
	return h("fieldset", h("legend", t("activities")), h("div.row", buttons), says, error, contents);
}

// What goes out; nothing if a choice is missing, which is told.
function outgoing(hasPeer) {
	const things = all(), wrong = !items.length && !things.words ? "nothingChosen" : !hasPeer ? "nobodyChosen" : "";
	put($("sheet-problem"), wrong && t(wrong));
	return !wrong && [things, $("sheet-subject").value.trim()];
}

const goByCode = () => {
	const what = outgoing(true);
	if (what) sendByCode(...what, () => $("sheet").close());
};

function go() {
	const peers = [...chosen.values()], [things, subject] = outgoing(peers.length) || [];
	if (!things) return;
	const {words, ...files} = things, hasFiles = files.blobs.length + files.paths.length > 0;
	for (const peer of peers) {
		// Other protocols take a text or a link as such if nothing is beside it.
		const isApart = words && hasFiles && !peer.members && !peer.away && peer.via !== "waft";
		send(peer, isApart ? files : things, subject);
		if (isApart) send(peer, {blobs: [], paths: [], words}, subject);
	}
	$("sheet").close();
}
