// Names of items. One that has no room is cut in the middle: its end says what kind it is.
import {h, shown} from "/dom.js";

// Letters before the extension that stay with it, and of all in a sentence.
const BEFORE = 4, SENTENCE = 40;
const letters = new Intl.Segmenter();

// The last letters of a text; a letter can have several codes.
const tail = (text, n) => /^[ -~]*$/.test(text) ? text.slice(-n)
	: [...letters.segment(text.slice(-8 * n))].slice(-n).map(({segment}) => segment).join("");

function ends(text) {
	const rest = BEFORE + (text.match(/\.[^.\s]{1,7}$/)?.[0].length ?? 2);
	if (text.length < rest + 3) return [text, ""];
	const last = tail(text, rest);
	return [text.slice(0, text.length - last.length), last];
}

// A name in a line. The parts are drawn by the style; readers, copies and searches have the whole name.
export function cut(name, what = "bdi.name") {
	const text = shown(name), [first, last] = ends(text);
	return h(what + ".cut", {title: text, dir: "auto", "data-first": first, "data-last": last}, h("span.unseen", text));
}

// A name in a sentence.
export function brief(name) {
	const text = shown(name), [first, last] = ends(text), all = [...letters.segment(first)];
	const room = SENTENCE - last.length - 1;
	return all.length <= room ? text : all.slice(0, room).map(({segment}) => segment).join("") + "…" + last;
}
