// Spoken codes: this machine shows one for what it sends, or takes what another one sends by its code.
import {alarm, button, call, copier, eachSecond, faultOf, field, form, h, isolated, label, lasting, lineOf, on, put,
	replace, said, show, store, submit, t, warning} from "/parts.js";
import {heard} from "/events.js";
import {opened, waiting} from "/pair.js";
import {activityOf, content} from "/peer.js";
import {begin, follow} from "/sending.js";

// Shows the machine that has the same code, with its activity. From here on the transfer needs no dialog.
function meet(line, {stage, close, signal}) {
	const peer = {via: "waft", ...line.peer, claims: line.warning && line.peer.name},
		node = h("div.peer", {ariaLive: "off"}, content(peer));
	on("transfers", () => {
		const activity = activityOf(peer);
		// The tick stays.
		if (activity) replace(node, content(peer, activity));
	}, signal);
	replace(stage, node);
	put(close, t("close"));
	close.focus();
	return peer;
}

// Shows a code, and sends to the machine whose user types it. `done` is called when that has come.
export async function sendByCode(things, subject, done) {
	const dialog = opened(t("byCode")), {stage, signal, over} = dialog, left = h("span.note", {ariaLive: "off"}),
		again = () => sendByCode(things, subject, done);
	const stop = new AbortController();
	let transfer, until, spent;
	signal.addEventListener("abort", () => transfer || stop.abort());
	replace(stage, waiting("loading"));
	const tick = () => put(left, t("left", {time: lasting((until - Date.now()) / 1000)}));
	const lines = {
		open({code, seconds, shownKey}) {
			const isFirst = !until;
			until = Date.now() + seconds * 1000;
			isFirst ? eachSecond(tick, signal) : tick();
			replace(stage, spent, h("p.digits.code", {dir: "ltr"}, code), h("p", t("codeSay", {code})),
				h("p.row", copier(code), left), said([t("codeKey", {key: shownKey})]));
		},
		spent({address}) {spent = warning(t("codeSpent", {name: address}));},
		peer(line) {
			transfer = begin(meet(line, dialog), things, again, stop);
			done();
			return transfer;
		},
	};
	const result = await follow(things, {byCode: true, wait: "opened", subject}, stop, null,
		line => lines[line.event]?.(line));
	if (signal.aborted) return;
	stage.firstChild.ariaLive = null;
	over(transfer ? {} : {...result, path: spent ? "guessed" : "code"}, again, stage.firstChild);
}

// Takes what is sent by the code of another machine.
export function receiveByCode() {
	const input = field({placeholder: "7-pumpkin-sausage", maxLength: 128, oninput: read}), full = h("p.big.mono"),
		more = h("p.row", {role: "status"}), typing = form(".fields", async () => {
			await read();
			code ? receive() : replace(stage, alarm(t("codeForm")));
		}, label("code", input), full, more, h("p.row", submit(t("accept")))),
		dialog = opened(t("haveCode"), typing), {stage, signal} = dialog;
	let code, isBusy;
	input.focus();
	async function read() {
		const {value} = input, line = lineOf(await call("codes/read", {text: value}), "read");
		if (value !== input.value || !line) return;
		({code} = line);
		put(full, line.text);
		full.classList.toggle("good", !!code);
		replace(more, line.wrong && (line.choices.length ? t("codeNear", {name: line.wrong})
			: isolated(line.wrong) + ": " + t("codeForm")),
			line.choices.map(({word, text}) => h("button", {onclick() {
				input.value = text;
				input.focus();
				read();
			}}, word)));
	}
	async function receive(how) {
		if (isBusy) return;
		isBusy = true;
		let path = "receive", peer, keys = [];
		const stop = new AbortController();
		signal.addEventListener("abort", () => peer || stop.abort());
		replace(stage, waiting("looking"));
		const result = await call("codes/receive", {code, ...how}, {signal: stop.signal, each(line) {
			if (line.event === "codeFault") ({fault: path, keys = []} = line);
			else if (line.event === "peer") {
				show(typing, false);
				peer = meet(line, dialog);
			// Without a receiver, only this call tells what arrives.
			} else if (!store.isReceiving) heard(line);
		}});
		isBusy = false;
		if (signal.aborted) return;
		if (!result.exit) return dialog.dialog.close();
		show(typing, true);
		replace(stage, faultOf({...result, path}), h("p.row",
			path === "before" && button("again", () => receive({again: true})),
			keys.map(key => h("button.choice.mono", {onclick: () => receive({key})}, key))));
		input.select();
	}
}
