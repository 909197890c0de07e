// Spoken codes: this machine shows one for what it sends, or takes what another one sends by its code.
import {$, alarm, button, call, copier, eachSecond, face, field, form, h, label, lasting, lineOf, on, personKey, problem,
	put, replace, said, show, store, submit, t, warning} from "/parts.js";
import {activityOf} from "/activity.js";
import {heard} from "/events.js";
import {tell} from "/feedback.js";
import {faultOf, opened, waiting} from "/pair.js";
import {content} from "/peer.js";
import {begin, ending, finish, stream, take} from "/sending.js";

// Shows the machine that has the same code, with its activity. The transfer goes on without the dialog.
function meet(line, {stage, close, signal}) {
	const peer = {via: "waft", ...line.peer, claims: line.warning && line.peer.name},
		node = h("div.peer", {ariaLive: "off"}, content(peer));
	on("transfers", () => {
		const activity = activityOf(personKey(peer));
		// The tick stays.
		if (activity) replace(node, content(peer, activity));
	}, signal);
	replace(stage, node);
	put(close, t("close"));
	close.focus();
	return peer;
}

// Sends to the machine whose user types the code that is shown here. `done` is called when it has come.
export async function sendByCode(things, subject, done) {
	const dialog = opened(t("byCode")), {stage, signal, over} = dialog, left = h("span.note", {ariaLive: "off"}),
		again = () => sendByCode(things, subject, done), tick = () => put(left, t("left", {time: lasting((until - Date.now()) / 1000)}));
	let transfer, end, until = 0, spent;
	replace(stage, waiting("loading"));
	eachSecond(tick, signal);
	const lines = {
		open({code, seconds, shownKey}) {
			until = Date.now() + seconds * 1000;
			tick();
			replace(stage, spent, h("p.digits", code), h("p", t("codeSay", {code})), h("p.row", copier(code), left),
				said([t("codeKey", {key: shownKey})]));
		},
		spent({address}) {spent = warning(t("codeSpent", {name: address}));},
		peer(line) {
			transfer = begin(meet(line, dialog), things, again);
			transfer.cancel = ending(transfer, end);
			done();
		},
	};
	const result = await stream(things, {byCode: true, wait: "opened", subject: subject || undefined}, {
		each: line => transfer ? take(transfer, line) : lines[line.event]?.(line),
		began(ends) {
			end = ends;
			const stop = () => transfer || end();
			signal.aborted ? stop() : signal.addEventListener("abort", stop);
		},
		unreadable: () => {transfer.reason = t("unreadable");},
	}).catch(() => ({exit: -1}));
	if (transfer) finish(transfer, result);
	if (signal.aborted) return;
	const node = stage.firstChild;
	node.ariaLive = null;
	over(transfer ? {} : {...result, path: spent ? "guessed" : "code"}, again, node);
}

// Takes what is sent by the code of another machine.
export function receiveByCode() {
	const input = field({placeholder: "7-pumpkin-sausage", maxLength: 128, oninput: read}),
		full = h("p.big.mono"), more = h("p.row", {role: "status"}, full),
		typing = form(".fields", enter, label("code", input), more, h("p.row", submit(t("accept")))),
		dialog = opened(t("haveCode"), typing), {stage, signal} = dialog;
	let code, busy;
	input.focus();
	async function read() {
		const {value} = input, line = lineOf(await call("codes/read", {text: value}), "read");
		if (value !== input.value || !line) return;
		({code} = line);
		put(full, line.text);
		full.classList.toggle("good", !!code);
		replace(more, full, line.wrong && h("span", t(line.choices.length ? "codeNear" : "codeForm", {name: line.wrong})),
			line.choices.map(({word, text}) => h("button.link", {onclick() {
				input.value = text;
				input.focus();
				read();
			}}, word)));
	}
	async function enter() {
		await read();
		code ? receive() : replace(stage, alarm(t("codeForm")));
	}
	async function receive(how) {
		if (busy) return;
		let fault = "receive", peer, keys = [];
		const stop = busy = new AbortController();
		signal.addEventListener("abort", () => peer || stop.abort());
		replace(stage, waiting("looking"));
		const result = await call("codes/receive", {code, ...how}, {signal: stop.signal, each(line) {
			if (line.event === "codeFault") ({fault, keys = []} = line);
			else if (line.event === "peer") {
				show(typing, false);
				peer = meet(line, dialog);
			// Without a receiver, only this call tells what arrives.
			} else if (!store.isReceiving) heard(line);
		}});
		busy = null;
		if (!result.exit) return signal.aborted || $("ask").close();
		result.path = fault;
		if (signal.aborted) return peer && tell({text: problem(result), picture: face(peer)});
		show(typing, true);
		replace(stage, faultOf(result), h("p.row", fault === "before" && button("again", () => receive({again: true})),
			keys.map(key => h("button.choice.mono", {onclick: () => receive({key})}, key))));
		input.select();
	}
}
