// Sendings of this window: files that the browser has stream through, words and paths go by `waft send`.
import {say} from "/dom.js";
import {sample} from "/events.js";
import {changed, called, store, target} from "/store.js";
import {post, problem, read, verb} from "/verbs.js";
import {word} from "/words.js";

let number = 0;

function begin(peer, items) {
	const key = "out-" + ++number, stop = new AbortController();
	const transfer = {key, way: "out", peer, to: called(peer) || target(peer), items, count: items.length, total: items.reduce((sum, i) => sum + (i.size ?? 0), 0), bytes: 0,
		samples: [], state: "asking", began: Date.now(), results: [], stop};
	store.transfers.set(key, transfer);
	changed("transfers");
	return transfer;
}

/** Takes a line of `waft send --json`. */
function take(transfer, line) {
	switch (line.event) {
	case "offered": Object.assign(transfer, {state: "asking", items: line.items, count: line.count, total: line.size ?? transfer.total}); break;
	case "busy": transfer.note = line.reason ?? word("busy"); break;
	case "remark": (transfer.remarks ??= []).push(line.reason); break;
	case "resuming": Object.assign(transfer, {state: "moving", note: word("resuming") + (line.reason ? " " + line.reason : "")}); break;
	case "answered":
		Object.assign(transfer, {state: "moving", note: "", acceptedCount: line.acceptedCount});
		for (const {item, answer, reason} of line.answers) if (answer !== "accepted") transfer.results.push({item, name: transfer.items[item]?.name, state: answer, reason});
		break;
	case "progress": transfer.note = ""; sample(transfer, line.bytes, line.total); break;
	case "stored": case "sent": case "opened": result(transfer, line, line.event); break;
	case "failed": if (line.item !== undefined) result(transfer, line, "failed"); else transfer.reason = line.reason + (line.hint ? " – " + line.hint : ""); break;
	case "queued": Object.assign(transfer, {queued: line.job}); break;
	}
	changed("transfers");
}

function result(transfer, {item, name, stored, size, reason, exit, handlerAnswer}, state) {
	const old = transfer.results.find(r => r.item === item), now = {item, name, stored, size, state, reason, answer: handlerAnswer};
	if (old) Object.assign(old, state === "failed" && old.state !== "stored" ? {reason: reason ?? old.reason} : now); else transfer.results.push(now);
}

function finish(transfer, end) {
	const good = transfer.results.filter(r => /stored|sent|opened/.test(r.state)).length;
	const cancelled = transfer.stop.signal.aborted || (end.exit === 130 && !transfer.reason);
	Object.assign(transfer, {state: "over", good: end.exit === 0, cancelled, note: "",
		reason: end.exit === 0 || cancelled ? "" : transfer.reason ?? (transfer.results.length ? "" : problem(end))});
	say(end.exit === 0 ? word(transfer.queued ? "saidQueued" : "saidSent", {n: good, name: transfer.to}) : word("saidNotSent", {name: transfer.to}));
	changed("transfers");
	changed("outbox");
}

/** Sends files that the browser has; nothing is stored on the way. */
export async function sendFiles(peer, items, subject) {
	const transfer = begin(peer, items.map(({name, size, kind}) => ({name, size, kind})));
	try {
		const answer = await post("/sendings", {to: target(peer), subject: subject || null, items: items.map(({name, size, blob}) => ({name, size, type: blob.type || "application/octet-stream"}))});
		const {sending, message} = await answer.json();
		if (!answer.ok) return finish(transfer, {exit: 1, errors: message ?? ""});
		transfer.cancel = () => {transfer.stop.abort(); fetch("/sendings/" + sending, {method: "DELETE"});};
		if (transfer.stop.signal.aborted) transfer.cancel();
		finish(transfer, await read("/sendings/" + sending, {each: line => {
			if (line.event !== "wanted") return take(transfer, line);
			fetch(`/sendings/${sending}/items/${line.item}`, {method: "PUT", body: items[line.item].blob})
				.catch(async () => {// A page cannot tell a file that is gone from a connection that is.
					if (!await items[line.item].blob.slice(0, 1).arrayBuffer().catch(() => null)) {transfer.reason = word("unreadable"); fetch("/sendings/" + sending, {method: "DELETE"});}
				});
		}}));
	} catch {finish(transfer, {exit: 1, errors: word("unreachable")});}
}

/** Sends texts, links and paths of this machine by `waft send`; to a peer that is away, by the outbox. */
export async function sendWords(peer, {paths, words, subject}) {
	const items = [...paths.map(({name, path}) => ({name, path, kind: "file"})), ...(words ? [{name: words.text.slice(0, 80), kind: words.kind}] : [])];
	const transfer = begin(peer, items);
	transfer.cancel = () => transfer.stop.abort();
	const line = ["send", ...paths.map(({path}) => path), ...(words?.kind === "url" ? ["--url", words.text] : words ? ["--text", "-"] : []),
		...(subject ? ["--subject", subject] : []), "--to", target(peer), ...(peer.away ? ["--queue"] : ["--partial"])];
	finish(transfer, await verb(line, {input: words?.kind === "text" ? words.text : undefined, each: l => take(transfer, l), signal: transfer.stop.signal}));
}
