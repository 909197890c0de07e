// Making elements. Foreign text enters the page here, as text.

// Makes an element: `h("p.help#id", {onclick, hidden, "aria-label": …}, child, …)`. Strings become text. An `ul` is a
// list also without dots.
export function h(what, ...rest) {
	const [, tag, more] = what.match(/^([\w-]*)(.*)$/), node = document.createElement(tag || "div");
	for (const [, sign, name] of more.matchAll(/([.#])([\w-]+)/g)) sign === "#" ? node.id = name
		: node.classList.add(name);
	return fill(node, [tag === "button" ? {type: "button"} : tag === "ul" && {role: "list"}, ...rest]);
}

export const svg = (tag, ...rest) => fill(document.createElementNS("http://www.w3.org/2000/svg", tag), rest);

function fill(node, rest) {
	for (const part of rest.flat(3)) {
		if (!part && part !== 0) continue;
		if (part instanceof Node) node.append(part);
		else if (typeof part === "object") for (const [key, value] of Object.entries(part)) set(node, key, value);
		else node.append(String(part));
	}
	return node;
}

function set(node, key, value) {
	if ((value ?? null) === null) return;
	if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
	else if (/-|^for$/.test(key) || node instanceof SVGElement) {
		if (value !== false || key.startsWith("aria-")) node.setAttribute(key, value);
	} else node[key] = value;
}

export const $ = id => document.getElementById(id);

// Characters that move or hide others are shown as numbers, as in the terminal.
export const shown = text => String(text
	?? "").replace(/[\0-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g,
	c => `\\u{${c.codePointAt().toString(16).toUpperCase()}}`);
// A foreign name: isolated in its direction, whole in the tooltip.
export const named = (text, what = "bdi.name") => h(what, {title: shown(text), dir: "auto"}, shown(text));
export const isolated = text => `\u2068${shown(text)}\u2069`;

export const hasFocus = node => node.contains(document.activeElement);

export const put = (node, text) => {node.textContent = text;};

export const show = (node, yes) => {node.hidden = !yes;};

// Says something to screen readers only.
export function say(text) {
	put($("live"), "");
	setTimeout(() => {put($("live"), text);}, 50);
}

// Takes a part away when its movement has ended.
export function leave(node) {
	node.classList.add("leaves");
	Promise.allSettled(node.getAnimations().map(movement => movement.finished)).then(() => node.remove());
}

// Replaces the children. The element of the same data-key keeps the focus.
export function replace(node, ...children) {
	const key = hasFocus(node) && document.activeElement.dataset.key;
	node.replaceChildren(...children.flat(3).filter(Boolean));
	if (key) node.querySelector(`[data-key="${CSS.escape(key)}"]`)?.focus({preventScroll: true});
}

// Replaces children that differ, but not under a drag: a click or a drop on a replaced part goes nowhere.
export function update(node, ...children) {
	const now = node.cloneNode();
	replace(now, children);
	if ($("dropping").hidden && !now.isEqualNode(node)) replace(node, ...now.childNodes);
}

// Calls a function at most once a frame.
export function framed(work) {
	let waits = 0;
	return () => {waits ||= requestAnimationFrame(() => {waits = 0; work();});};
}

// Calls a function once a second while the page is in view, until the signal aborts.
export function eachSecond(work, signal) {
	let timer = 0;
	const set = () => {
		clearInterval(timer);
		if (document.hidden || signal.aborted) return;
		work();
		timer = setInterval(work, 1000);
	};
	document.addEventListener("visibilitychange", set, {signal});
	signal.addEventListener("abort", set);
	set();
}
