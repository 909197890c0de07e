// The filters of the Inbox, the order and the room used. One button opens them, and says how many filters are on.
import {button, families, family, fold, h, icon, person, put, select, senderKey, show, t} from "/parts.js";
import {ORDERS, isLiar, isLocked, stamp} from "/entries.js";
import {roomPicture} from "/use.js";

const STATES = ["none", "waiting", "yes", "no", "failed", "parked", "locked", "liar"];

// `entries` gives all entries; `changed` is called at each change.
export function filters(entries, changed) {
	const picker = (label, first, ...options) =>
		select([["", t(first)], ...options], "", {ariaLabel: t(label), onchange: all});
	const byFamily = picker("type", "allTypes", ...families.map(name => [name, t("family-" + name)]));
	const bySender = picker("sender", "allSenders");
	const byTime = picker("time", "anyTime", [1, t("today")], [7, t("days7")], [30, t("days30")]);
	const byState = picker("state", "anyState", ...STATES.map(name => [name, t("delivery-" + name)]));
	const order = picker("order", "newest", ["name", t("byName")], ["size", t("largest")]);
	const pickers = [byFamily, bySender, byTime, byState], isOn = filter => filter.value !== "";
	const words = h("span"), none = button("allAgain", () => {for (const filter of pickers) filter.value = ""; all();});
	const used = fold([icon("used"), t("used")], {className: "used", ontoggle: drawUse}, h("div"));
	const panel = h("div#filters.card", {popover: "auto", role: "group", ariaLabel: t("filters"), ontoggle: drawUse},
		h("div.fields", ...pickers, order), none, used);
	const opener = h("button.filters", {"data-key": "filters"}, icon("filter"), words);
	opener.popoverTargetElement = panel;

	function all() {
		const n = pickers.filter(isOn).length;
		put(words, n ? t("filtersOn", {n}) : t("filters"));
		show(none, n);
		changed();
	}

	function drawUse() {if (used.open && panel.matches(":popover-open")) roomPicture(used.lastElementChild, entries());}

	put(words, t("filters"));
	show(none, false);
	return {
		opener, panel, drawUse,
		get isOn() {return pickers.some(isOn);},
		get order() {return ORDERS[order.value];},
		// Whether an entry passes, as a function for many.
		passes() {
			const [kind, sender, days, state] = pickers.map(({value}) => value);
			const since = days && new Date().setHours(0, 0, 0, 0) - (days - 1) * 864e5;
			const hasState = e => state === "locked" ? isLocked(e) : state === "liar" ? isLiar(e)
				: (e.delivery ?? "none") === state;
			return e => (!kind || family(e.type, e.kind) === kind) && (!sender || senderKey(e.from) === sender)
				&& stamp(e) >= since && (!state || hasState(e));
		},
		drawSenders() {
			const known = entries().filter(e => e.from).map(({from}) => [senderKey(from), person(from)]);
			const senders = [...new Map(known)], now = bySender.value;
			senders.sort(([, a], [, b]) => a.localeCompare(b));
			bySender.replaceChildren(...select([["", t("allSenders")], ...senders.slice(0, 500)]).children);
			bySender.value = now;
		},
	};
}
