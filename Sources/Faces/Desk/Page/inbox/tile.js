// An item in the list: its picture, name, sender, size and time.
import {counted, cut, dots, family, h, hasThumb, icon, person, size, store, t, when} from "/parts.js";
import {isLiar, isLocked, time} from "/entries.js";

// Items without a small picture.
const pictureless = new Set();

function picture(entry, kind) {
	const {arrival} = entry, isClosed = isLocked(entry), thumb = h("span.thumb", icon(isClosed ? "lock" : kind));
	const isSeen = arrival && !isClosed && !isLiar(entry) && !pictureless.has(arrival);
	if (isSeen && hasThumb(entry.type, entry.kind)) thumb.append(h("img", {
		"data-src": `${store.facts.previews}/items/${arrival}/thumb`, alt: "", decoding: "async", draggable: false,
		onerror: event => {pictureless.add(arrival); event.target.remove();},
	}));
	if (isLiar(entry)) thumb.append(h("span.badge", {title: t("delivery-liar")}, icon("warn")));
	return thumb;
}

// `isFlat`: the list has items of many folders.
function notes(entry, isFlat) {
	const from = entry.inside ? counted(entry.inside) : entry.from && person(entry.from);
	return [isLiar(entry) && t("delivery-liar"), isFlat && entry.folder, from, size(entry.size), when(time(entry))];
}

// The words of a screen reader.
export function wordsOf(entry, isFlat) {
	const [liar, folder, ...rest] = notes(entry, isFlat);
	return [entry.stored, liar, folder && t("inFolderOf", {path: folder}), ...rest].filter(Boolean).join(", ");
}

export function tile(entry, isFlat, isGrid) {
	const [liar, folder, from, bytes, then] = notes(entry, isFlat);
	const bad = liar && h("span.bad", liar), place = folder && h("span.folder", icon("folder"), cut(folder));
	return [h("span.tick", {"aria-hidden": "true"}, icon("check")), picture(entry, family(entry.type, entry.kind)),
		h("span.what", cut(entry.stored), isGrid
			? [h("span.note", bad || place || from), h("span.note", dots(bytes, then))]
			: h("span.note", [bad, place, h("span", dots(from, bytes, then))]))];
}
