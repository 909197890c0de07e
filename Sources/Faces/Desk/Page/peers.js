// The peers: contacts first, then others, then those who are away.
import {button, call, called, deviceIcon, dots, fold, framed, h, h2, head, icon, isContact, isolated, linesOf, named, on, oneOf, problem, replace,
	shown, standing, status, store, t, update, wayOf} from "/parts.js";
import {visibilitySwitch} from "/visible.js";
import {openSheet} from "/send.js";

// The kind of device, the dialect's name, and what is known of the key.
function peerFacts(peer) {
	const machine = peer.away ? "" : dots(oneOf("device-", (peer.device ?? "").toLowerCase()), wayOf(peer.via));
	return [machine, ...standing(peer)].filter(Boolean);
}

// [contacts, others, away]
export function peersInOrder() {
	const order = (a, b) => called(a).localeCompare(called(b)), all = [...store.peers.values()].filter(p => !store.contacts.get(p.id)?.blocked);
	const away = [...store.away.values()].map(peer => ({...peer, rememberedAs: peer.name, away: true}));
	for (const {blocked, id, name} of store.contacts.values()) {
		if (!blocked && !store.peers.has(id) && !store.away.has(name)) away.push({id, name, away: true});
	}
	return [all.filter(isContact).sort(order), all.filter(p => !isContact(p)).sort(order), away.sort(order)];
}

function card(peer) {
	const name = called(peer) || t("unnamed"), known = !peer.away && isContact(peer), facts = peerFacts(peer);
	return h("li", h(`button.peer${peer.away ? ".away" : ""}`, {
		"data-key": "peer-" + (peer.id ?? peer.handle ?? peer.name), onclick: () => openSheet({peers: [peer]}),
		ariaLabel: t(peer.away ? "queueFor" : "sendTo", {who: isolated(name)}) + ". " + facts.join(", "), drop: peer, title: peer.away ? shown(peer.reason) : "",
	}, h("span.face", deviceIcon(peer), known && h("span.proved", icon("check"))), named(name), h("span.facts", facts.map(fact => h("span", fact)))));
}

const ORDER = ["problem", "warning", "ok"], ICONS = {problem: "cross", warning: "warn", ok: "check"};

const check = ({result, name, reason, hint}) => h("li." + result, icon(ICONS[result]),
	h("div", h("strong", t("check-" + result), ": ", shown(name)), h("p", shown(reason)), hint && h("p.help", "→ ", shown(hint))));

// What `waft doctor` found, in a node. Problems and warnings come first.
async function examine(node) {
	replace(node, status(t("loading")));
	const result = await call("doctor"), checks = linesOf(result, "check");
	checks.sort((a, b) => ORDER.indexOf(a.result) - ORDER.indexOf(b.result));
	const good = checks.filter(c => c.result === "ok"), bad = checks.filter(c => c.result !== "ok");
	replace(node, checks.length ? h("ul.checks", bad.map(check)) : h("p.bad", problem(result)),
		good.length > 0 && fold(t("wellChecks", {n: good.length}), h("ul.checks", good.map(check))));
}

export function open(main, signal) {
	const lists = h("div.peerlists"), none = h("section.empty.card", {hidden: true}), found = h("div");
	const part = (key, peers) => peers.length > 0 && h("section", h2(key), h("ul.peers", peers.map(card)));
	// Peers take some seconds to be found.
	let ready = false;
	const looking = h("p.looking", {role: "status"}, icon("peers"), t("looking"));
	setTimeout(() => {ready = true; draw();}, store.peers.size ? 0 : 5000);
	const draw = framed(() => {
		const [contacts, others, away] = peersInOrder(), nobody = !contacts.length && !others.length;
		update(lists, part("contacts", contacts), part("othersHere", others), part("notHere", away));
		if (nobody && ready && none.hidden) examine(found);
		none.hidden = !nobody || !ready;
		looking.hidden = !nobody || ready;
	});
	none.append(h2("nobodyTitle"), h("p", t("nobodyHelp")), found, h("p.row", button("examineAgain", () => examine(found))));
	main.append(head("peers", h("button.primary", {onclick: () => openSheet({})}, icon("send"), t("send"))),
		visibilitySwitch(signal), h("p.help.drophint", t("dropHint")), looking, lists, none);
	on("peers contacts", draw, signal);
	draw();
}
