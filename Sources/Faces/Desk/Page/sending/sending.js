// Sendings of this window. Files of the browser go through.
import {called, changed, counted, dots, face, person, post, problem, read, request, say, store, sum, t, target,
	why} from "/parts.js";
import {okay, sample, settle, tellsMore, transferOf} from "/events.js";
import {tell} from "/feedback.js";
import {stateOf} from "/transfers.js";

let number = 0;

// A sending to a peer or a group; `again` repeats it, and `stop` ends it.
export function begin(peer, {blobs, paths, words}, again, stop = new AbortController()) {
	const items = [...paths.map(({name}) => ({name, kind: "file"})),
		...(words ? [{name: words.text.slice(0, 80), kind: words.kind}] : []),
			...blobs.map(({name, size, kind}) => ({name, size, kind}))], total = sum(items, item => item.size);
	const transfer = transferOf({key: "out-" + ++number, way: "out", peer, to: person(peer), items, count: items.length,
		total, state: "asking", stop, cancel: () => stop.abort(), of: peer.members?.length,
		// What the browser hands over is copied first, as each member gets it.
		copies: peer.members?.length > 1 && blobs.length > 0,
		parts: peer.members?.map(one => ({id: one.id, name: called(one), bytes: 0, total}))});
	transfer.again = () => {store.transfers.delete(transfer.key); again();};
	store.transfers.set(transfer.key, transfer);
	changed("transfers");
	return transfer;
}

// A line about a member of a group. The transfer has the sums of all, and a result for each.
function takeOf(transfer, {to, event, item, exit, cause, reason, moved, ...line}) {
	const {parts} = transfer, part = parts.find(({id}) => id === to);
	if (!part) return;
	transfer.copies = false;
	tellsMore(transfer, {name: part.name, reason});
	switch (event) {
	case "offered":
		Object.assign(transfer, {items: line.items, count: line.count});
		part.total = line.size ?? part.total; break;
	case "remark": transfer.hasRemarks = true; break;
	case "answered": part.moves = line.acceptedCount > 0; break;
	case "progress": Object.assign(part, {bytes: line.bytes, total: line.total ?? part.total}); break;
	case "failed": part.fault ??= {exit, cause};
	}
	// A member's last item tells what has moved.
	if (moved !== undefined || (event === "failed" && item === undefined)) {
		const {fault, bytes, total} = part, whole = fault ? bytes : total;
		Object.assign(part, {moves: false, bytes: whole, total: whole});
		settle(transfer, {item: to, name: part.name, ...fault},
			!fault ? "stored" : fault.exit === 12 ? "declined" : "failed");
	}
	const bytes = sum(parts, part => part.bytes), total = sum(parts, part => part.total);
	Object.assign(transfer, {total, state: parts.some(part => part.moves) ? "moving" : "asking"});
	if (bytes !== transfer.bytes) sample(transfer, bytes, total);
}

function take(transfer, line) {
	if (transfer.parts && line.to) {takeOf(transfer, line); return changed("transfers");}
	switch (line.event) {
	case "offered": Object.assign(transfer, {state: "asking", items: line.items, count: line.count,
		total: line.size ?? transfer.total}); break;
	case "busy": transfer.note = t("busy"); break;
	case "remark": transfer.hasRemarks = true; break;
	case "resuming": Object.assign(transfer, {state: "moving", note: t("resuming")}); break;
	case "answered":
		Object.assign(transfer, {state: "moving", note: ""});
		for (const one of line.answers) if (one.answer !== "accepted") settle(transfer,
			{...one, name: transfer.items[one.item]?.name}, one.answer);
		break;
	case "progress": transfer.note = ""; sample(transfer, line.bytes, line.total); break;
	case "handling": Object.assign(transfer, {state: "handling", note: t("delivery-waiting"), cancel: null}); break;
	case "stored": case "sent": case "opened": settle(transfer, line, line.event); break;
	case "failed":
		if (line.item === undefined) transfer.reason = why(line);
		else {
			// An answer such as `declined` says more than that the item has failed.
			const {state} = transfer.results.find(r => r.item === line.item) ?? {};
			settle(transfer, line, state && state !== "stored" ? state : "failed");
		}
		break;
	case "queued": transfer.queued = line.job; break;
	}
	tellsMore(transfer, line);
	changed("transfers");
}

