// No receiver runs: one button starts it.
import {button, call, h, h2, on, replace, said, show, store, t} from "/parts.js";

export function startReceiving(signal) {
	const error = h("div.bad", {role: "alert"});
	const buttons = [button("startNow", () => start(false), ".primary"), button("startAlways", () => start(true))];
	const node = h("section.card.starts", {hidden: true}, h2("startTitle"), h("p", t("startText")), h("p.row", buttons),
		h("p.help", t("startHelp")), error);
	let busy = false;
	async function start(isLasting) {
		if (busy) return;
		busy = true;
		replace(error);
		buttons.forEach(button => {button.ariaDisabled = "true";});
		const result = await call("receiver/start", {isLasting});
		busy = false;
		buttons.forEach(button => {button.ariaDisabled = null;});
		if (!result.exit) return;
		replace(error, t(isLasting ? "noService" : "notStarted"), said([result.failed?.reason]));
	}
	const draw = () => show(node, store.isReceiving === false);
	on("receiver", draw, signal);
	draw();
	return node;
}
