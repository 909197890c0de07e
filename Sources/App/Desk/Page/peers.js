// The view of the peers: contacts first, then others, then those who are away.
import {button, called, deviceIcon, framed, has, head, icon, isContact, make, named, on, replace, short, shown, store, wayOf, word} from "/parts.js";
import {examine} from "/doctor.js";
import {visibilitySwitch} from "/visible.js";
import {openSheet} from "/send.js";

/** The kind of device, the dialect's name, and what is known of the key. */
function peerFacts(peer) {
	if (peer.away) return [word("isAway")];
	const kind = (peer.device ?? "").toLowerCase(), machine = [has("device-" + kind) ? word("device-" + kind) : shown(peer.device), wayOf(peer.via)];
	return [machine.filter(Boolean).join(" · "), isContact(peer) ? word("isContact") : peer.id ? word("isStranger", {key: short(peer.id)}) : word("noKey")].filter(Boolean);
}

/** All peers for lists of choice: [contacts, others, away]. */
export function peersInOrder() {
	const order = (a, b) => called(a).localeCompare(called(b)), all = [...store.peers.values()].filter(p => !store.contacts.get(p.id)?.blocked);
	const away = [...store.away.values()].map(peer => ({...peer, rememberedAs: peer.name, away: true}));
	for (const {blocked, id, name} of store.contacts.values()) {
		if (!blocked && !store.peers.has(id) && !store.away.has(name)) away.push({id, name, away: true});
	}
	return [all.filter(isContact).sort(order), all.filter(p => !isContact(p)).sort(order), away.sort(order)];
}

function card(peer) {
	const name = called(peer) || word("unnamed"), known = isContact(peer), facts = peerFacts(peer);
	return make("li", make(`button.peer${peer.away ? ".away" : ""}`, {
		"data-key": "peer-" + (peer.id ?? peer.handle ?? peer.name), onclick: () => openSheet({peers: [peer]}),
		"aria-label": word(peer.away ? "queueFor" : "sendTo", {name}) + ". " + facts.join(", "), drop: peer, title: peer.away ? shown(peer.reason) : "",
	}, make("span.face", deviceIcon(peer), known && make("span.proved", icon("check"))), named(name), make("span.facts", facts.map(fact => make("span", fact)))));
}

export function open(main, signal) {
	const lists = make("div.peerlists"), none = make("section.empty.card", {hidden: true}), found = make("div");
	const part = (key, peers) => peers.length > 0 && make("section", make("h2", word(key)), make("ul.peers", peers.map(card)));
	// Peers take some seconds to be found.
	let ready = false;
	const looking = make("p.looking", {role: "status"}, make("span.ripple", icon("peers")), word("looking"));
	setTimeout(() => {ready = true; draw();}, store.peers.size ? 0 : 5000);
	const draw = framed(() => {
		const [contacts, others, away] = peersInOrder(), nobody = !contacts.length && !others.length;
		replace(lists, part("contactsHere", contacts), part("othersHere", others), part("notHere", away));
		if (nobody && ready && none.hidden) examine(found);
		none.hidden = !nobody || !ready;
		looking.hidden = !nobody || ready;
	});
	none.append(make("h2", word("nobodyTitle")), make("p", word("nobodyHelp")), found, make("p.row", button("examineAgain", () => examine(found))));
	main.append(head("peers", make("button.primary", {onclick: () => openSheet({})}, icon("send"), word("send"))),
		visibilitySwitch(signal), make("p.help.drophint", word("dropHint")), looking, lists, none);
	on("peers contacts", draw, signal);
	draw();
}
