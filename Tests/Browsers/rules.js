// Rules of accessibility, checked in the page as it is shown now. The result is a list of the faults.
// Whoever runs them may set `pixels`, the least size of a control, and `friends`, origins that the page may load from.
const least = typeof pixels === "undefined" ? 44 : pixels, origins = [location.origin, ...(typeof friends === "undefined" ? [] : friends)];
const faults = [], fault = (rule, element) =>
	faults.push(`${rule}: ${element.id ? "#" + element.id : element.outerHTML.slice(0, 120)}`);
const dialog = document.querySelector("dialog:modal"), forced = typeof colors !== "undefined" && colors === "forced";
const shown = [...document.querySelectorAll("body, body *")].filter((e) => e.checkVisibility({ visibilityProperty: true }));
const of = (selector) => shown.filter((e) => e.matches(selector));
const known = (ids) => ids.split(/\s+/).every((id) => document.getElementById(id));

// Language, title, headings, live regions, and references from part to part.
if (!/^[a-z]{2}/.test(document.documentElement.lang)) faults.push("the page has no language");
if (!document.title.trim()) faults.push("the page has no title");
if (of("h1").length !== 1) faults.push("the page has not one main heading");
let level = 0;
for (const heading of of("h1, h2, h3, h4, h5, h6")) {
	if (heading.tagName[1] > level + 1) fault("a level of headings is left out", heading);
	if (!heading.textContent.trim()) fault("a heading is empty", heading);
	level = Number(heading.tagName[1]);
}
if (of("main").length !== 1) faults.push("the page has not one main part");
if (!document.querySelector("[role=status], [role=alert], [aria-live]")) faults.push("the page has no live region");
const ids = [...document.querySelectorAll("[id]")].map((e) => e.id);
for (const id of new Set(ids.filter((id, at) => ids.indexOf(id) !== at))) faults.push(`two parts have the id ${id}`);
for (const name of ["aria-labelledby", "aria-describedby", "for"])
	for (const e of of(`[${name}]`))
		if (!known(e.getAttribute(name))) fault(`${name} names nothing`, e);
for (const image of of("img")) if (!image.hasAttribute("alt")) fault("a picture has no text", image);

// Fields have labels that are shown, and controls are large enough for a finger.
for (const field of of("input, textarea, select, progress")) {
	const labels = [...field.labels, ...(field.getAttribute("aria-labelledby") ?? "").split(/\s+/).map((id) => document.getElementById(id))];
	if (!field.ariaLabel && !labels.some((e) => e && shown.includes(e) && e.innerText.trim())) fault("a field has no label", field);
}
for (const control of of("a[href], button, input, textarea")) {
	// The label of a box is part of it; links in sentences are as high as their line.
	const { width, height } = (control.type?.match(/checkbox|radio/) && control.closest("label") || control).getBoundingClientRect();
	if (width < least || height < least) fault(`a control is ${Math.round(width)}×${Math.round(height)} pixels`, control);
}
if (document.documentElement.scrollWidth > innerWidth) faults.push("the page is wider than the window");

// A control gets each touch on it: nothing lies over its corners and its middle. What moves with the window may lie over it.
const isFixed = (e) => e && (/fixed|sticky/.test(getComputedStyle(e).position) || isFixed(e.parentElement));
const clips = (e) => e && (/auto|scroll|hidden|clip/.test(getComputedStyle(e).overflow) ? e : clips(e.parentElement));
for (const control of of("a[href], button, input, textarea, select, summary")) {
	const part = control.type?.match(/checkbox|radio/) && control.closest("label") || control, { top, left, bottom, right } = part.getBoundingClientRect();
	if (dialog && !dialog.contains(part) || getComputedStyle(part).display === "inline" || part.matches(":disabled")) continue;
	const frame = clips(part.parentElement)?.getBoundingClientRect() ?? { top: 0, left: 0, bottom: innerHeight, right: innerWidth };
	if (top < Math.max(0, frame.top) || left < Math.max(0, frame.left) || bottom > Math.min(innerHeight, frame.bottom) || right > Math.min(innerWidth, frame.right)) continue;
	for (const [x, y] of [[left + 3, top + 3], [right - 3, top + 3], [left + 3, bottom - 3], [right - 3, bottom - 3], [(left + right) / 2, (top + bottom) / 2]]) {
		const there = document.elementFromPoint(x, y);
		if (!there || part.contains(there) || there.contains(part) || isFixed(there) || there.closest("label")?.contains(part)) continue;
		fault(`under ${there.outerHTML.slice(0, 60)} lies`, part);
		break;
	}
}
// Texts beside each other do not lie over each other.
if (document.documentElement.scrollWidth <= innerWidth)
	for (const e of of("h1, h2, h3, p, .name, .note, strong, dt, dd, legend"))
		if (e.getBoundingClientRect().right > innerWidth + 1 && !clips(e)) fault("a text leaves the window", e);

// Contrast: of text 4.5, of the edges of fields 3.
const parts = (color) => color.match(/[\d.]+/g).map(Number);
const light = (color) => {
	const [r, g, b] = parts(color).slice(0, 3).map((v) => (v /= 255) <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4);
	return .2126 * r + .7152 * g + .0722 * b;
};
const ground = (e) => {
	for (; e; e = e.parentElement) {
		const color = getComputedStyle(e).backgroundColor;
		if ((parts(color)[3] ?? 1) > 0) return color;
	}
	return matchMedia("(prefers-color-scheme: dark)").matches ? "rgb(18, 18, 18)" : "rgb(255, 255, 255)";
};
const contrast = (one, other) => {
	const [low, high] = [light(one), light(other)].sort((a, b) => a - b);
	return (high + .05) / (low + .05);
};
// Forced colours are the user's own.
for (const e of forced ? [] : shown) {
	const style = getComputedStyle(e), text = [...e.childNodes].some((n) => n.nodeType === Node.TEXT_NODE && n.data.trim());
	const found = contrast(style.color, ground(e)), edge = contrast(style.borderTopColor, ground(e.parentElement ?? e));
	if ((text || e.matches("input, textarea")) && found < 4.5) fault(`a text has the contrast ${found.toFixed(2)}`, e);
	if (e.matches("input, textarea, progress") && edge < 3) fault(`a field's edge has the contrast ${edge.toFixed(2)}`, e);
}

// Nothing runs or looks by what stands in the document itself, and all of it comes from this host.
for (const e of document.querySelectorAll("*"))
	for (const { name } of e.attributes) if (name === "style" || name.startsWith("on")) fault(`a part has the attribute ${name}`, e);
for (const e of document.querySelectorAll("script:not([src]), style")) fault("a script or a style stands in the document", e);
for (const { name } of performance.getEntriesByType("resource"))
	if (!origins.some((origin) => name.startsWith(origin + "/"))) faults.push(`the page loads ${name}`);
return faults;
