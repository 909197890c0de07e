// Words for faults, from the codes of lines. The program's own words are for a terminal: they stand under *Details*.
import {h, replace, shown} from "/dom.js";
import {has, t} from "/words.js";

// Why something failed, as a sentence. `of` names the action, such as `unlock`.
export const why = ({exit, cause}, of = "") => t([`${of}-${exit}`, cause !== "fault" && "cause-" + cause,
	"exit-" + exit, "cause-" + cause]
	.find(key => key && has(key)) ?? "notDone");

// Why a call has failed; "" if it has not.
export const problem = ({exit, failed, path = ""}) => !exit ? "" : exit === -1 ? t("unreachable")
	: why({exit, ...failed}, path.split("/").at(-1));

// Texts of the program; nothing without one.
export const said = texts => texts.some(Boolean)
	&& h("details.said", h("summary", t("details")), texts.filter(Boolean).map(text => h("p.mono", shown(text))));

// Shows why a call has failed in a node; nothing if it has not.
export const tellFault = (node, result) => replace(node, problem(result),
	result.exit && said([result.failed?.reason, result.failed?.hint, ...(result.failed?.others ?? [])]));

// The same as an alarm.
export function faultOf(result) {
	const error = h("div.bad", {role: "alert"});
	tellFault(error, result);
	return error;
}
