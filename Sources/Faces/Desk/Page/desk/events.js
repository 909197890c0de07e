// The lines of the two streams, put into the store.
import {call, changed, countedOf, cut, face, hasThumb, h, person, problem, say, store, sum, t, why} from "/parts.js";
import {openSheet} from "/send.js";
import {tell, unseen} from "/feedback.js";
import {takeVisibility} from "/visible.js";

export const transferOf = more => ({items: [], total: 0, bytes: 0, samples: [], began: Date.now(), results: [],
	said: new Set(), ...more});

// A transfer toward this machine, found or begun.
function incoming({transfer: key, from}) {
	let transfer = store.transfers.get(key);
	if (!transfer) {
		const offer = [...store.offers.values()].find(o => o.transfer === key) ?? {};
		transfer = transferOf({key, way: "in", peer: from ?? offer.from ?? {}, items: offer.items ?? [],
			count: offer.count ?? 0, total: offer.size ?? 0, state: "moving"});
		transfer.cancel = async () => {
			const result = await call("transfers/cancel", {transfer: key});
			Object.assign(transfer, result.exit ? {note: problem(result)} : {cancelled: true});
			changed("transfers");
		};
		store.transfers.set(key, transfer);
	}
	if (from?.contact || from?.name) transfer.peer = from;
	return transfer;
}

export function sample(transfer, bytes, total) {
	[transfer.bytes, transfer.heard] = [bytes, performance.now()];
	if (total) transfer.total = total;
	const last = transfer.samples.at(-1), now = performance.now();
	if (!last || now - last.at > 200) transfer.samples.push({at: now, bytes});
	if (transfer.samples.length > 600) transfer.samples = transfer.samples.filter((_, n) => n % 2);
}

// An item is where it should be.
export const okay = ({state}) => /^(stored|sent|opened|deferred|handlerFailed|there)$/.test(state);

// Keeps the program's own words about a transfer, for its details.
export function tellsMore(transfer, {name, reason}) {
	if (reason && transfer.said.size < 50) transfer.said.add((name ? name + ": " : "") + reason);
}

// Puts the fate of an item into its transfer.
export function settle(transfer, line, state) {
	const {item, name, stored, size, cause, exit, arrival, path, type, handlerAnswer: answer} = line;
	const now = {item, name, stored, size, state, cause, exit, arrival, path, type, answer};
	tellsMore(transfer, line);
	const old = transfer.results.find(r => r.item === item && item !== undefined);
	if (old) Object.assign(old, Object.fromEntries(Object.entries(now).filter(([, value]) => value !== undefined)));
	else if (transfer.results.length < 500) transfer.results.push(now);
	transfer.count ||= transfer.results.length;
}

function answered(line) {
	if (line.acceptedCount) {
		const transfer = incoming(line), yes = new Set(line.answers.filter(a => a.answer === "accepted").map(a => a.item));
		transfer.count = line.acceptedCount;
		if (!transfer.items.length) transfer.items = line.items ?? [];
		if (transfer.items.length) transfer.total = sum(transfer.items, item => yes.has(item.item) && item.size);
		transfer.results = line.answers.filter(a => !yes.has(a.item)).map(({item, answer}) => ({item,
			name: transfer.items[item]?.name, state: answer}));
	} else if (store.offers.has(line.offer) && line.answers.some(a => a.answer === "expired")) say(t("expired"));
	store.offers.delete(line.offer);
	changed("transfers");
	changed("offers");
}

// The end of a transfer; `cause` is that of its failure.
function done(line) {
	const transfer = store.transfers.get(line.transfer);
	if (!transfer) return;
	tellsMore(transfer, line);
	const told = new Set(transfer.results.map(r => r.item));
	// Items that are here already are not stored again.
	if (!line.reason && told.size < 500) {
		const others = transfer.items.filter(item => !told.has(item.item));
		if (!told.size && !others.length) others.push({});
		transfer.results.push(...others.map(item => ({...item, state: "there"})));
	}
	const stored = transfer.results.filter(okay).length;
	Object.assign(transfer, {state: "over", ended: Date.now(), reason: line.cause && why(line),
		good: !line.reason && stored > 0});
	if (stored) tellArrival(transfer, stored);
	setTimeout(() => changed("transfers"), 4100);
	changed("transfers");
}

// Something is in the Inbox: its picture, and what people do with it.
function tellArrival(transfer, stored) {
	const {results, peer} = transfer, first = results.find(({state, arrival}) => state !== "there" && arrival);
	const {arrival, path, type} = first ?? {};
	const act = (words, path, values) => [t(words), async () => {
		const result = await call(path, values);
		if (result.exit) tell({text: problem(result), picture: face(peer)});
	}];
	// The file of a sealed item is of no use to others.
	const one = stored === 1 && arrival, isSealed = (store.protection?.protection ?? "none") !== "none";
	const picture = arrival && hasThumb(type) ? h("img", {src: `${store.facts.previews}/items/${arrival}/thumb`, alt: "",
		onerror: ({target}) => target.replaceWith(face(peer))}) : face(peer);
	unseen();
	tell({
		isArrival: true,
		text: t("arrived", {items: countedOf(results.filter(okay), stored), who: person(peer)}),
		note: one ? cut(results[0].stored ?? results[0].name) : "", picture,
		actions: arrival ? [one && act("open", "inbox/open", {item: String(arrival)}),
			[t("show"), () => {location.hash = "#inbox/" + arrival;}],
			one && path && !isSealed && [t("sendOn"), () => openSheet({paths: [path]})]].filter(Boolean)
				: [[t("show"), () => {location.hash = "#inbox";}]],
	});
}

const peerKey = line => line.id ?? line.handle ?? line.name;

function lost(line) {
	store.peers.delete(peerKey(line));
	changed("peers");
}

function arrived(line) {
	if (store.transfers.has(line.transfer)) settle(incoming(line), line, line.event);
	changed("transfers");
	changed("arrivals", line);
}

const moved = line => changed("arrivals", line);

function sealed(line) {
	store.protection = {...store.protection, ...line};
	changed("protection");
}

const HEARD = {
	visibility: takeVisibility, lost, answered, done, opened: arrived, deferred: arrived, taken: moved, removed: moved,
		gone: moved,
	locking: sealed, locked: sealed, unlocked: sealed,
	ready(line) {
		store.receiver = line;
		changed("receiver");
	},
	found(line) {
		store.peers.set(peerKey(line), line);
		store.away.delete(line.rememberedAs);
		changed("peers");
	},
	away(line) {
		for (const [key, peer] of store.peers) if (peer.rememberedAs === line.name) store.peers.delete(key);
		store.away.set(line.name, line);
		changed("peers");
	},
	offer(line) {
		store.offers.set(line.offer, line);
		changed("offers");
	},
	progress(line) {
		sample(Object.assign(incoming(line), {state: "moving", reason: ""}), line.bytes, line.total);
		changed("transfers");
	},
	stored(line) {
		const transfer = incoming(line);
		settle(transfer, line, "stored");
		const bytes = sum(transfer.results, r => r.state === "stored" && r.size);
		if (bytes > transfer.bytes) sample(transfer, bytes, Math.max(transfer.total, bytes));
		changed("transfers");
		changed("arrivals", line);
	},
	failed(line) {
		if (line.exit) return;
		if (line.item === undefined) return done(line);
		settle(incoming(line), line, line.arrival ? "handlerFailed" : "failed");
		changed("transfers");
		if (line.arrival) changed("arrivals", line);
	},
	contacts: () => changed("contactsChanged"), settings: () => changed("settings"),
};

export const heard = line => HEARD[line.event]?.(line);
