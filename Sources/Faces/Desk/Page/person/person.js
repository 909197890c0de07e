// People: how a peer is written, and its face. The same in every view.
import {h, isolated, shown, svg} from "/dom.js";
import {deviceIcon, icon} from "/icons.js";
import {called, claims, contactName, isContact} from "/store.js";
import {dots, has, short, t} from "/words.js";

export const personKey = peer => peer?.id ?? peer?.handle ?? peer?.name ?? peer?.rememberedAs ?? "";

// The word for one of several values, or the value itself.
export const oneOf = (kind, value) => has(kind + value) ? t(kind + value) : shown(value);

// The name of a dialect; "" for Waft's own.
export const wayOf = via => via === "waft" ? "" : oneOf("via-", via);

// A peer in a line, as the terminal writes it: a contact by the user's own name for it, with a mark; a stranger with
// its key; a stranger that has a contact's name as not that contact.
export function person(peer, via) {
	if (peer?.members) return isolated(peer.name);
	const own = contactName(peer);
	if (own !== undefined) return isolated(own) + (peer.away ? "" : " ✓");
	const words = peer?.name ? t("strangerIs", {name: peer.name, key: peer.id ? short(peer.id) : t("noKey")})
		: peer?.id ? t("isStranger", {key: short(peer.id)}) : t("unnamed");
	return dots(words, claims(peer) && t("notContact", {name: claims(peer)}), wayOf(via));
}

// The same beside its name.
export const standing = peer => peer.members ? [t("people", {n: peer.members.length})]
	: peer.away ? [t("notHere")] : isContact(peer) ? [t("contact")]
	: [peer.id ? t("isStranger", {key: short(peer.id)}) : t("noKey"),
		claims(peer) && t("notContact", {name: claims(peer)})]
		.filter(Boolean);

// The first letters of the first two words of a name.
function initials(name) {
	const letters = new Intl.Segmenter(), words = shown(name).split(/[^\p{L}\p{N}\p{M}]+/u).filter(Boolean);
	return words.slice(0, 2).map(word => [...letters.segment(word)][0].segment).join("").toUpperCase();
}

// Each key has one of ten colours.
function colour(text) {
	let sum = 0;
	for (const letter of text) sum = Math.imul(sum ^ letter.codePointAt(), 0x9e3779b1) >>> 0;
	return (sum >>> 16) % 10;
}

// The mark of the key: a contact has proved it; a stranger may have a contact's name.
function mark(peer) {
	if (isContact(peer)) return h("span.mark.proved", icon("check"));
	return claims(peer) ? h("span.mark.false", icon("warn")) : null;
}

// The picture of a peer: its colour and initials, or its device; of a group three of its members. Screen readers
// have the words beside it.
export function face(peer) {
	const letters = initials(called(peer)), paint = one => "span.face.c" + colour(personKey(one));
	return h(paint(peer), {"aria-hidden": "true"}, peer.members
		? h("span.several", peer.members.slice(0, 3).map(one => h(paint(one), initials(called(one))))) : letters
		? h("b", letters) : deviceIcon(peer), mark(peer));
}

// The ring around a face. `part` is from 0 to 1; nothing while it is unknown.
export function ring(part) {
	const circle = (name, more) => svg("circle", {class: name, cx: 50, cy: 50, r: 47, pathLength: 100, ...more});
	return svg("svg", {class: part === undefined ? "ring turns" : "ring", viewBox: "0 0 100 100", "aria-hidden": "true"},
		circle("way"), circle("done", {"stroke-dashoffset": 100 - (part ?? .2) * 100}));
}
