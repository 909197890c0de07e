// What `waft doctor` found, as a list.
import {icon, make, problem, replace, shown, verb, word} from "/parts.js";

const ORDER = ["problem", "warning", "ok"], ICONS = {problem: "cross", warning: "warn", ok: "check"};

const check = ({result, name, reason, hint}) => make("li." + result, icon(ICONS[result]),
	make("div", make("strong", word("check-" + result), ": ", shown(name)), make("p", shown(reason)), hint && make("p.help", "→ ", shown(hint))));

/** Runs doctor into a node. Problems and warnings come first. */
export async function examine(node) {
	replace(node, make("p.help", {role: "status"}, word("examining")));
	const result = await verb(["doctor"]), checks = result.lines.filter(line => line.event === "check");
	checks.sort((a, b) => ORDER.indexOf(a.result) - ORDER.indexOf(b.result));
	const good = checks.filter(c => c.result === "ok"), bad = checks.filter(c => c.result !== "ok");
	replace(node, checks.length ? make("ul.checks", bad.map(check)) : make("p.bad", problem(result)),
		good.length > 0 && make("details", make("summary", word("wellChecks", {n: good.length})), make("ul.checks", good.map(check))));
}
