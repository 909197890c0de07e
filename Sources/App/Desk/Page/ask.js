// A small dialog: a question with at most one field.
import {button} from "/parts.js";
import {$, make, replace} from "/dom.js";

/**
 * Asks something.
 * - field: `{label, value, type}`; without it the answer is true.
 * - Returns the field's text, or true; null when cancelled.
 */
export const ask = ({title, text, field, yes, danger}) => new Promise(done => {
	const dialog = $("ask"), input = field && make("input#ask-field", {value: field.value ?? "", type: field.type ?? "text", required: true, dir: "auto", autocomplete: "off", spellcheck: false});
	let answer = null;
	replace(dialog, make("form", {method: "dialog", onsubmit: () => {answer = input ? input.value : true;}}, make("h2#ask-title", title), text && make("p", text),
		field && make("label", {for: "ask-field"}, field.label), input,
		make("p.row.end", button("cancel", () => dialog.close()), make(`button.primary${danger ? ".danger-primary" : ""}`, yes))));
	dialog.onclose = () => done(answer);
	dialog.showModal();
	(input ?? dialog.querySelector(".primary")).focus();
	input?.select();
});
