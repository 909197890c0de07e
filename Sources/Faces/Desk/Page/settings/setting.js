// One setting, in words for people, with its control.
import {call, dots, field, fold, h, has, hasFocus, inTurn, lineOf, number, on, problem, put, quoted, replace, select,
	shown, status, store, t} from "/parts.js";
import {learnSettings} from "/known.js";

// The page has words for each setting of the program. The program's own are for one that it does not know.
const isKnown = line => has("set-" + line.setting);
const word = (line, what, last) => has("set-" + line.setting + what) ? t("set-" + line.setting + what) : shown(last);
export const titleOf = line => word(line, "", line.setting);
const helpOf = line => word(line, "-help", isKnown(line) ? "" : line.explanation);
const choiceOf = (line, value, last = value) => word(line, "=" + value, last);

function standardOf(line) {
	const {standard, form, setting} = line;
	if (standard === undefined) return "";
	if (has(`set-${setting}-standard`)) return t(`set-${setting}-standard`);
	if (form === "truth") return t(standard === "true" ? "on" : "off");
	if (form === "word") return choiceOf(line, standard);
	if (standard === "none" || standard === "[]") return t("none");
	return standard === "off" ? t("off") : shown(standard.replace(/^\[|]$/g, ""));
}

// Rules are changed in the file.
const isFixed = line => /rules|fixed/.test(line.form);

// The control for a setting. `change` gets its values, or null for none.
function control(line, schema, id, change) {
	const {form, values} = line, now = values[0] ?? "";
	const common = {id, "data-key": id, "aria-describedby": `${id}-help ${id}-error`};
	const choices = (schema?.oneOf ?? schema?.anyOf)?.filter(c => c.const !== undefined);
	const onchange = ({target}) => change(target.value.trim() ? [target.value.trim()] : null);
	if (isFixed(line)) return h("div", {id}, values.map(value => h("p.mono", shown(value))),
		!values.length && h("p.help", t("none")), h("p.help", t("inTerminal"), " ", h("code", "waft config edit")));
	if (form === "truth") return h("input", {type: "checkbox", role: "switch", checked: now === "true", ...common,
		onchange: ({target}) => change([String(target.checked)])});
	if (form === "word" && choices?.length) {
		const options = choices.map(c => [String(c.const), choiceOf(line, c.const, c.description ?? c.const)]);
		return select(options, now, {...common, onchange});
	}
	if (form === "list") return field({rows: Math.max(1, Math.min(6, values.length)), value: values.join("\n"),
		placeholder: t("onePerLine"), ...common,
		onchange: ({target}) => change(target.value.split("\n").map(l => l.trim()).filter(Boolean))}, "textarea");
	return field({type: form === "number" ? "number" : "text", min: schema?.minimum, max: schema?.maximum,
		value: now, placeholder: standardOf(line), ...common, onchange});
}

// Why a value was not taken, and what the program says of it.
function complaint(line, schema, values, result) {
	const {setting, form, measuredIn} = line;
	if (result.exit === 77) return [t("inTerminal"), " ",
		h("code", ["waft config", values ? "set" : "unset", setting, ...(values ?? []).map(quoted)].join(" "))];
	if (lineOf(result, "settingChanged")) return t("doesNotCount");
	if (result.exit !== 64) return problem(result);
	const {minimum, maximum} = schema ?? {}, bad = has("bad-" + measuredIn) ? "bad-" + measuredIn : "bad-value";
	const why = form === "number" ? t("bad-number", {min: number(minimum ?? 0), max: number(maximum ?? 0)}) : t(bad);
	return [why, fold(t("details"), h("p.mono", problem(result)))];
}

const schemaOf = name => name.split(".").reduce((at, part) => at?.properties?.[part], store.schema);

// A setting by its name, up to date until the signal aborts.
export function setting(name, signal) {
	let line = store.settings.get(name);
	const id = "s-" + name, schema = schemaOf(name), place = h("div.field");
	const source = h("p.note"), details = h("p.detail.mono");
	const error = h("div.bad", {id: id + "-error", role: "alert"}), note = status();
	const change = values => inTurn(async () => {
		replace(error);
		const result = await call("settings/set", {setting: name, values: values ?? undefined});
		const done = lineOf(result, "settingChanged");
		if (result.exit) replace(error, complaint(line, schema, values, result));
		put(note, result.exit ? "" : [t("saved"), done?.hiddenBy && t("hiddenBy")].filter(Boolean).join(" "));
		note.title = done?.hiddenBy ?? "";
		// A switch goes back, and other fields keep what was written.
		if (result.exit && line.form !== "truth") return;
		await learnSettings();
		draw();
	});
	function draw() {
		line = store.settings.get(name) ?? line;
		const isSet = line.setBy !== "default";
		replace(place, control(line, schema, id, change));
		replace(source, standardOf(line) && t("standard", {value: standardOf(line)}), isSet && !isFixed(line)
			&& h("button.link", {"data-key": id + "-reset", onclick: () => change(null)}, t("reset")));
		put(details, dots(name, isSet && t("setBy", {path: line.setBy})));
	}
	// The form stays while somebody writes in it.
	on("known", () => hasFocus(place) || draw(), signal);
	draw();
	const title = titleOf(line), find = [name, line.explanation, title, helpOf(line)].join(" ").toLowerCase();
	return h("div.setting" + (line.form === "truth" ? ".truth" : ""), {"data-find": find},
		h(isFixed(line) ? "p.label" : "label", {for: id, title: name}, title),
		h("p.help", {id: id + "-help"}, helpOf(line)), place, source, details, note, error);
}
