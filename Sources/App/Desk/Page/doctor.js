// What `waft doctor` found, as a list.
import {make, replace, shown} from "/dom.js";
import {icon} from "/icons.js";
import {problem, verb} from "/verbs.js";
import {word} from "/words.js";

/** Runs doctor into a node. Warnings and problems come first. */
export async function examine(node) {
	replace(node, make("p.help", {role: "status"}, word("examining")));
	const result = await verb(["doctor"]);
	const checks = result.lines.filter(line => line.event === "check"), weight = {problem: 0, warning: 1, ok: 2};
	const line = ({result, name, reason, hint}) => make(`li.${result}`, icon(result === "ok" ? "check" : result === "warning" ? "warn" : "cross"),
		make("div", make("strong", word("check-" + result), ": ", shown(name)), make("p", shown(reason)), hint && make("p.help", "→ ", shown(hint))));
	checks.sort((a, b) => weight[a.result] - weight[b.result]);
	const good = checks.filter(c => c.result === "ok"), bad = checks.filter(c => c.result !== "ok");
	replace(node, checks.length ? make("ul.checks", {role: "list"}, bad.map(line)) : make("p.bad", problem(result)),
		good.length > 0 && make("details", make("summary", word("wellChecks", {n: good.length})), make("ul.checks", {role: "list"}, good.map(line))));
}
