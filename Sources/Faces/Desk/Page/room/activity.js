// The activity of a peer: the ring around its face, and the words below.
import {brief, counted, dots, isolated, lasting, personKey, store, t} from "/parts.js";
import {rate, standstill, stateOf} from "/transfers.js";

// How long a tick stays, in milliseconds.
const TICK = 4000;

export const isUnderWay = transfer => transfer.state !== "over";

function words(transfer) {
	const {state, bytes, total, items, count, queued} = transfer;
	if (state === "asking") return t(queued ? "queuedAs" : "waits");
	if (state === "handling") return t("allStored");
	const quiet = standstill(transfer), speed = rate(transfer), left = total - bytes;
	const what = items.length === 1 && items[0].name ? isolated(brief(items[0].name))
		: counted(count || items.length || 1);
	return dots(what, quiet ? t("standsStill", {n: quiet}) : speed > 0 && left > 0
		&& t("left", {time: lasting(left / speed)}));
}

// {words, part, isOver, isGood}; null if nothing goes on. Of several transfers one that is under way counts.
export function activityOf(key) {
	let now = null;
	for (const transfer of store.transfers.values()) {
		if (personKey(transfer.peer) !== key || transfer.isSeen) continue;
		if (!isUnderWay(transfer) && (transfer.good || transfer.cancelled) && Date.now() - transfer.ended > TICK) continue;
		if (!now || isUnderWay(transfer) >= isUnderWay(now)) now = transfer;
	}
	if (!now) return null;
	if (!isUnderWay(now)) return {words: stateOf(now), isOver: true, isGood: !!now.good, transfer: now};
	const part = now.state === "moving" && now.total ? Math.min(1, now.bytes / now.total) : now.state === "handling" ? 1
		: undefined;
	return {words: words(now), part, transfer: now};
}
