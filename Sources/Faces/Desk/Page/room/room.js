// The room: this machine, and the peers around it: contacts, then strangers, then groups, then those who are away.
import {button, called, eachSecond, face, framed, h, icon, isContact, named, on, personKey, show, store,
	t} from "/parts.js";
import {Keyed} from "/keyed.js";
import {firstSteps} from "/first.js";
import {activityOf, isUnderWay, place} from "/peer.js";
import {receiveByCode} from "/code.js";
import {nobody} from "/nobody.js";
import {inviteCard} from "/invite.js";
import {openSheet} from "/send.js";
import {startReceiving} from "/start.js";

// [contacts, others, groups, away]
export function peersInOrder() {
	const order = (a, b) => called(a).localeCompare(called(b));
	const all = [...store.peers.values()].filter(peer => !store.contacts.get(peer.id)?.blocked);
	const away = [...store.away.values()].map(peer => ({...peer, rememberedAs: peer.name, away: true}));
	for (const {blocked, id, name} of store.contacts.values()) {
		if (!blocked && !store.peers.has(id) && !store.away.has(name)) away.push({id, name, away: true});
	}
	return [all.filter(isContact).sort(order), all.filter(peer => !isContact(peer)).sort(order), store.groups,
		away.sort(order)];
}

// Peers that send something, and are not in view.
function unseen(seen) {
	const keys = new Set(seen.map(personKey)), more = new Map();
	for (const transfer of store.transfers.values()) {
		const key = personKey(transfer.peer);
		if (isUnderWay(transfer) && key && !keys.has(key)) more.set(key, {...transfer.peer, isUnseen: true});
	}
	return [...more.values()];
}

function me() {
	const name = h("strong"), node = h("footer.me", h("a.self", {href: "#settings"}, h("span"), name),
		button("haveCode", receiveByCode, ".pairs"), h("p.help.drophint", t("dropHint")));
	node.draw = () => {
		const own = {id: store.receiver?.id ?? store.facts.id, name: store.receiver?.name ?? store.facts.name};
		node.querySelector("a > span").replaceWith(h("span", face(own)));
		name.replaceChildren(named(own.name));
	};
	node.draw();
	return node;
}

export function open(main, signal) {
	const list = h("ul.faces"), peers = new Keyed(list), empty = nobody(signal), self = me();
	// Peers take some seconds to be found.
	let ready = store.peers.size > 0;
	const looking = h("p.looking", {role: "status"}, h("span.pulse"), t("looking"));
	const invite = inviteCard();
	const draw = framed(() => {
		const [contacts, others, groups, away] = peersInOrder(), here = [...contacts, ...others, ...groups];
		const all = [...here, ...unseen([...here, ...away])], isEmpty = all.length === groups.length;
		// The first steps say what to do in an empty room.
		const isNew = first.isShown, alone = isEmpty && !away.length && !isNew;
		peers.show([...all, ...(alone ? [] : [invite]), ...away], peer => peer.key ?? personKey(peer),
			peer => peer.make?.() ?? place(peer), (node, peer) => node.draw?.(peer, activityOf(peer)));
		show(list, all.length + away.length + isNew);
		show(looking, isEmpty && !ready);
		empty.show(isEmpty && ready, isNew);
	});
	const first = firstSteps(signal, draw);
	const timer = setTimeout(() => {ready = true; draw();}, 4000);
	signal.addEventListener("abort", () => clearTimeout(timer));
	main.append(h("div.head", h("h1", t("room")), button("sendMore", () => openSheet({}), ".sends")),
		h("div.stand", startReceiving(signal), first, looking, empty, list), self);
	main.querySelector(".sends").prepend(icon("send"));
	on("peers contacts transfers", draw, signal);
	on("receiver", self.draw, signal);
	// A transfer that stands still says so.
	eachSecond(() => [...store.transfers.values()].some(isUnderWay) && draw(), signal);
	draw();
}
