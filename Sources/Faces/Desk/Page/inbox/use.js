// The room that the Inbox uses: by type, by sender, by day.
import {day, family, h, person, replace, senderKey, size, sum, svg, t} from "/parts.js";

function sums(entries, key) {
	const all = new Map();
	for (const entry of entries) {const k = key(entry); all.set(k, (all.get(k) ?? 0) + (entry.size ?? 0));}
	return all;
}

// Bars of at most seven sums; more are one in the last.
function bars(title, sums, label) {
	const first = sums.slice(0, 6), rest = sum(sums.slice(6), one => one[1]);
	if (rest) first.push(["", rest]);
	const most = Math.max(1, ...first.map(([, bytes]) => bytes));
	const bar = (name, width) => svg("rect", {class: name, width, height: 4, rx: 1});
	return h("figure", h("figcaption", t(title)), h("ul.bars", first.map(([key, bytes], n) =>
		h("li", h("bdi", n === 6 ? t("rest") : label(key)), h("span.note", size(bytes)),
			svg("svg", {viewBox: "0 0 100 4", preserveAspectRatio: "none", "aria-hidden": "true"}, bar("ground", 100),
				bar("bar", Math.max(.5, bytes / most * 100)))))));
}

const largest = all => [...all].sort((a, b) => b[1] - a[1]);

export function roomPicture(node, entries) {
	const days = [...sums(entries, e => new Date(e.arrived ?? e.modified).setHours(0, 0, 0, 0))].sort(([a],
		[b]) => b - a);
	const senders = new Map(entries.map(({from}) => [senderKey(from), from]));
	replace(node, bars("byType", largest(sums(entries, e => family(e.type, e.kind))), key => t("family-" + key)),
		bars("bySender", largest(sums(entries, e => senderKey(e.from))),
			key => key ? person(senders.get(key)) : t("unknownSender")), bars("byDay", days, day));
}
