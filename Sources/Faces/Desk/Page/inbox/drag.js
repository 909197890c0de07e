// Items that are dragged: to a face in the strip below, or out of the window where the browser can.
import {framed, h, on, personKey, replace, show, shown, store, t} from "/parts.js";
import {activityOf, content} from "/peer.js";
import {peersInOrder} from "/room.js";
import {dragged} from "/drops.js";

// The faces on which items can be dropped. They are there while items are dragged, and while something moves to one.
export function strip(signal) {
	const list = h("ul.faces", {ariaLabel: t("dropOnFace")}), node = h("div.strip", {hidden: true}, list),
		got = new Set();
	let isDrag = false;
	const draw = framed(() => {
		// Nothing moves under a drag.
		if (isDrag && list.firstChild) return;
		const isBusy = peer => got.has(personKey(peer)) && activityOf(peer);
		const peers = peersInOrder().flat().filter(peer => isDrag || isBusy(peer));
		replace(list, peers.map(peer => h("li", h("div.peer" + (peer.away ? ".away" : ""), {drop: peer},
			content(peer, activityOf(peer), null)))), !peers.length && h("li.help", t("nobodyTitle")));
		show(node, isDrag || peers.length);
	});
	list.addEventListener("drop", event => got.add(personKey(event.target.closest(".peer")?.drop)));
	on("transfers", draw, signal);
	on("drags", yes => {
		if (yes === isDrag) return;
		isDrag = yes;
		replace(list);
		draw();
	}, signal);
	return node;
}

// What a file manager takes of an item. Firefox tells it the place of the file, which Chromium would show as a link to
// nothing; Chromium has the bytes fetched, but not on Linux yet.
function takeOut(data, {arrival, kind, stored, path}) {
	const file = "file://" + path.split("/").map(encodeURIComponent).join("/");
	if ("mozInnerScreenX" in window) {
		data.setData("text/x-moz-url", file + "\n" + shown(stored));
		data.setData("text/uri-list", file);
	} else if (arrival && kind === "file") data.setData("DownloadURL",
		`application/octet-stream:${stored.replaceAll(":", "_")}:${store.facts.previews}/items/${arrival}/file`);
}

// Lets items of a list be dragged. `items(event)` gives their entries; those that stay here are not among them.
export function draggable(list, items) {
	list.addEventListener("dragstart", event => {
		const entries = items(event), {dataTransfer: data} = event;
		if (!entries.length) return event.preventDefault();
		dragged.paths = entries.map(({path}) => path);
		data.effectAllowed = "copy";
		data.setData(dragged.type, "");
		if (entries.length === 1) takeOut(data, entries[0]);
		const picture = event.target.querySelector?.(".thumb");
		if (picture) data.setDragImage(picture, 20, 20);
	});
	list.addEventListener("dragend", () => {dragged.paths = [];});
}
