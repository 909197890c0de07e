// Words of the user's language, English or German; times.
import {isolated} from "/dom.js";
import {number} from "/figures.js";

export const lang = navigator.languages.map(l => l.slice(0, 2)).find(l => l === "de" || l === "en") ?? "en";
document.documentElement.lang = lang;
const lines = (await (await fetch(`/${lang}.txt`)).text()).trim().split("\n").map(line => line.split("|"));
const table = Object.fromEntries(lines.map(([key, ...texts]) => [key, texts]));

// The words of a key. A line of the file of a language: key, text, and another text for an `n` of 1.
// Names keep their own direction.
export function t(key, values = {}) {
	const [text, one = text] = table[key] ?? [key];
	return (values.n === 1 ? one : text).replace(/\{(\w+)\}/g, (_, name) => {
		const value = values[name];
		return typeof value === "number" ? number(value) : /^(name|path)$/.test(name) ? isolated(value) : value ?? "";
	});
}

export const counted = n => t("items", {n});

export const has = key => key in table;
export function lasting(seconds) {
	const whole = Math.max(0, Math.round(seconds)), two = n => String(n).padStart(2, "0");
	const hours = Math.floor(whole / 3600), minutes = Math.floor(whole / 60) % 60;
	return (hours ? `${hours}:${two(minutes)}` : minutes) + ":" + two(whole % 60);
}

// The time of today, or the day and the time.
export function when(text) {
	const then = new Date(text ?? NaN), isToday = then.toDateString() === new Date().toDateString();
	return isNaN(then) ? "" : then.toLocaleString(lang, {dateStyle: isToday ? undefined : "medium", timeStyle: "short"});
}

export const day = time => new Date(time).toLocaleDateString(lang, {dateStyle: "medium"});

// The beginning of a key's id, as people see it.
export const short = id => (id || "").slice(0, 16).match(/.{1,4}/g)?.join("-") ?? "";

export const dots = (...facts) => facts.flat().filter(Boolean).join("\u00a0· ");
