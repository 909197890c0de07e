// Pairing, by digits that people compare or by a one-time code.
import {$, answerTo, button, call, called, dots, eachSecond, face, faultOf, field, fold, form, h, help, isContact,
	label, lasting, lineOf, named, on, person, post, put, qr, replace, said, short, shown, standing, store, submit, t,
	target, update, warning} from "/parts.js";

// The QR code of a text in a node; nothing if there is none.
export async function drawQR(node, text, label) {
	const answer = await post("/qr", {text}).catch(() => null);
	replace(node, answer?.ok && qr(await answer.json(), label));
}

const ownName = () => store.receiver?.name ?? store.facts.name;

const isPaired = peer => peer && [h("p.big.good", t("pairDone", {name: peer.contact ?? peer.name})),
	h("p.note", short(peer.id))];

// Pairs, and shows each step in a node. Resolves at the end with its result; `paired` is the new contact, and `isHeard`
// tells whether the other side has come. With an `expected` key each other machine that comes gets a no.
async function converse(node, values, signal, expected) {
	const left = h("p.help", {"aria-live": "off"}), main = h("div.stage"), who = h("div"),
		end = {paired: null, isHeard: false};
	let asked = null, isOther = false;
	const say = (...parts) => {replace(main, parts); replace(node, who, main, left);};
	const answer = text => {say(h("p.big", t("pairOther"))); answerTo(asked, text);};
	const heard = {
		begun: line => {asked = line.call;},
		open({seconds, code}) {
			if (!code) return;
			const until = Date.now() + seconds * 1000, picture = h("div");
			eachSecond(() => put(left, t("left", {time: lasting((until - Date.now()) / 1000)})), signal);
			say(h("p.big", t("pairOther")), h("p", t("pairCodeThere")), h("p.digits", code), picture,
				said([`waft pair ${shown(ownName())} --code`]));
			drawQR(picture, code, t("qrOf", {what: code}));
		},
		peer({peer, warning: text}) {
			isOther = expected !== undefined && peer.id !== expected;
			if (isOther) return;
			end.isHeard = true;
			replace(who, h("p.big", t("pairComes", {who: person(peer)})),
				h("p.note", dots(t(peer.contact ? "contact" : "isUnverified"), peer.contact && short(peer.id))),
					text && [warning(t("pairTakes")), said([text])]);
		},
		compare(line) {
			if (isOther) return answerTo(asked, "n");
			put(left, "");
			// A key that was meant for something else confirms nothing.
			const saying = text => node.classList.contains("ready") && answer(text),
				title = h("p", {tabIndex: -1}, t("pairSame"));
			say(title, h("p.digits", {ariaLabel: [...line.digits].join(" ")},
				line.digits.slice(0, 3) + " " + line.digits.slice(3)),
				h("p.big.words", line.words.map(text => h("span", text))),
				h("p.row.answers", button("yes", () => saying("y"), ".primary"), button("no", () => saying("n"))));
			node.classList.remove("ready");
			setTimeout(() => node.classList.add("ready"), 400);
			title.focus();
			title.scrollIntoView({block: "center"});
		},
		paired({peer}) {end.paired = peer;},
	};
	end.result = await call("pair", values, {signal, each: line => heard[line.event]?.(line)});
	return end;
}

let stop = new AbortController();

// Opens the dialog in which two machines meet; `over` shows the end.
export function opened(title, ...parts) {
	const dialog = $("ask"), stage = h("div.pairing", {role: "status"}), close = button("cancel", () => dialog.close());
	stop.abort();
	const {signal} = stop = new AbortController();
	replace(dialog, h("div.fields", h("h2#ask-title", {tabIndex: -1}, title), parts, stage, h("p.row.end", close)));
	dialog.onclose = () => stop.abort();
	if (!dialog.open) dialog.showModal();
	$("ask-title").focus();
	const over = (result, again, ...good) => {
		put(close, t("done"));
		replace(stage, result.exit ? [faultOf(result), h("p.row", button("again", again))] : good);
		close.focus();
	};
	return {dialog, stage, close, signal, over};
}

export const waiting = key => h("p.looking", h("span.pulse"), t(key));

// Pairs with a peer of the room. Both sides may begin: the one with the smaller key asks again and again, the other one
// waits.
export async function pairWith(peer) {
	const {stage, signal, over} = opened(t("pairWith", {who: person(peer)}));
	const own = lineOf(await call("contacts/me"), "me")?.id ?? "", asks = own < peer.id;
	const both = () => replace(stage, h("p", t("pairBoth", {who: person(peer), name: ownName()})), waiting("pairWaits"));
	both();
	let isBeginning = true;
	for (let end = null; !signal.aborted; isBeginning = !isBeginning) {
		const turn = asks && !isBeginning ? AbortSignal.any([signal, AbortSignal.timeout(3000 + Math.random() * 2000)])
			: signal;
		end = await converse(stage, isBeginning ? {peer: target(peer)} : {}, turn, peer.id);
		if (signal.aborted) return;
		if (end.paired || end.isHeard) return over(end.result, () => pairWith(peer), isPaired(end.paired));
		// Without a receiver nothing can wait.
		if (end.result.exit === 69) return replace(stage, faultOf(end.result));
		both();
	}
}

// One try with a machine that no face stands for.
async function pairOnce(values) {
	const {stage, signal, over} = opened(t("pairAny"));
	replace(stage, waiting("looking"));
	const end = await converse(stage, values, signal);
	if (!signal.aborted) over(end.result, pairAny, isPaired(end.paired));
}

// Asks with which machine: one that is in view, or another one by its address or a code.
export function pairAny() {
	const near = h("div.row"), place = field({required: true});
	const code = field({inputMode: "numeric", placeholder: "123-456-789", className: "mono",
		pattern: "\\d{3}\\D?\\d{3}\\D?\\d{3}"});
	const begin = () => pairOnce({peer: place.value.trim(), code: code.value.match(/\d{3}/g)?.join("-")});
	const {signal} = opened(t("pairAny"), near, fold(t("pairElse"), form(".fields", begin, help("pairFar"),
		h("div.grid3", label("peerTyped", place), label("code", code)), h("p.row", submit(t("pairShort")))),
	h("p.row", h("span.help", t("pairCodeHelp")), button("showCode", () => pairOnce({byCode: true})))));
	const choice = peer => h("button.choice", {"data-key": "with-" + peer.id, onclick: () => pairWith(peer)}, face(peer),
		named(called(peer) || t("unnamed")), h("span.note", dots(standing(peer))));
	const draw = () => {
		const all = [...store.peers.values()].filter(({id, via}) => id && via === "waft" && !store.contacts.get(id)?.blocked);
		update(near, all.length ? all.sort((a, b) => isContact(a) - isContact(b)).map(choice) : help("firstHow"));
	};
	on("peers contacts", draw, signal);
	draw();
}
