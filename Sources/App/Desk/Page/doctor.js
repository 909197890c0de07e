// What `waft doctor` found, as a list.
import {fold, h, icon, linesOf, problem, replace, shown, status, t, verb} from "/parts.js";

const ORDER = ["problem", "warning", "ok"], ICONS = {problem: "cross", warning: "warn", ok: "check"};

const check = ({result, name, reason, hint}) => h("li." + result, icon(ICONS[result]),
	h("div", h("strong", t("check-" + result), ": ", shown(name)), h("p", shown(reason)), hint && h("p.help", "→ ", shown(hint))));

// Runs doctor into a node. Problems and warnings come first.
export async function examine(node) {
	replace(node, status(t("examining")));
	const result = await verb(["doctor"]), checks = linesOf(result, "check");
	checks.sort((a, b) => ORDER.indexOf(a.result) - ORDER.indexOf(b.result));
	const good = checks.filter(c => c.result === "ok"), bad = checks.filter(c => c.result !== "ok");
	replace(node, checks.length ? h("ul.checks", bad.map(check)) : h("p.bad", problem(result)),
		good.length > 0 && fold(t("wellChecks", {n: good.length}), h("ul.checks", good.map(check))));
}
