// A peer in the room: its face with a ring, its name, and its activity.
import {$, called, changed, claims, contactName, face, h, icon, isContact, isolated, named, oneOf, personKey, ring,
	short, shown, standing, t, update, wayOf} from "/parts.js";
import {openSheet} from "/send.js";
import {pairWith} from "/pair.js";

// The words below a name.
function facts(peer, activity) {
	if (activity) return [h("span.doing" + (activity.isOver && !activity.isGood ? ".bad" : ""), activity.words)];
	if (peer.away) return [h("span", t("awayLater"))];
	if (claims(peer)) return [h("span.bad", t("notContact", {name: claims(peer)}))];
	const known = isContact(peer) ? t("contact") : peer.id ? t("isStranger", {key: short(peer.id).slice(0, 9)})
		: t("noKey");
	return [h("span", known), wayOf(peer.via) && h("span", wayOf(peer.via))];
}

const device = peer => peer.device && !peer.away ? oneOf("device-", peer.device.toLowerCase()) : "";

// The face and the words of a peer, with its activity.
export function content(peer, activity) {
	const picture = face(peer);
	if (activity && !activity.isOver) picture.append(ring(activity.part));
	if (activity?.isOver) picture.append(h("span.outcome" + (activity.isGood ? "" : ".bad"),
		icon(activity.isGood ? "check" : "cross")));
	return [picture, named(called(peer) || t("unnamed")), h("span.facts", facts(peer, activity))];
}

// The place of a peer in the list. `draw(peer, activity)` brings it up to date.
export function place(first) {
	let peer = first, activity = null, drawn = "";
	const button = h("button.peer", {"data-key": "peer-" + personKey(first), onclick: () => {
		// A press on the face takes its fault away.
		if (activity?.isOver) {activity.transfer.isSeen = true; changed("transfers");}
		openSheet({peers: [peer], isForOne: true});
	}});
	const pair = h("button.pairs", {"data-key": "pair-" + personKey(first), onclick: () => pairWith(peer)},
		t("pairShort"));
	const node = h("li", button, pair);
	node.draw = (now, what) => {
		[peer, activity] = [now, what];
		// Many peers are drawn at each change: most of them have not changed.
		const key = JSON.stringify([peer, called(peer), standing(peer), what && {...what, transfer: null}]);
		if (key === drawn) return;
		if ($("dropping").hidden) drawn = key;
		const words = [isolated(called(peer) || t("unnamed")), ...standing(peer), device(peer),
			activity?.words].filter(Boolean);
		button.drop = peer.isUnseen ? undefined : peer;
		button.ariaLabel = t(peer.away ? "queueFor" : "sendTo", {who: words[0]}) + ". " + words.slice(1).join(", ");
		button.title = peer.away ? shown(peer.reason) : device(peer);
		button.disabled = !!peer.isUnseen;
		button.classList.toggle("away", !!peer.away);
		update(button, content(peer, activity));
		pair.hidden = peer.away || peer.via !== "waft" || contactName(peer) !== undefined;
		pair.ariaLabel = t("pairWith", {who: words[0]});
	};
	return node;
}
