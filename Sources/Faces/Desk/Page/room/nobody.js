// The room without peers: three things to do, and the findings of `waft doctor` if something is wrong.
import {button, call, h, h2, icon, linesOf, oneOf, put, replace, said, show, store, t} from "/parts.js";
import {seeThisMachine} from "/visible.js";
import {invite} from "/invite.js";

const SIGNS = {problem: "cross", warning: "warn"};

const finding = ({result, name, reason, hint}) => h("li." + result,
	h("span", {title: t("check-" + result)}, icon(SIGNS[result])),
	h("div", h("p", oneOf("wrong-", name)), said([reason, hint && "→ " + hint])));

// A section with `show(yes)`.
export function nobody(signal) {
	const found = h("div"), seen = button("alsoHere", () => seeThisMachine("everyone", "10m"), ".primary");
	const step = (n, ...rest) => h("li", h("span.number", {"aria-hidden": "true"}, n), rest);
	const title = h2("nobodyTitle");
	const steps = h("ol", step(1, h("p", t("nobodyOpen"))), step(2, h("p", t("nobodySeen")), seen),
		step(3, h("p", t("nobodyPhone")), button("showCode", invite)));
	const node = h("section.nobody", {hidden: true}, title, steps, found);
	async function examine() {
		const checks = linesOf(await call("doctor", {}, {signal}), "check").filter(({result}) => result in SIGNS);
		checks.sort((a, b) => Object.keys(SIGNS).indexOf(a.result) - Object.keys(SIGNS).indexOf(b.result));
		replace(found, checks.length > 0 && [h("h3", t("inTheWay")), h("ul.checks", checks.map(finding)),
			h("p.row", button("examineAgain", examine))]);
	}
	// `isBrief`: only the findings. The first steps say what to do.
	node.show = (yes, isBrief) => {
		if (yes && node.hidden) examine();
		show(node, yes);
		show(title, !isBrief);
		show(steps, !isBrief);
		show(seen, store.visibility?.visibility !== "everyone");
		put(seen, t("alsoHere"));
	};
	return node;
}
