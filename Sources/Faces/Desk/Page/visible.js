// Who can see this machine: a switch with its countdown.
import {alarm, call, changed, choices, eachSecond, h, inTurn, lasting, on, problem, put, select, store, t} from "/parts.js";

let ticking = new AbortController();
export const countdown = () => lasting((store.visibility.until - Date.now()) / 1000);

// Takes a line of the stream, which comes at each change.
export function takeVisibility(line) {
	store.visibility = {...line, until: line.visibilitySeconds ? Date.now() + line.visibilitySeconds * 1000 : 0};
	ticking.abort();
	ticking = new AbortController();
	store.visibility.until ? eachSecond(() => changed("visibility"), ticking.signal) : changed("visibility");
}

// The switch, up to date until the signal aborts.
export function visibilitySwitch(signal) {
	const time = select([["10m", t("for10m")], ["1h", t("for1h")], ["", t("forEver")]], "10m", {ariaLabel: t("howLong")});
	const note = h("p.help"), error = alarm();
	const choose = value => inTurn(async () => {
		put(error, problem(await call("visibility", {visibility: value, lasting: value === "everyone" && time.value || undefined})));
		draw();
	});
	const values = ["off", "contacts", "everyone"].map(value => [value, t("visible-" + value)]);
	const buttons = choices(t("visibleTitle"), "visible", values, "", choose);
	const draw = () => {
		const now = store.visibility;
		for (const input of buttons.querySelectorAll("input")) input.checked = input.value === now?.visibility;
		const seen = now ? t("seen-" + now.visibility) : t("noReceiver");
		put(note, now?.until ? t("visibleThen", {seen, time: countdown(), then: t("visible-" + now.visibilityThen)}) : seen);
	};
	time.onchange = () => store.visibility?.visibility === "everyone" && choose("everyone");
	on("visibility", draw, signal);
	draw();
	return h("fieldset.visible", h("legend", t("visibleTitle")), h("div.row", buttons, h("label.for", time)), note, error);
}
