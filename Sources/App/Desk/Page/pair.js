// Pairing: two machines become contacts of each other, by six digits that people compare or by a code that works once.
import {alarm, answerTo, button, called, choices, dots, eachSecond, field, form, lasting, make, on, post, problem, qr, replace, select, short, shown,
	store, submit, target, verb, warning, word} from "/parts.js";

/** The QR code of a text in a node; nothing if there is none. */
export async function drawQR(node, text, label) {
	const answer = await post("/qr", {text}).catch(() => null);
	replace(node, answer?.ok && qr(await answer.json(), label));
}

/** A card in which people pair. A pairing ends when the view is left. */
export function pairing(signal) {
	const stage = make("div.pairing", {role: "status"}), node = make("section.card", make("h2", word("pairTitle")), stage);
	let role = "wait", way = "compare", name = "";

	/** What happens here, on which side, and with which peer. */
	function ask(wrong = "") {
		const own = field({maxLength: 63, value: name, oninput: () => {name = own.value;}}), typed = field({placeholder: word("peerHint"), "aria-label": word("peerTyped")});
		const code = field({inputMode: "numeric", placeholder: "123-456-789", className: "mono"}), near = make("label", word("peer"));
		const values = (...keys) => keys.map(key => [key, word("pair-" + key)]);
		const draw = () => {
			const begins = role === "begin", peers = [...store.peers.values()].filter(p => !p.via || p.via === "waft");
			const old = near.firstElementChild?.value, options = peers.map(p => [target(p), dots(shown(called(p)) || word("unnamed"), p.id && short(p.id))]);
			if (begins && !near.contains(document.activeElement)) {
				near.replaceChildren(word("peer"), select([...options, ["", word("peerOther")]], old ?? options[0]?.[0] ?? "", {onchange: draw}), typed);
			}
			typed.hidden = near.querySelector("select")?.value !== "";
			near.hidden = !begins;
			codeLabel.hidden = !begins || way !== "code";
			help.textContent = word(`pair-${role}-${way}-help`);
			go.textContent = word(begins ? "pairBegin" : way === "code" ? "pairShow" : "pairWait");
		};
		const start = () => {
			const peer = near.querySelector("select")?.value || typed.value.trim(), digits = code.value.replace(/\D/g, "");
			if (role === "begin" && !peer) return fail("peerMissing", typed);
			if (role === "begin" && way === "code" && digits.length !== 9) return fail("codeWrong", code);
			const compares = way === "compare", begins = role === "begin";
			run(["pair", ...(name.trim() ? ["--name", name.trim()] : []), ...(compares ? ["--answer-fd", "0"] : ["--code"]), ...(begins ? ["--", peer] : compares ? ["--accept"] : [])],
				{answers: compares || undefined, input: begins && !compares ? digits.replace(/(...)(...)/, "$1-$2-") + "\n" : undefined});
		};
		const fail = (key, input) => {error.textContent = word(key); input.focus();};
		const codeLabel = make("label", word("code"), code), help = make("p.help"), go = submit(""), error = alarm(wrong);
		stage.ariaLive = "off";
		replace(stage, form(".fields", start,
			make("div.row", choices(word("pairSide"), "pair-role", values("wait", "begin"), role, value => {role = value; draw();}),
				choices(word("pairWay"), "pair-way", values("compare", "code"), way, value => {way = value; draw();})),
			help, make("div.grid3", near, codeLabel, make("label", word("nameHere"), own)), error, make("p.row", go)));
		on("peers", () => near.isConnected && draw(), signal);
		draw();
		return go;
	}

	/** Runs `waft pair`, and shows each of its lines. */
	async function run(words, options) {
		const stop = new AbortController(), all = AbortSignal.any([signal, stop.signal]), left = make("p.help", {"aria-live": "off"}), main = make("div.stage"), who = make("div");
		let call = null;
		const say = (...parts) => replace(main, parts);
		const answer = text => {say(make("p.big", word("pairOther"))); answerTo(call, text);};
		const cancel = button("cancel", () => stop.abort());
		stage.ariaLive = "polite";
		replace(stage, who, main, left, make("p.row", cancel));
		say(make("p", word("pairLooking")));
		cancel.focus();
		const result = await verb(words, {...options, signal: all, each: line => {
			switch (line.event) {
			case "begun": call = line.call; break;
			case "open": {
				const end = Date.now() + line.seconds * 1000, code = make("div");
				eachSecond(() => {left.textContent = word("left", {time: lasting((end - Date.now()) / 1000)});}, all);
				say(make("p.big", word("pairWaits")), line.code ? [make("p", word("pairCodeThere")), make("p.digits", line.code), code, make("p.help", make("code", `waft pair ${shown(store.facts.name)} --code`))]
					: make("p", word("pairThere"), " ", make("code", "waft pair " + shown(store.facts.name))));
				if (line.code) drawQR(code, line.code, word("qrOf", {what: line.code}));
				break;
			}
			case "peer": {
				const peer = line.peer ?? line.from ?? {};
				replace(who, make("p.big", word("pairComes", {name: peer.contact ?? peer.name ?? "?"})),
					make("p.note", dots(word(peer.contact ? "isYourContact" : "isUnverified"), peer.id && short(peer.id))), line.warning && warning(shown(line.warning)));
				break;
			}
			case "compare": {
				left.remove();
				const yes = button("yes", () => answer("y"), ".primary");
				say(make("p", word("pairSame")), make("p.digits", {ariaLabel: [...line.digits].join(" ")}, line.digits.slice(0, 3) + " " + line.digits.slice(3)),
					make("p.big.words", line.words.map(text => make("span", text))), make("p.row.answers", yes, button("no", () => answer("n"))));
				yes.focus();
				break;
			}
			case "paired": {
				const peer = line.peer ?? line.from ?? {};
				replace(stage, make("p.big.good", word("pairDone", {name: peer.contact ?? peer.name})), make("p.note.mono", short(peer.id)), make("p.row", button("pairAgain", () => ask().focus())));
				stage.querySelector("button").focus();
			}
			}
		}});
		if (signal.aborted || !result.exit) return;
		ask(stop.signal.aborted ? word("pairCancelled") : shown(problem(result))).focus();
	}
	ask();
	return node;
}
