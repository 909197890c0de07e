// The lines of the two streams, put into the store.
import {shown, say} from "/dom.js";
import {changed, store, called} from "/store.js";
import {word} from "/words.js";

/** A transfer toward this machine, found by its id or begun. */
function incoming(line) {
	let transfer = store.transfers.get(line.transfer);
	if (!transfer) {
		const offer = [...store.offers.values()].find(o => o.transfer === line.transfer);
		transfer = {key: line.transfer, way: "in", peer: line.from ?? offer?.from ?? {}, items: offer?.items ?? [], count: offer?.count ?? 0,
			total: offer?.size ?? 0, bytes: 0, samples: [], state: "moving", began: Date.now(), results: []};
		store.transfers.set(line.transfer, transfer);
	}
	if (line.from && (line.from.contact || line.from.name)) transfer.peer = line.from;
	return transfer;
}

export function sample(transfer, bytes, total) {
	transfer.bytes = bytes;
	if (total) transfer.total = total;
	const last = transfer.samples.at(-1), now = performance.now();
	if (!last || now - last.at > 200) transfer.samples.push({at: now, bytes});
	if (transfer.samples.length > 600) transfer.samples = transfer.samples.filter((_, n) => n % 2);
}

function result(transfer, line, state) {
	const old = transfer.results.find(r => r.item === line.item && line.item !== undefined);
	const now = {item: line.item, name: line.name, stored: line.stored, size: line.size, state, reason: line.reason, arrival: line.arrival, answer: line.handlerAnswer};
	if (old) Object.assign(old, Object.fromEntries(Object.entries(now).filter(([, v]) => v !== undefined)));
	else if (transfer.results.length < 500) transfer.results.push(now);
	transfer.count ||= transfer.results.length;
}

const peerKey = line => line.id ?? line.handle ?? line.name;

/** Sorts a line into the store, and tells the views. */
export function heard(line) {
	switch (line.event) {
	case "ready":
		store.receiver = line;
		return changed("receiver");
	case "found": {
		store.peers.set(peerKey(line), line);
		if (line.rememberedAs) store.away.delete(line.rememberedAs);
		return changed("peers");
	}
	case "lost":
		store.peers.delete(peerKey(line));
		return changed("peers");
	case "away":
		for (const [key, peer] of store.peers) if (peer.rememberedAs === line.name) store.peers.delete(key);
		store.away.set(line.name, line);
		return changed("peers");
	case "offer":
		store.offers.set(line.offer, {...line, since: Date.now()});
		say(word("asks", {name: shown(called(line.from)), items: word("items", {n: line.count})}));
		return changed("offers");
	case "answered": {
		const offer = store.offers.get(line.offer);
		if (line.acceptedCount) {
			const transfer = incoming(line);
			transfer.total = transfer.items.reduce((sum, item) => sum + (line.answers.find(a => a.item === item.item)?.answer === "accepted" ? item.size ?? 0 : 0), 0);
			transfer.count = line.acceptedCount;
			transfer.results = line.answers.filter(a => a.answer !== "accepted").map(({item, answer}) => ({item, name: transfer.items[item]?.name, state: answer}));
		}
		else if (offer && line.answers.some(a => a.answer === "expired")) say(word("expired"));
		store.offers.delete(line.offer);
		changed("transfers");
		return changed("offers");
	}
	case "progress":
		sample(incoming(line), line.bytes, line.total);
		return changed("transfers");
	case "stored": {
		const transfer = incoming(line);
		result(transfer, line, "stored");
		const done = transfer.results.reduce((sum, r) => sum + (r.state === "stored" ? r.size ?? 0 : 0), 0);
		if (done > transfer.bytes) sample(transfer, done, Math.max(transfer.total, done));
		changed("transfers");
		return changed("arrivals", line);
	}
	case "opened": case "deferred":
		if (store.transfers.has(line.transfer)) result(store.transfers.get(line.transfer), line, line.event);
		changed("transfers");
		return changed("arrivals", line);
	case "failed":
		if (line.exit) return;
		result(incoming(line), line, line.arrival ? "handlerFailed" : "failed");
		changed("transfers");
		return line.arrival && changed("arrivals", line);
	case "done":
		if (store.transfers.has(line.transfer)) {
			const transfer = incoming(line), told = new Set(transfer.results.map(r => r.item));
			// Items that are in the Inbox already are not stored again.
			if (!line.reason && transfer.results.length < 500) for (const item of transfer.items) if (!told.has(item.item)) transfer.results.push({...item, state: "there"});
			const stored = transfer.results.filter(r => /stored|opened|deferred|there/.test(r.state)).length;
			Object.assign(transfer, {state: "over", reason: line.reason, good: !line.reason && stored > 0});
			if (stored) say(word("arrived", {n: stored, name: called(transfer.peer)}));
			changed("transfers");
		}
		return;
	case "taken": case "removed": case "gone":
		return changed("arrivals", line);
	case "settings":
		changed("contactsChanged");
		return changed("settings", line);
	case "locked": case "unlocked":
		store.protection = {...store.protection, ...line};
		return changed("protection", line);
	}
}
