// Who can see this machine: one control with its countdown.
import {$, alarm, call, changed, choices, eachSecond, h, icon, inTurn, lasting, on, put, select, store, t,
	tellFault, update} from "/parts.js";

let ticking = new AbortController();
export const countdown = () => lasting((store.visibility.until - Date.now()) / 1000);

// Takes a line of the stream, which comes at each change.
export function takeVisibility(line) {
	store.visibility = {...line, until: line.visibilitySeconds ? Date.now() + line.visibilitySeconds * 1000 : 0};
	ticking.abort();
	ticking = new AbortController();
	store.visibility.until ? eachSecond(() => changed("visibility"), ticking.signal) : changed("visibility");
}

// Chooses one of the three, for a time such as `10m` or until it is changed.
export const seeThisMachine = (visibility, lasting) => call("visibility", {visibility, lasting});

// The three choices, up to date until the signal aborts. `name` tells them from others in the page.
export function visibleChoice(name, signal) {
	const time = select([["10m", t("for10m")], ["1h", t("for1h")], ["", t("forEver")]], "10m", {ariaLabel: t("howLong")});
	const note = h("p.help"), error = alarm();
	const choose = value => inTurn(async () => {
		tellFault(error, await seeThisMachine(value, value === "everyone" && time.value || undefined));
		draw();
	});
	const values = ["off", "contacts", "everyone"].map(value => [value, t("visible-" + value)]);
	const buttons = choices(t("visibleTitle"), name, values, "", choose);
	const draw = () => {
		const now = store.visibility;
		for (const input of buttons.querySelectorAll("input")) input.checked = input.value === now?.visibility;
		const seen = now ? t("seen-" + now.visibility) : "";
		put(note, now?.until ? t("visibleThen", {seen, time: countdown(), then: t("visible-" + now.visibilityThen)})
			: seen, now?.radioState && " " + t("radio-" + now.radioState));
	};
	time.onchange = () => store.visibility?.visibility === "everyone" && choose("everyone");
	on("visibility", draw, signal);
	draw();
	return h("fieldset.visible", h("legend", t("visibleTitle")), h("div.row", buttons, h("label.for", time)), note,
		error);
}

// The control in the bar, and what it opens.
export function startVisibility() {
	$("seen-menu").append(visibleChoice("visible"));
	const draw = () => {
		const {visibility, until} = store.visibility ?? {};
		$("seen").hidden = !visibility;
		$("seen").dataset.visibility = visibility ?? "";
		update($("seen"), h("span.dot"), h("span",
			visibility ? t("seen-" + visibility) + (until ? "\u00a0· " + countdown() : "") : ""),
			icon("below"));
	};
	on("visibility", draw);
	draw();
}
