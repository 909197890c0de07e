// The view of the settings: a form made from `config schema` and `config list`.
import {alarm, dots} from "/parts.js";
import {make, replace, shown} from "/dom.js";
import {icon} from "/icons.js";
import {on} from "/store.js";
import {problem, verb} from "/verbs.js";
import {word} from "/words.js";

/** Groups by the settings' names; the others come last. */
const GROUPS = [["machine", /^(name|port|logLevel|inhibitSleep)$/], ["offers", /^(accept|policy|arbiter|eligibility|previews|notifications|conflict|visibility)$/], ["store", /^(reserve|strangerQuota|partial|inbox)/],
	["protection", /^(protection|lock|clearQuota)/], ["handlers", /^(hook|sandbox|openReceived|excluded|handler)/], ["network", /^(discovery|skip|search|dialects)/], ["outbox", /^outbox/], ["web", /^web/], ["more", /./]];

const schemaOf = (schema, name) => name.split(".").reduce((at, part) => at?.properties?.[part], schema);

/** The control for a setting; `change` gets its values as texts. */
function control(line, schema, id, change) {
	const {form, values} = line, now = values[0] ?? "", common = {id, "data-key": id, "aria-describedby": id + "-help " + id + "-error"};
	const choices = (schema?.oneOf ?? schema?.anyOf)?.filter(c => c.const !== undefined);
	if (form === "truth") return make("input", {type: "checkbox", role: "switch", checked: now === "true", ...common, onchange: e => change([String(e.target.checked)])});
	if (form === "word" && choices?.length) return make("select", {...common, onchange: e => change([e.target.value])}, choices.map(c => make("option", {value: String(c.const), selected: String(c.const) === now}, `${c.const}${c.description ? " – " + c.description : ""}`)));
	if (form === "list") return make("textarea", {rows: Math.max(1, Math.min(6, values.length)), value: values.join("\n"), placeholder: word("onePerLine"), spellcheck: false, dir: "auto", ...common, onchange: e => change(e.target.value.split("\n").map(l => l.trim()).filter(Boolean))});
	if (form === "rules" || form === "fixed") return make("p", {id, className: "mono"}, values.length ? values.map(v => make("span.line", shown(v))) : make("span.help", word("none")), make("code.help", "waft config edit"));
	return make("input", {type: form === "number" ? "number" : "text", min: schema?.minimum, max: schema?.maximum, value: now, placeholder: line.standard, spellcheck: false, dir: "auto", autocomplete: "off", ...common, onchange: e => change(e.target.value.trim() ? [e.target.value.trim()] : null)});
}

function row(line, schema) {
	const id = "s-" + line.setting, error = make("p.bad", {id: id + "-error", role: "alert"}), note = make("p.help", {role: "status"});
	const run = async words => {
		const result = await verb(words), done = result.lines.find(l => l.event === "settingChanged");
		error.textContent = shown(problem(result));
		note.textContent = done ? [done.inUse === false ? word("savedOnly") : word("saved"), done.hiddenBy && word("hiddenBy", {name: done.hiddenBy}), ...(done.warnings ?? []).map(shown)].filter(Boolean).join(" ") : "";
		if (result.exit) return;
		const fresh = (await verb(["config", "list", "--all"])).lines.find(l => l.setting === line.setting);
		if (fresh) {Object.assign(line, fresh); redraw();}
	};
	const change = values => run(values === null ? ["config", "unset", line.setting] : ["config", "set", line.setting, ...(values[0]?.startsWith("-") ? ["--"] : []), ...values]);
	const field = make("div.field"), source = make("p.note");
	const redraw = () => {
		replace(field, control(line, schema, id, change));
		const isSet = line.setBy !== "default";
		replace(source, dots(isSet && word("setBy", {path: line.setBy}), line.standard && word("standard", {value: shown(line.standard)})),
			isSet && !/rules|fixed/.test(line.form) && make("button.link", {type: "button", "data-key": id + "-reset", onclick: () => run(["config", "unset", line.setting])}, word("reset")));
	};
	redraw();
	return make("div.setting", {"data-find": (line.setting + " " + line.explanation).toLowerCase()}, make(/rules|fixed/.test(line.form) ? "p.label" : "label", {for: id}, make("span.mono", shown(line.setting))), make("p.help", {id: id + "-help"}, shown(line.explanation)), field, source, note, error);
}

export async function open(main, signal) {
	const faults = make("div"), groups = make("div.cards"), find = make("input", {type: "search", placeholder: word("searchSettings"), "aria-label": word("searchSettings"), oninput: () => filter()});
	const filter = () => {
		const text = find.value.trim().toLowerCase();
		for (const node of groups.querySelectorAll(".setting")) node.hidden = !!text && !node.dataset.find.includes(text);
		for (const group of groups.children) group.hidden = !group.querySelector(".setting:not([hidden])");
	};
	const check = async () => {
		const {lines} = await verb(["config", "check"], {signal});
		replace(faults, lines.filter(l => l.event === "settingFault").map(l => make("p.warning", {role: "alert"}, icon("warn"), make("span", make("span.mono", shown(l.path) + (l.line ? ":" + l.line : "")), " ", shown(l.reason)))));
	};
	const load = async () => {
		const [list, schema] = await Promise.all([verb(["config", "list", "--all"], {signal}), verb(["config", "schema"], {signal})]).catch(() => []);
		if (!list || signal.aborted) return;
		const lines = list.lines.filter(l => l.event === "setting"), root = schema.lines.find(l => l.event === "settingsSchema")?.schema, rest = new Set(lines);
		if (list.exit) replace(faults, alarm(shown(problem(list))));
		replace(groups, GROUPS.map(([name, pattern]) => {
			const mine = [...rest].filter(line => pattern.test(line.setting));
			mine.forEach(line => rest.delete(line));
			return mine.length > 0 && make("section.card.group", make("h2", word("group-" + name)), mine.map(line => row(line, schemaOf(root, line.setting))));
		}));
		filter();
	};
	main.append(make("h1", word("settings")), make("p.help", word("settingsHelp")), find, faults, groups);
	on("settings", () => {check(); if (!groups.contains(document.activeElement)) load();}, signal);
	on("back", load, signal);
	check();
	await load();
}
