import {t} from "/words.js";

export const families = ["link", "folder", "image", "movie", "sound", "pdf", "archive", "program", "document", "text",
	"other"];
const known = new Map();

export function learnTypes(table) {
	for (const [family, types] of Object.entries(table)) for (const type of types) known.set(type.toLowerCase(), family);
}

export function family(type = "", kind = "") {
	return kind === "tree" ? "folder" : kind === "url" ? "link" : known.get(type.toLowerCase()) ?? "other";
}

// The family of a file of the browser, which has a MIME type.
const MIME = {image: "image", video: "movie", audio: "sound", text: "text", pdf: "pdf", zip: "archive"};
export function familyOf(item) {
	const [first, second] = item.blob?.type.split("/") ?? [];
	return item.kind === "tree" ? "folder" : MIME[second] ?? MIME[first] ?? "document";
}

export const hasThumb = (type, kind) => /^(image|movie|pdf)$/.test(family(type, kind));

// "3 pictures", where all items are of one family that people count; "3 items" otherwise. `items` may be fewer than
// `n`.
export function countedOf(items, n = items.length) {
	const all = new Set(items.map(({type, kind}) => family(type, kind))), [only] = all;
	return t(all.size === 1 && /^(image|movie|sound|folder|link)$/.test(only) ? "count-" + only : "items", {n});
}
