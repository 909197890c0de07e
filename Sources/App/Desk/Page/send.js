// The sheet for sending: what, and to whom.
import {button, sign} from "/parts.js";
import {$, make, named, replace, shown} from "/dom.js";
import {deviceIcon, icon} from "/icons.js";
import {family} from "/types.js";
import {called, on, target} from "/store.js";
import {tar} from "/tar.js";
import {size, word} from "/words.js";
import {sendFiles, sendWords} from "/sending.js";
import {peersInOrder} from "/peers.js";

let items = [], chosen = new Map(), leave = null;

/** Puts files together: those of a folder become one archive. */
function packed(files) {
	const folders = new Map(), made = [];
	for (const {file, path} of files) {
		const cut = path.indexOf("/"), folder = path.slice(0, cut);
		if (cut < 0) made.push({kind: "file", name: file.name, size: file.size, blob: file});
		else if (folders.has(folder)) folders.get(folder).push({file, path});
		else folders.set(folder, [{file, path}]);
	}
	for (const [folder, inside] of folders) {
		const blob = tar(inside);
		made.push({kind: "tree", name: folder + ".tar", size: blob.size, blob, n: inside.length});
	}
	return made;
}

/** A text of one line that is a link, or a text. */
const worded = text => /^[a-z][a-z0-9+.-]*:\S+$/i.test(text.trim()) ? {kind: "url", text: text.trim()} : {kind: "text", text};

/** Sends what was dropped on a peer. */
export function sendAtOnce(peer, {files}) {
	const blobs = packed(files ?? []);
	if (!blobs.length) return openSheet({peers: [peer], error: word("emptyFolder")});
	sendFiles(peer, blobs);
	location.hash = "#transfers";
}

/** Opens the dialog of the system for files, then the sheet. */
export function chooseFiles(folder) {
	const input = make("input", {type: "file", multiple: true, webkitdirectory: !!folder});
	input.onchange = () => openSheet({files: [...input.files].map(file => ({file, path: file.webkitRelativePath || file.name}))});
	input.click();
}

/** Opens the sheet, or adds to it while it is open. `peers` replaces the choice of peers. */
export function openSheet({files, text, paths, peers, error = ""}) {
	const sheet = $("sheet"), fresh = !sheet.open;
	if (fresh) {items = []; chosen = new Map(); draw(sheet);}
	if (files) items.push(...packed(files));
	if (files && !files.length) error = word("emptyFolder");
	for (const path of paths ?? []) items.push({kind: "path", name: path.split("/").pop() || path, path});
	if (text) $("sheet-text").value = ($("sheet-text").value + "\n" + text).trim();
	for (const peer of peers ?? []) chosen.set(target(peer), peer);
	if (fresh) sheet.showModal();
	$("sheet-problem").textContent = error;
	drawItems();
	drawPeers();
	(items.length && chosen.size ? $("sheet-go") : $("sheet-files")).focus();
}

function draw(sheet) {
	leave?.abort();
	leave = new AbortController();
	replace(sheet, make("form", {method: "dialog", onsubmit: event => {event.preventDefault(); go();}},
		make("div.head", make("h2#sheet-title", word("sendTitle")), sign("close", "cross", () => sheet.close())),
		make("div.row.choose", make("button#sheet-files", {type: "button", onclick: () => chooseFiles()}, word("files")),
			button("folder", () => chooseFiles(true))),
		make("ul.things#sheet-items", {role: "list", "aria-label": word("chosen")}),
		make("label", {for: "sheet-text"}, word("textOrLink")), make("textarea#sheet-text", {rows: 2, dir: "auto", oninput: drawGo}),
		make("label", {for: "sheet-subject"}, word("subject")), make("input#sheet-subject", {maxLength: 200, dir: "auto"}),
		make("fieldset.to", make("legend", word("toWhom")), make("div#sheet-peers")),
		make("p.help#sheet-note"), make("p.bad#sheet-problem", {role: "alert"}),
		make("p.row.end", button("cancel", () => sheet.close()), make("button.primary#sheet-go", word("send")))));
	on("peers contacts", drawPeers, leave.signal);
	sheet.onclose = () => leave.abort();
}

function drawItems() {
	const list = $("sheet-items"), shownItems = items.slice(0, 200);
	replace(list, shownItems.map((item, place) => make("li", icon(item.kind === "tree" ? "archive" : item.kind === "path" ? "document" : family(item.blob.type.replace("/", "."))),
		make("div.what", named(item.name), make("span.note", item.kind === "path" ? shown(item.path) : item.kind === "tree" ? word("asArchive", {n: item.n, size: size(item.size)}) : size(item.size))),
		make("button.round", {type: "button", "aria-label": word("removeItem", {name: item.name}), onclick: () => {
			items.splice(place, 1);
			drawItems();
			(list.querySelectorAll("button")[Math.min(place, items.length - 1)] ?? $("sheet-files")).focus();
		}}, icon("cross")))), items.length > 200 && make("li.help", word("others", {n: items.length - 200})));
	drawGo();
}

function drawPeers() {
	const box = peer => make(`label.choice${peer.away ? ".away" : ""}`, make("input", {
		type: "checkbox", "data-key": "to-" + target(peer), checked: chosen.has(target(peer)),
		onchange: event => {event.target.checked ? chosen.set(target(peer), peer) : chosen.delete(target(peer)); drawGo();},
	}), deviceIcon(peer), named(called(peer) || word("unnamed")), peer.away && make("span.note", word("isAway")));
	const all = peersInOrder().flat();
	replace($("sheet-peers"), all.length ? all.map(box) : make("p.help", word("nobodyTitle")));
	drawGo();
}

function drawGo() {
	const text = $("sheet-text").value.trim(), n = items.length + (text ? 1 : 0), away = [...chosen.values()].some(peer => peer.away);
	const blobs = items.some(item => item.blob);
	$("sheet-go").textContent = n && chosen.size ? word("sendN", {items: word("items", {n}), peers: word("toPeers", {n: chosen.size})}) : word("send");
	$("sheet-note").textContent = [blobs && word("streamNote"), away && word(blobs ? "awayFiles" : "awayNote")].filter(Boolean).join(" ");
}

function go() {
	const text = $("sheet-text").value.trim(), subject = $("sheet-subject").value.trim();
	const blobs = items.filter(item => item.blob), paths = items.filter(item => item.path), words = text ? worded(text) : null;
	const peers = [...chosen.values()], away = peers.filter(peer => peer.away);
	const wrong = !items.length && !text ? "nothingChosen" : !peers.length ? "nobodyChosen" : away.length && blobs.length ? "awayFiles" : "";
	$("sheet-problem").textContent = wrong && word(wrong);
	if (wrong) return;
	for (const peer of peers) {
		if (blobs.length) sendFiles(peer, blobs, subject);
		if (paths.length || words) sendWords(peer, {paths, words, subject});
	}
	$("sheet").close();
	location.hash = "#transfers";
}
