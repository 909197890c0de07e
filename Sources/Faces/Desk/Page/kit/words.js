// Words of the user's language, English or German; times.
import {isolated} from "/dom.js";
import {number} from "/figures.js";

const lines = (await (await fetch("/words.txt")).text()).trim().split("\n").map(line => line.split("|"));
const table = Object.fromEntries(lines.map(([key, ...texts]) => [key, texts]));
export const lang = navigator.languages.map(l => l.slice(0, 2)).find(l => l === "de" || l === "en") ?? "en";
document.documentElement.lang = lang;

// The words of a key. A line of words.txt: key, English, German, and both for an `n` of 1; one text is for all.
// Names keep their own direction.
export function t(key, values = {}) {
	const texts = table[key] ?? [key], place = (lang === "de" ? 1 : 0) + (values.n === 1 ? 2 : 0);
	return (texts[place] ?? texts[place % 2] ?? texts[0]).replace(/\{(\w+)\}/g, (_, name) => {
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

// Facts in one line.
export const dots = (...facts) => facts.flat().filter(Boolean).join("\u00a0· ");
