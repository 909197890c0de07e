// Pairing, by digits that people compare or by a one-time code.
import {alarm, answerTo, button, call, choices, dots, eachSecond, field, form, h, h2, hasFocus, label, lasting, on, person, post, problem, put, qr,
	replace, select, short, shown, store, submit, t, target, warning} from "/parts.js";

// The QR code of a text in a node; nothing if there is none.
export async function drawQR(node, text, label) {
	const answer = await post("/qr", {text}).catch(() => null);
	replace(node, answer?.ok && qr(await answer.json(), label));
}

// A card in which people pair. A pairing ends when the view is left.
export function pairing(signal) {
	const stage = h("div.pairing", {role: "status"}), node = h("section.card", h2("pairTitle"), stage);
	let role = "wait", way = "compare";

	// What happens here, on which side, and with which peer.
	function ask(wrong = "") {
		const typed = field({placeholder: t("peerTyped"), ariaLabel: t("peerTyped")}), pattern = "\\d{3}\\D?\\d{3}\\D?\\d{3}";
		const code = field({inputMode: "numeric", placeholder: "123-456-789", className: "mono", pattern}), near = h("label", t("peer"));
		const values = (...keys) => keys.map(key => [key, t("pair-" + key)]);
		const draw = () => {
			const begins = role === "begin", peers = [...store.peers.values()].filter(p => p.via === "waft");
			const old = near.firstElementChild?.value, options = peers.map(p => [target(p), person(p)]);
			if (begins && !hasFocus(near)) {
				near.replaceChildren(t("peer"), select([...options, ["", t("peerOther")]], old ?? options[0]?.[0] ?? "", {onchange: draw}), typed);
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
			const begins = role === "begin", compares = way === "compare", peer = near.querySelector("select")?.value || typed.value.trim();
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

	// Pairs, and shows each line of it.
	async function run(values) {
		const stop = new AbortController(), all = AbortSignal.any([signal, stop.signal]), left = h("p.help", {"aria-live": "off"});
		const main = h("div.stage"), who = h("div");
		let asked = null;
		const say = (...parts) => replace(main, parts), answer = text => {say(h("p.big", t("pairOther"))); answerTo(asked, text);};
		const cancel = button("cancel", () => stop.abort());
		stage.ariaLive = "polite";
		replace(stage, who, main, left, h("p.row", cancel));
		say(h("p", t("looking")));
		cancel.focus();
		const heard = {
			begun: line => {asked = line.call;},
			open({seconds, code}) {
				const end = Date.now() + seconds * 1000, picture = h("div"), there = h("code", `waft pair ${shown(store.facts.name)}${code ? " --code" : ""}`);
				eachSecond(() => put(left, t("left", {time: lasting((end - Date.now()) / 1000)})), all);
				say(h("p.big", t("pairOther")), code ? [h("p", t("pairCodeThere")), h("p.digits", code), picture, h("p", there)] : h("p", t("pairThere"), " ", there));
				if (code) drawQR(picture, code, t("qrOf", {what: code}));
			},
			peer({peer, warning: text}) {
				replace(who, h("p.big", t("pairComes", {who: person(peer)})),
					h("p.note", dots(t(peer.contact ? "isContact" : "isUnverified"), peer.contact && short(peer.id))), text && warning(shown(text)));
			},
			compare(line) {
				left.remove();
				const yes = button("yes", () => answer("y"), ".primary");
				say(h("p", t("pairSame")), h("p.digits", {ariaLabel: [...line.digits].join(" ")}, line.digits.slice(0, 3) + " " + line.digits.slice(3)),
					h("p.big.words", line.words.map(text => h("span", text))), h("p.row.answers", yes, button("no", () => answer("n"))));
				yes.focus();
				yes.scrollIntoView({block: "center"});
			},
			paired({peer}) {
				const again = button("pairAgain", () => ask().focus());
				replace(stage, h("p.big.good", t("pairDone", {name: peer.contact ?? peer.name})), h("p.note", short(peer.id)), h("p.row", again));
				again.focus();
			},
		};
		const result = await call("pair", values, {signal: all, each: line => heard[line.event]?.(line)});
		if (signal.aborted || !result.exit) return;
		ask(stop.signal.aborted ? t("cancelled") : problem(result)).focus();
	}
	ask();
	return node;
}
