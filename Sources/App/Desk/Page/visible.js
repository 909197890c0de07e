// Who can see this machine: a switch with its countdown.
import {alarm, changed, choices, eachSecond, lasting, make, on, problem, select, store, verb, word} from "/parts.js";

let ticking = new AbortController();

/** The time that is left, as text. */
export const countdown = () => lasting((store.visibility.until - Date.now()) / 1000);

/** Takes a line of the stream: it comes at each change, made anywhere. */
export function takeVisibility(line) {
	store.visibility = {...line, until: line.visibilitySeconds ? Date.now() + line.visibilitySeconds * 1000 : 0};
	ticking.abort();
	ticking = new AbortController();
	store.visibility.until ? eachSecond(() => changed("visibility"), ticking.signal) : changed("visibility");
}

/** The switch, kept up to date until the signal aborts. */
export function visibilitySwitch(signal) {
	const time = select([["10m", word("for10m")], ["1h", word("for1h")], ["", word("forEver")]], "10m", {"aria-label": word("howLong")});
	const note = make("p.help"), error = alarm();
	const choose = async value => {
		error.textContent = problem(await verb(["visible", value, ...(value === "everyone" && time.value ? ["--for", time.value] : [])]));
		draw();
	};
	const values = ["off", "contacts", "everyone"].map(value => [value, word("visible-" + value)]);
	const buttons = choices(word("visibleTitle"), "visible", values, "", choose);
	const draw = () => {
		const now = store.visibility;
		for (const input of buttons.querySelectorAll("input")) input.checked = input.value === now?.visibility;
		const then = now?.until ? " " + word("visibleThen", {time: countdown(), then: word("visible-" + now.visibilityThen)}) : "";
		note.textContent = now ? word(`seen-${now.visibility}-help`) + then : word("noReceiver");
	};
	time.onchange = () => store.visibility?.visibility === "everyone" && choose("everyone");
	on("visibility", draw, signal);
	draw();
	return make("fieldset.visible", make("legend", word("visibleTitle")), make("div.row", buttons, make("label.for", time)), note, error);
}
