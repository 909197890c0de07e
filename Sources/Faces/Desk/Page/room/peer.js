// A peer in the room: its face with a ring, its name, and its activity.
import {$, brief, called, changed, claims, contactName, counted, dots, face, h, icon, isContact, isolated, lasting,
	named, oneOf, personKey, ring, short, shown, standing, store, t, update, wayOf} from "/parts.js";
import {openSheet} from "/send.js";
import {okay} from "/events.js";
import {pairWith} from "/pair.js";
import {rate, standstill, stateOf} from "/transfers.js";

// How long a tick stays, in milliseconds.
const TICK = 4000;

export const isUnderWay = transfer => transfer.state !== "over";

function words(transfer) {
	const {state, bytes, total, items, count, queued, results, of, copies} = transfer;
	const some = of && results.length > 0 && t("someStored", {stored: results.filter(okay).length, n: of});
	if (state === "asking") return dots(some, t(queued ? "queuedAs" : copies ? "loading" : "waits"));
	if (state === "handling") return t("allStored");
	const quiet = standstill(transfer), speed = rate(transfer), left = total - bytes;
	const what = items.length === 1 && items[0].name ? isolated(brief(items[0].name))
		: counted(count || items.length || 1);
	return dots(some, what, quiet ? t("standsStill", {n: quiet}) : speed > 0 && left > 0
		&& t("left", {time: lasting(left / speed)}));
}

// {words, part, isOver, isGood}; null if nothing goes on. Of several transfers one that is under way counts.
export function activityOf(peer) {
	const key = personKey(peer);
	let now = null;
	for (const transfer of store.transfers.values()) {
		if (personKey(transfer.peer) !== key || transfer.isSeen) continue;
		if (!isUnderWay(transfer) && (transfer.good || transfer.cancelled) && Date.now() - transfer.ended > TICK) continue;
		if (!now || isUnderWay(transfer) >= isUnderWay(now)) now = transfer;
	}
	if (!now) return null;
	if (!isUnderWay(now)) return {words: stateOf(now), isOver: true, isGood: !!now.good, transfer: now};
	const part = now.state === "moving" && now.total ? Math.min(1, now.bytes / now.total) : now.state === "handling" ? 1
		: undefined;
	return {words: words(now), part, transfer: now};
}

function facts(peer, activity) {
	if (activity) return [h("span.doing" + (activity.isOver && !activity.isGood ? ".bad" : ""), activity.words)];
	if (peer.members) return [h("span", standing(peer))];
	if (peer.away) return [h("span", t("awayLater"))];
	if (claims(peer)) return [h("span.bad", t("notContact", {name: claims(peer)}))];
	const known = isContact(peer) ? t("contact") : peer.id ? t("isStranger", {key: short(peer.id).slice(0, 9)})
		: t("noKey");
	return [h("span", known), wayOf(peer.via) && h("span", wayOf(peer.via))];
}

const device = peer => peer.device && !peer.away ? oneOf("device-", peer.device.toLowerCase()) : "";

// The face and the words of a peer; a strip of faces has no `words`.
export function content(peer, activity, words = h("span.facts", facts(peer, activity))) {
	const picture = face(peer), {isOver, isGood, part} = activity ?? {};
	if (activity) picture.append(isOver ? h("span.outcome" + (isGood ? "" : ".bad"), icon(isGood ? "check" : "cross"))
		: ring(part));
	return [picture, named(called(peer) || t("unnamed")), words];
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
		button.title = peer.members?.map(one => shown(called(one))).join(", ") ?? (peer.away ? shown(peer.reason)
			: device(peer));
		button.disabled = !!peer.isUnseen;
		button.classList.toggle("away", !!peer.away);
		update(button, content(peer, activity));
		pair.hidden = peer.away || peer.via !== "waft" || contactName(peer) !== undefined;
		pair.ariaLabel = t("pairWith", {who: words[0]});
	};
	return node;
}
