// Pairing, by digits that people compare or by a one-time code.
import {$, alarm, answerTo, button, call, choices, dots, eachSecond, field, form, h, h2, hasFocus, label, lasting,
	lineOf, on, person, post, problem, put, qr, replace, said, select, short, shown, store, submit, t, tellFault, target,
	warning} from "/parts.js";

// The QR code of a text in a node; nothing if there is none.
export async function drawQR(node, text, label) {
	const answer = await post("/qr", {text}).catch(() => null);
	replace(node, answer?.ok && qr(await answer.json(), label));
}

// An alarm that says why a call has failed.
function faultOf(result) {
	const error = alarm();
	tellFault(error, result);
	return error;
}

const isPaired = peer => [h("p.big.good", t("pairDone", {name: peer.contact ?? peer.name})),
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
			if (expected) return;
			const until = Date.now() + seconds * 1000, picture = h("div");
			const name = store.receiver?.name ?? store.facts.name,
				there = said([`waft pair ${shown(name)}${code ? " --code" : ""}`]);
			eachSecond(() => put(left, t("left", {time: lasting((until - Date.now()) / 1000)})), signal);
			say(h("p.big", t("pairOther")), code ? [h("p", t("pairCodeThere")), h("p.digits", code), picture, there]
				: [h("p", t("pairThere", {name})), there]);
			if (code) drawQR(picture, code, t("qrOf", {what: code}));
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

// Pairs with a peer of the room. Both sides may begin: the one with the smaller key asks again and again, the other one
// waits.
export async function pairWith(peer) {
	const dialog = $("ask"), stop = new AbortController(), {signal} = stop, stage = h("div.pairing", {role: "status"});
	const close = button("cancel", () => dialog.close());
	replace(dialog, h("div.fields", h("h2#ask-title", {tabIndex: -1}, t("pairWith", {who: person(peer)})), stage,
		h("p.row.end", close)));
	dialog.onclose = () => stop.abort();
	dialog.showModal();
	$("ask-title").focus();
	const own = lineOf(await call("contacts/me"), "me")?.id ?? "", asks = own < peer.id;
	const both = () => replace(stage, h("p", t("pairBoth",
		{who: person(peer), name: store.receiver?.name ?? store.facts.name})),
		h("p.looking", h("span.pulse"), t("pairWaits")));
	both();
	let isBeginning = true;
	for (let end = null; !signal.aborted; isBeginning = !isBeginning) {
		const turn = asks && !isBeginning ? AbortSignal.any([signal, AbortSignal.timeout(3000 + Math.random() * 2000)])
			: signal;
		end = await converse(stage, isBeginning ? {peer: target(peer)} : {}, turn, peer.id);
		if (signal.aborted) return;
		if (end.paired || end.isHeard) {
			put(close, t("done"));
			replace(stage, ...(end.paired ? isPaired(end.paired)
				: [faultOf(end.result), h("p.row", button("again", () => pairWith(peer)))]));
			return close.focus();
		}
		// Without a receiver nothing can wait.
		if (end.result.exit === 69) return replace(stage, faultOf(end.result));
		both();
	}
}

// A card in which people pair. A pairing ends when the view is left.
export function pairing(signal) {
	const stage = h("div.pairing", {role: "status"}), node = h("section.card", h2("pairTitle"), stage);
	let role = "wait", way = "compare";

	// What happens here, on which side, and with which peer.
	function ask(wrong = "") {
		const typed = field({placeholder: t("peerTyped"), ariaLabel: t("peerTyped")}),
			pattern = "\\d{3}\\D?\\d{3}\\D?\\d{3}";
		const code = field({inputMode: "numeric", placeholder: "123-456-789", className: "mono", pattern}),
			near = h("label", t("peer"));
		const values = (...keys) => keys.map(key => [key, t("pair-" + key)]);
		const draw = () => {
			const begins = role === "begin", peers = [...store.peers.values()].filter(p => p.via === "waft");
			const old = near.firstElementChild?.value, options = peers.map(p => [target(p), person(p)]);
			if (begins && !hasFocus(near)) {
				near.replaceChildren(t("peer"), select([...options, ["", t("peerOther")]], old ?? options[0]?.[0] ?? "",
					{onchange: draw}), typed);
			}
			typed.hidden = near.querySelector("select")?.value !== "";
			near.hidden = !begins;
			codeLabel.hidden = !begins || way !== "code";
			typed.required = begins && !typed.hidden;
			code.required = !codeLabel.hidden;
			put(help, t(`pair-${role}-${way}-help`));
			put(go, t(begins ? "pairBegin" : way === "code" ? "pairShow" : "pairWait"));
		};
		const start = () => {
			const begins = role === "begin", compares = way === "compare",
				peer = near.querySelector("select")?.value || typed.value.trim();
			run(!begins ? {byCode: !compares} : compares ? {peer} : {peer, code: code.value.match(/\d{3}/g).join("-")});
		};
		const codeLabel = label("code", code), help = h("p.help"), go = submit(""), error = alarm(wrong);
		stage.ariaLive = "off";
		replace(stage, form(".fields", start,
			h("div.row", choices(t("pairSide"), "pair-role", values("wait", "begin"), role, value => {role = value; draw();}),
				choices(t("pairWay"), "pair-way", values("compare", "code"), way, value => {way = value; draw();})),
			help, h("div.grid3", near, codeLabel), error, h("p.row", go)));
		on("peers", () => near.isConnected && draw(), signal);
		draw();
		return go;
	}

	async function run(values) {
		const stop = new AbortController(), main = h("div"), all = AbortSignal.any([signal, stop.signal]);
		stage.ariaLive = "polite";
		const cancel = button("cancel", () => stop.abort());
		replace(stage, main, h("p.row", cancel));
		replace(main, h("p", t("looking")));
		cancel.focus();
		const {result, paired} = await converse(main, values, all);
		if (signal.aborted) return;
		if (paired) {
			const again = button("pairAgain", () => ask().focus());
			replace(stage, ...isPaired(paired), h("p.row", again));
			return again.focus();
		}
		ask(stop.signal.aborted ? t("cancelled") : problem(result)).focus();
	}
	ask();
	return node;
}
