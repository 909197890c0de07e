// The room that the Inbox uses: by type, by sender, by day.
import {called, day, family, h, replace, shown, size, svg, t} from "/parts.js";

function sums(entries, key) {
	const all = new Map();
	for (const entry of entries) {const k = key(entry); all.set(k, (all.get(k) ?? 0) + (entry.size ?? 0));}
	return all;
}

// Bars, the longest first; from the seventh on they are one.
function bars(title, all, label) {
	const sorted = [...all].sort((a, b) => b[1] - a[1]), first = sorted.slice(0, 6), rest = sorted.slice(6).reduce((sum, [, n]) => sum + n, 0), most = first[0]?.[1] || 1;
	if (rest) first.push([null, rest]);
	const bar = (name, width) => svg("rect", {class: name, width, height: 4, rx: 1});
	return h("figure", h("figcaption", title), h("ul.bars", first.map(([key, bytes]) =>
		h("li", h("bdi.bar-name", key === null ? t("rest") : label(key)), h("span.note", size(bytes)),
			svg("svg", {viewBox: "0 0 100 4", preserveAspectRatio: "none", "aria-hidden": "true"}, bar("ground", 100), bar("bar", Math.max(.5, Math.min(100, bytes / most * 100))))))));
}

// Columns of the last thirty days.
function days(entries) {
	const midnight = new Date().setHours(0, 0, 0, 0), columns = Array(30).fill(0);
	for (const entry of entries) {
		const age = Math.ceil((midnight - new Date(entry.arrived ?? entry.modified)) / 864e5);
		if (age < 30) columns[29 - Math.max(0, age)] += entry.size ?? 0;
	}
	const most = Math.max(...columns) || 1, date = n => day(new Date(midnight - (29 - n) * 864e5)), label = t("byDayLabel", {size: size(columns.reduce((a, b) => a + b, 0))});
	const column = (name, n, height) => svg("rect", {class: name, x: n * 10, y: 80 - height, width: 8, height, rx: 1.5});
	return h("figure", h("figcaption", t("byDay")), svg("svg", {class: "days", viewBox: "0 0 300 80", role: "img", "aria-label": label}, columns.map((bytes, n) =>
		svg("g", svg("title", `${date(n)}: ${size(bytes)}`), column("ground", n, 80), bytes > 0 && column("bar", n, Math.max(2, Math.round(bytes / most * 80)))))),
	h("p.axis.note", h("span", date(0)), h("span", date(29))));
}

export function roomPicture(node, entries) {
	replace(node, bars(t("byType"), sums(entries, e => family(e.type, e.kind)), key => t("family-" + key)),
		bars(t("bySender"), sums(entries, e => called(e.from)), key => shown(key) || t("unknownSender")), days(entries));
}
