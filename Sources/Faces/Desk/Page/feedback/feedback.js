// Feedback: tells events to eyes, ears and screen readers.
import {$, h, icon, leave, say, sign, t} from "/parts.js";
import {soundArrival} from "/sound.js";

// How long a toast stays, in milliseconds; under the pointer, with the focus or below a dialog longer.
const STAYS = 9000, MOST = 3;

// Tells an event by a toast: a picture, a text, and buttons as [words, work]. An arrival sounds, too.
export function tell({text, note, picture, actions = [], isArrival}) {
	say(text);
	if (isArrival) soundArrival();
	const node = h("section.toast.card", {role: "group", ariaLabel: text}, picture ?? icon("check"),
		h("div.what", h("strong", text), h("span.note", note ?? "")),
		h("div.row", actions.map(([words, work]) => h("button", {onclick: () => {work(); leave(node);}}, words)),
			sign(t("close"), "cross", () => leave(node))));
	let timer = 0;
	const wait = () => {clearTimeout(timer); timer = setTimeout(() => node.matches(":hover, :focus-within")
		|| document.hidden || document.querySelector("dialog[open]") ? wait() : leave(node), STAYS);};
	wait();
	$("toasts").append(node);
	while ($("toasts").children.length > MOST) $("toasts").firstElementChild.remove();
	return node;
}

// Two counts: questions that wait, and arrivals while nobody looked.
const counts = new Map();
let view = "";

export function count(what, n) {
	counts.set(what, n);
	drawTitle();
}

export function titled(words) {
	view = words;
	drawTitle();
}

function drawTitle() {
	const n = [...counts.values()].reduce((sum, one) => sum + one, 0),
		title = (n ? `(${n}) ` : "") + (view ? view + " · " : "") + "Waft";
	if (document.title !== title) document.title = title;
	(n ? navigator.setAppBadge?.(n) : navigator.clearAppBadge?.())?.catch(() => 0);
}

export const unseen = () => {if (document.hidden) count("arrivals", (counts.get("arrivals") ?? 0) + 1);};

document.addEventListener("visibilitychange", () => document.hidden || count("arrivals", 0));
