// Words of the user's language, figures and times.
import {isolated} from "/dom.js";

const answer = await fetch("/words.json"), table = await answer.json();
export const lang = table.lang;
document.documentElement.lang = lang;

/** The words of a key. Names keep their own direction; `{n}` of 1 takes the key with 1 at its end. */
export function word(key, values = {}) {
	if (values.n === 1 && table[key + 1]) key += 1;
	return (table[key] ?? key).replace(/\{(\w+)\}/g, (_, name) => {
		const value = values[name];
		return typeof value === "number" ? number(value) : /^(name|peer|path)$/.test(name) ? isolated(value) : value ?? "";
	});
}

export const has = key => key in table;
export const number = n => n.toLocaleString(lang);

export function size(bytes) {
	let unit = 0;
	for (; bytes >= 999.5 && unit < 4; unit++) bytes /= 1000;
	return bytes.toLocaleString(lang, {
		style: "unit", unit: ["", "kilo", "mega", "giga", "tera"][unit] + "byte", unitDisplay: unit ? "short" : "long",
		maximumFractionDigits: unit > 1 && bytes < 100 ? 1 : 0,
	});
}

export function lasting(seconds) {
	const whole = Math.max(0, Math.round(seconds)), two = n => String(n).padStart(2, "0");
	const h = Math.floor(whole / 3600), m = Math.floor(whole / 60) % 60;
	return h ? `${h}:${two(m)}:${two(whole % 60)}` : `${m}:${two(whole % 60)}`;
}

const clock = new Intl.DateTimeFormat(lang, {hour: "2-digit", minute: "2-digit"});
const date = new Intl.DateTimeFormat(lang, {day: "numeric", month: "short", hour: "2-digit", minute: "2-digit"});
const year = new Intl.DateTimeFormat(lang, {dateStyle: "medium"});
const dayOnly = new Intl.DateTimeFormat(lang, {day: "numeric", month: "short"});

export function when(text) {
	const then = new Date(text), age = Date.now() - then;
	if (!text || isNaN(then)) return "";
	return new Date().toDateString() === then.toDateString() ? clock.format(then) : age < 3e10 ? date.format(then) : year.format(then);
}
export const day = then => dayOnly.format(then);

/** The beginning of a key's id, as people see it. */
export const short = id => (id || "").slice(0, 16).match(/.{1,4}/g)?.join("-") ?? "";
