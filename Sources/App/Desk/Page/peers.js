// The view of the peers: contacts first, then others, then those who are away.
import {button, wayOf} from "/parts.js";
import {framed, make, named, replace, shown} from "/dom.js";
import {deviceIcon, icon} from "/icons.js";
import {called, isContact, on, store} from "/store.js";
import {examine} from "/doctor.js";
import {has, short, word} from "/words.js";
import {visibilitySwitch} from "/visible.js";
import {openSheet} from "/send.js";

/** The dialect's name, the kind of device, and what is known of the key. */
export function peerFacts(peer) {
	const kind = (peer.device ?? "").toLowerCase(), known = isContact(peer);
	const machine = [peer.device && (has("device-" + kind) ? word("device-" + kind) : shown(peer.device)),
		peer.via && peer.via !== "waft" && wayOf(peer.via)];
	return [
		machine.filter(Boolean).join(" · "), known ? word("isContact") : peer.id ? word("isStranger", {key: short(peer.id)}) : word("noKey"),
	].filter(Boolean);
}

/** All peers for lists of choice: [contacts, others, away]. */
export function peersInOrder() {
	const order = (a, b) => called(a).localeCompare(called(b)), all = [...store.peers.values()].filter(p => !store.contacts.get(p.id)?.blocked);
	const away = [...store.away.values()].map(peer => ({...peer, rememberedAs: peer.name, away: true}));
	for (const contact of store.contacts.values()) {
		if (!contact.blocked && !store.peers.has(contact.id) && !store.away.has(contact.name)) away.push({id: contact.id, name: contact.name, away: true});
	}
	return [all.filter(isContact).sort(order), all.filter(p => !isContact(p)).sort(order), away.sort(order)];
}

function card(peer) {
	const name = called(peer) || word("unnamed"), known = isContact(peer), facts = peerFacts(peer);
	return make("li", make(`button.peer${known ? ".contact" : ""}${peer.away ? ".away" : ""}`, {
		type: "button", "data-key": "peer-" + (peer.id ?? peer.handle ?? peer.name), onclick: () => openSheet({peers: [peer]}),
		"aria-label": word(peer.away ? "queueFor" : "sendTo", {name}) + ". " + (peer.away ? word("isAway") : facts.join(", ")),
		drop: peer, title: peer.away && peer.reason ? shown(peer.reason) : "",
	}, make("span.face", deviceIcon(peer), known && make("span.proved", icon("check"))), named(name), make("span.facts", (peer.away ? [word("isAway")] : facts).map(fact => make("span", fact)))));
}

export function open(main, signal) {
	const lists = make("div.peerlists"), empty = make("section.empty.card", {hidden: true}), found = make("div");
	const draw = framed(() => {
		const [contacts, others, away] = peersInOrder(), part = (key, peers) => peers.length > 0 && make("section", make("h2", word(key)),
			make("ul.peers", {role: "list"}, peers.map(card)));
		replace(lists, part("contactsHere", contacts), part("othersHere", others), part("notHere", away));
		const none = !contacts.length && !others.length;
		if (none && empty.hidden && ready) {empty.hidden = false; examine(found);}
		if (!none) empty.hidden = true;
		looking.hidden = !none || ready;
	});
	// Peers take some seconds to be found.
	let ready = false;
	const looking = make("p.looking", {role: "status"}, make("span.ripple", icon("peers")), word("looking"));
	setTimeout(() => {ready = true; draw();}, store.peers.size ? 0 : 5000);
	empty.append(make("h2", word("nobodyTitle")), make("p", word("nobodyHelp")), found,
		make("p.row", button("examineAgain", () => examine(found))));
	main.append(make("div.head", make("h1", word("peers")), make("button.primary", {type: "button", onclick: () => openSheet({})}, icon("send"), word("send"))),
		visibilitySwitch(signal), make("p.help.drophint", word("dropHint")), looking, lists, empty);
	on("peers contacts", draw, signal);
	draw();
}
