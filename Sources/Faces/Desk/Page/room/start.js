// No receiver runs: one button starts it.
import {alarm, button, call, h, h2, on, put, show, store, t, tellFault} from "/parts.js";

// A section that is there while no receiver runs.
export function startReceiving(signal) {
	const error = alarm(), node = h("section.card.starts", {hidden: true}, h2("startTitle"), h("p", t("startText")),
		h("p.row", button("startNow", () => start(false), ".primary"), button("startAlways", () => start(true))), h("p.help", t("startHelp")), error);
	let busy = false;
	async function start(isLasting) {
		if (busy) return;
		busy = true;
		put(error, "");
		const result = await call("receiver/start", {isLasting});
		busy = false;
		tellFault(error, result);
	}
	const draw = () => show(node, store.isReceiving === false);
	on("receiver", draw, signal);
	draw();
	return node;
}
