// Who can see this machine: a switch with its countdown.
import {alarm} from "/parts.js";
import {make} from "/dom.js";
import {changed, on, store} from "/store.js";
import {problem, verb} from "/verbs.js";
import {lasting, word} from "/words.js";

let ticking = 0;

/** Seconds that are left, as text. */
export const countdown = () => lasting((store.visibility.until - Date.now()) / 1000);

function take(result) {
	const line = result?.lines?.find(l => l.event === "visibility");
	if (!line) return;
	store.visibility = {...line, until: line.visibilitySeconds ? Date.now() + line.visibilitySeconds * 1000 : 0};
	clearInterval(ticking);
	if (store.visibility.until) ticking = setInterval(() => {
		if (store.visibility.until <= Date.now()) {clearInterval(ticking); setTimeout(learnVisibility, 700);}
		else if (!document.hidden) changed("visibility");
	}, 1000);
	changed("visibility");
}

export const learnVisibility = async () => take(await verb(["visible"]));

/** The switch, kept up to date until the signal aborts. */
export function visibilitySwitch(signal) {
	const time = make("select", {"aria-label": word("howLong"), "data-key": "for"},
		...[["10m", "for10m"], ["1h", "for1h"], ["", "forEver"]].map(([value, key]) => make("option", {value}, word(key))));
	const note = make("p.help"), error = alarm(), choices = make("div.choices");
	const choose = async value => {
		error.textContent = "";
		const result = await verb(["visible", value, ...(value === "everyone" && time.value ? ["--for", time.value] : [])]);
		error.textContent = problem(result);
		result.exit ? learnVisibility() : take(result);
	};
	for (const value of ["off", "contacts", "everyone"]) choices.append(make("label",
		make("input", {type: "radio", name: "visible", value, onchange: () => choose(value)}), make("span", word("visible-" + value))));
	const draw = () => {
		const now = store.visibility;
		for (const input of choices.querySelectorAll("input")) input.checked = input.value === now?.visibility;
		const then = now?.until ? " " + word("visibleThen", {time: countdown(), then: word("visible-" + now.visibilityThen)}) : "";
		note.textContent = now ? word("seen-" + now.visibility + "-help") + then : word("noReceiver");
	};
	time.onchange = () => store.visibility?.visibility === "everyone" && choose("everyone");
	on("visibility", draw, signal);
	draw();
	return make("fieldset.visible", make("legend", word("visibleTitle")), make("div.row", choices, make("label.for", time)), note, error);
}
