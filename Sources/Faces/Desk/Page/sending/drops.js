// Files, links and texts that are dropped or pasted anywhere.
import {$, changed, h, icon, person, put, show, t} from "/parts.js";
import {openSheet, sendAtOnce} from "/send.js";
import {walk} from "/walk.js";

// A drag that is not heard of for this long, in milliseconds, is over. Browsers tell of one each 350 ms (HTML, 6.11.5).
const QUIET = 1500;

// The dragged items of the Inbox. Only their type travels: the desk sends no path that a drag of another page names.
export const dragged = {type: "application/x-waft-items", paths: []};
const isOwn = ({dataTransfer}) => dragged.paths.length > 0 && dataTransfer.types.includes(dragged.type);

// The contents of a drop or of the clipboard: files with paths, or a text.
export async function held(data) {
	const entries = [...data.items].filter(i => i.kind === "file").map(i => i.webkitGetAsEntry?.());
	const loose = [...data.files], text = data.getData("text/uri-list") || data.getData("text/plain");
	if (!loose.length && !entries.length) return {text};
	if (entries.length && entries.every(Boolean)) return {files: await walk(entries)};
	return {files: loose.map(file => ({file, path: file.name}))};
}

// A place that takes files: `node.drop` is a peer, `node.take` a function of the event's data.
const placeOf = event => event.target.closest?.(".peer, .takes") ?? event.target.closest?.("dialog");

// The dropped items fly into the face.
function fly({clientX: x, clientY: y}, place) {
	const face = place.querySelector(".face")?.getBoundingClientRect();
	if (!face || matchMedia("(prefers-reduced-motion: reduce)").matches) return;
	const node = h("div.flying", icon("document"));
	document.body.append(node);
	const [dx, dy] = [face.x + face.width / 2 - x, face.y + face.height / 2 - y];
	[node.style.left, node.style.top] = [x + "px", y + "px"];
	node.animate({transform: ["none", `translate(${dx}px, ${dy}px) scale(.3)`], opacity: [1, .4]},
		{duration: 220, easing: "ease-in"})
		.finished.finally(() => node.remove());
}

export function acceptDrops() {
	let over = null, timer = 0;
	const mark = node => {
		if (over !== node) {over?.classList.remove("over"); node?.classList?.add("over");}
		over = node;
	};
	const end = () => {
		clearTimeout(timer);
		show($("dropping"), false);
		mark(null);
		changed("drags", false);
		changed("peers");
	};
	const drag = event => {
		const own = isOwn(event), place = placeOf(event), peer = place?.drop;
		if (!own && !event.dataTransfer.types.some(type => /^Files$|^text\//.test(type))) return;
		event.preventDefault();
		event.dataTransfer.dropEffect = own && !peer ? "none" : "copy";
		mark(own && !peer ? null : place);
		if (own) changed("drags", true);
		put($("dropping"), own && !peer ? t("dropOnFace") : peer ? t(peer.away ? "queueFor" : "dropOn", {who: person(peer)})
			: t(place?.take ? "dropTest" : "dropAnywhere"));
		show($("dropping"), true);
		clearTimeout(timer);
		timer = setTimeout(end, QUIET);
	};
	// If nothing handles `dragenter`, a drop right after it opens the file in place of the page.
	addEventListener("dragenter", drag);
	addEventListener("dragover", drag);
	addEventListener("dragleave", event => {if (!event.relatedTarget) end();});
	addEventListener("drop", async event => {
		event.preventDefault();
		const place = placeOf(event), peer = place?.drop;
		const paths = isOwn(event) && dragged.paths;
		end();
		changed("drops");
		if (paths) {
			dragged.paths = [];
			if (peer?.away) openSheet({paths, peers: [peer]});
			else if (peer) {fly(event, place); sendAtOnce(peer, {paths});}
			return;
		}
		if (place?.take) return place.take(event.dataTransfer);
		const what = await held(event.dataTransfer).catch(() => ({error: t("unreadable")}));
		if (peer && !peer.away && what.files?.length) {
			fly(event, place);
			sendAtOnce(peer, what);
		}
		else openSheet({...what, peers: peer ? [peer] : []});
	});
	addEventListener("paste", async event => {
		if (event.target.closest?.("input, textarea, [contenteditable]") && !event.clipboardData.files.length) return;
		const what = await held(event.clipboardData);
		if (!what.files && !what.text) return;
		event.preventDefault();
		openSheet(what);
	});
}