function finish(transfer, end) {
	// A handler that does not say yes is no fault of the sending.
	const n = transfer.results.filter(okay).length,
		good = !end.exit || (n > 0 && n === (transfer.of ?? transfer.results.length));
	const cancelled = transfer.stop.signal.aborted || (end.exit === 130 && !transfer.reason);
	const reason = good || cancelled ? "" : transfer.reason ?? (transfer.results.length ? "" : problem(end));
	Object.assign(transfer, {state: "over", ended: Date.now(), good, cancelled, note: "", reason});
	setTimeout(() => {
		// The job in the outbox says how it goes on.
		if (good && transfer.queued) store.transfers.delete(transfer.key);
		changed("transfers");
	}, 4100);
	const some = transfer.of && !good && n > 0, text = some ? dots(transfer.to, stateOf(transfer))
		: t(!good ? "saidNotSent" : transfer.queued ? "saidQueued" : "saidSent",
			{items: counted(transfer.of ? transfer.count : n), who: transfer.to});
	// A face and the card of the transfer show the end themselves, if no dialog lies over them.
	const isSeen = document.querySelector("dialog[open] .peer, body:not(:has(dialog[open]))"
		+ " :is(main.room, main.transfers, main .strip:not([hidden]))");
	if (cancelled || isSeen) say(text);
	else tell({text, note: good || some ? "" : reason || stateOf(transfer), picture: face(transfer.peer),
		actions: [[t("show"), () => {location.hash = "#transfers";}]]});
	changed("transfers");
	changed("outbox");
}

// A page cannot tell a file that is gone from a lost connection.
async function areReadable({blob, files = [blob]}) {
	for (const file of files) if (!await file.slice(0, 1).arrayBuffer().catch(() => null)) return false;
	return true;
}

// Waft's own peers tell what their handlers say.
const waitOf = peer => !peer.away && peer.via === "waft" ? "opened" : "stored";

// The items to send as a document: files of the browser, paths of this machine, and a text or a link.
export const sendingOf = ({blobs, paths, words},
	more) => ({...more, subject: more?.subject || undefined,
	items: blobs.map(({name, size, kind, entries}) => ({name, size, kind, entries})),
	paths: paths.map(({path}) => path), [words?.kind ?? "text"]: words?.text});

// Hands all of it to a peer or an activity. `unreadable` tells of a lost file.
export async function stream(things, more, {each, signal, unreadable}) {
	const answer = await post("/sendings", sendingOf(things, more)), {sending, message} = await answer.json();
	if (!answer.ok) return {exit: 1, failed: {reason: message ?? ""}};
	const path = "/sendings/" + sending, end = () => request(path, "DELETE");
	signal?.addEventListener("abort", end);
	if (signal?.aborted) end();
	return read(path, {each: line => {
		if (line.event !== "wanted") return each(line);
		const item = things.blobs[line.item];
		request(`${path}/items/${line.item}`, "PUT", item.blob).catch(async () => {
			if (!await areReadable(item)) {unreadable?.(); end();}
		});
	}});
}

// A group with those that did not get everything; a peer is always itself.
const rest = (peer, {results}) => !peer.members ? peer : {...peer,
	members: peer.members.filter(({id}) => !results.some(r => r.item === id && okay(r)))};

// Sends to a peer or a group; to a peer that is away, by the outbox.
export function send(peer, things, subject) {
	const transfer = begin(peer, things, () => send(rest(peer, transfer), things, subject)),
		to = peer.members ? {group: peer.name, members: peer.members.map(({id}) => id)} : {to: target(peer)};
	// LocalSend names each file of a folder before it is there.
	const queue = peer.away || /^local/.test(peer.via) && things.blobs.some(i => i.kind === "tree");
	follow(things, {...to, wait: waitOf(peer), queue, subject}, transfer.stop, transfer);
}

// Follows a sending to its end. Without a transfer, `meet` gets the lines until it returns one.
export async function follow(things, more, {signal}, transfer, meet) {
	const end = await stream(things, more, {
		signal,
		each: line => {transfer ? take(transfer, line) : transfer = meet(line);},
		unreadable: () => {transfer.reason = t("unreadable");},
	}).catch(() => ({exit: -1}));
	if (transfer) finish(transfer, end);
	return end;
}
