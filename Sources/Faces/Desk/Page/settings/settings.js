// A form made from the settings and their schema.
import {alarm, attempt, call, dots, field, h, h2, hasFocus, head, help, inTurn, lineOf, linesOf, mono, on, problem, put, quoted, replace, searchField,
	select, shown, status, store, t, warning} from "/parts.js";

const GROUPS = [["group-machine", /^(name|port|logLevel|inhibitSleep)$/],
	["group-offers", /^(accept|policy|arbiter|eligibility|previews|notifications|conflict|visibility)$/],
	["used", /^(reserve|strangerQuota|partial|inbox)/], ["group-protection", /^(protection|lock|clearQuota)/],
	["handlers", /^(hook|sandbox|openReceived|excluded|handler)/],
	["group-network", /^(discovery|skip|search|dialects|web)/], ["more", /./]];

const schemaOf = (schema, name) => name.split(".").reduce((at, part) => at?.properties?.[part], schema);

// Rules are changed in the file.
const isFixed = line => /rules|fixed/.test(line.form);

// The control for a setting. `change` gets its values, or null for none.
function control(line, schema, id, change) {
	const {form, values} = line, now = values[0] ?? "", common = {id, "data-key": id, "aria-describedby": `${id}-help ${id}-error`};
	const choices = (schema?.oneOf ?? schema?.anyOf)?.filter(c => c.const !== undefined),
		onchange = ({target}) => change(target.value.trim() ? [target.value.trim()] : null);
	if (isFixed(line)) return h("p.mono", {id}, values.length ? values.map(v => h("span", shown(v))) : h("span.help", t("none")),
		h("code.help", "waft config edit"));
	if (form === "truth") return h("input", {type: "checkbox", role: "switch", checked: now === "true", ...common,
		onchange: ({target}) => change([String(target.checked)])});
	if (form === "word" && choices?.length) return select(choices.map(c => [String(c.const), c.const + (c.description ? " – " + c.description : "")]), now,
		{...common, onchange});
	if (form === "list") return field({rows: Math.max(1, Math.min(6, values.length)), value: values.join("\n"), placeholder: t("onePerLine"), ...common,
		onchange: ({target}) => change(target.value.split("\n").map(l => l.trim()).filter(Boolean))}, "textarea");
	return field({type: form === "number" ? "number" : "text", min: schema?.minimum, max: schema?.maximum,
		value: now, placeholder: line.standard, ...common, onchange});
}

// When a setting was changed here: its note stays, as the form is not made anew.
let changedAt = 0;

function setting(line, schema) {
	const id = "s-" + line.setting, error = alarm({id: id + "-error"}), note = status(), place = h("div.field"), source = h("p.note");
	const change = values => inTurn(async () => {
		changedAt = Date.now();
		const result = await attempt(error, "settings/set", {setting: line.setting, values: values ?? undefined});
		// Some settings have to do with programs: a window shows the command.
		if (result.exit === 77) replace(error, [problem(result), " ", h("code", ["waft config", values ? "set" : "unset", line.setting, ...(values ?? []).map(quoted)].join(" "))]);
		const done = lineOf(result, "settingChanged");
		put(note, done ? [t("saved"), done.hiddenBy && t("hiddenBy", {name: done.hiddenBy}),
			...(done.warnings ?? []).map(shown)].filter(Boolean).join(" ") : "");
		if (result.exit) return line.form === "truth" && draw();
		const fresh = linesOf(await call("settings"), "setting").find(l => l.setting === line.setting);
		if (fresh) {Object.assign(line, fresh); draw();}
	});
	const draw = () => {
		const isSet = line.setBy !== "default";
		replace(place, control(line, schema, id, change));
		replace(source, dots(isSet && t("setBy", {path: line.setBy}), line.standard && t("standard", {value: shown(line.standard)})),
			isSet && !isFixed(line) && h("button.link", {"data-key": id + "-reset", onclick: () => change(null)}, t("reset")));
	};
	draw();
	return h("div.setting", {"data-find": (line.setting + " " + line.explanation).toLowerCase()},
		h(isFixed(line) ? "p.label" : "label", {for: id}, mono(line.setting)),
		h("p.help", {id: id + "-help"}, shown(line.explanation)), place, source, note, error);
}

export function open(main, signal) {
	const faults = h("div"), groups = h("div.cards"), find = searchField("searchSettings", () => filter());
	const filter = () => {
		const text = find.value.trim().toLowerCase();
		for (const node of groups.querySelectorAll(".setting")) node.hidden = !node.dataset.find.includes(text);
		for (const group of groups.children) group.hidden = !group.querySelector(".setting:not([hidden])");
	};
	const load = async () => {
		const result = await call("settings", {}, {signal});
		if (signal.aborted) return;
		const found = linesOf(result, "settingFault"), root = lineOf(result, "settingsSchema")?.schema, rest = new Set(linesOf(result, "setting"));
		replace(faults, found.length ? found.map(l => warning(h("span.mono", shown(l.path) + (l.line ? ":" + l.line : "")), " ", shown(l.reason)))
			: result.exit ? alarm(problem(result)) : []);
		// The form stays while somebody writes in it, or has just changed something.
		if (hasFocus(groups) || Date.now() - changedAt < 3000) return;
		replace(groups, GROUPS.map(([name, pattern]) => {
			const mine = [...rest].filter(line => pattern.test(line.setting));
			mine.forEach(line => rest.delete(line));
			return mine.length > 0 && h("section.card", h2(name), name === "group-protection" && store.protection?.setUp === false && help("notSealed"), mine.map(line => setting(line, schemaOf(root, line.setting))));
		}));
		filter();
	};
	main.append(head("settings"), help("settingsHelp"), find, faults, groups);
	on("settings back", load, signal);
	load();
}
