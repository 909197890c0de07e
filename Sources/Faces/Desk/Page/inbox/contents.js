// The contents of an item. Nothing of it runs: pictures, sound and film come from another origin, all else is text.
import {cut, family, h, help, icon, replace, shown, size, store, t} from "/parts.js";

// Pairs of a word and a value; those without one are left out.
export const table = facts => h("dl", facts.filter(([, value]) => value).map(([key, value]) =>
	[h("dt", t(key)), h("dd", {dir: "auto"}, typeof value === "string" ? shown(value) : value)]));

export const text = content => h("pre.text", {dir: "auto"}, content);

// The entries of a folder or an archive. A person can enter its folders.
function members(all, isCut) {
	const node = h("div.members");
	const step = (path, ...more) => h("button.link", {"data-key": "in-" + path, onclick: () => show(path)}, more);
	function show(here) {
		const found = new Map(), steps = here.split("/").filter(Boolean);
		for (const {member, kind, size: bytes} of all) {
			const path = member.replace(/\/$/, "");
			if (here && !path.startsWith(here + "/")) continue;
			const [name, ...rest] = path.slice(here && here.length + 1).split("/"), old = found.get(name);
			const isFolder = rest.length > 0 || kind === "tree", sum = (old?.sum ?? 0) + (bytes ?? 0);
			found.set(name, {isFolder, kind, bytes: isFolder ? sum || undefined : bytes, sum});
		}
		const way = steps.map((name, n) =>
			[" › ", n < steps.length - 1 ? step(steps.slice(0, n + 1).join("/"), cut(name)) : h("strong", cut(name))]);
		replace(node, steps.length > 0 && h("p.steps", step("", t("wholeFolder")), way),
			h("ul", [...found].map(([name, {isFolder, kind, bytes}]) => {
				const note = bytes !== undefined && h("span.note", size(bytes));
				return h("li", isFolder ? step((here && here + "/") + name, icon("folder"), cut(name), note)
					: [icon(kind), cut(name), note]);
			})), isCut && help("isCut"));
	}
	show("");
	return node;
}

// The output of `waft preview`.
export function body(line) {
	const rest = line.isCut && help("isCut");
	switch (line.shownAs) {
	case "text": case "document": return [line.lines?.length > 0 && text(line.lines.map(l =>
		l.replace(/[\u202a-\u202e\u2066-\u2069]/g, shown)).join("\n")), rest];
	case "archive": case "folder": return line.members?.length ? [members(line.members, line.isCut)] : [];
	case "link": {
		const {url, host, port, ...parts} = line.urlParts ?? {};
		return [h("p.mono", {dir: "ltr"}, shown(url)), table([["url-scheme", parts.scheme],
			["url-host", host && host + (port ? ":" + port : "")],
			...["user", "path", "query", "fragment"].map(key => ["url-" + key, parts[key]])])];
	}
	case "image": return [h("p.help", t("pixels", {wide: line.pixelWidth, high: line.pixelHeight}))];
	}
	return [];
}

export const sentence = (name, key) => h("div.empty", icon(name), h("p", t(key)));

// The content itself, from the other origin; nothing for kinds that no browser shows.
export function content({arrival, type, kind, stored}, pages) {
	const src = `${store.facts.previews}/items/${arrival}`, form = family(type, kind);
	if (!arrival) return null;
	const cannot = node => () => node.replaceWith(sentence(form, "cannotShow-" + (pages ? "pdf" : form)));
	if (form === "image") {
		const image = h("img.picture", {src, alt: t("pictureOf", {name: stored})});
		image.onerror = cannot(image);
		return image;
	}
	if (pages) {
		const all = h("div.pages");
		all.append(...[...Array(Math.min(pages, 99)).keys()].map(n => h("img",
			{loading: "lazy", src: `${src}/pages/${n + 1}`,
			alt: t("page", {n: n + 1}), onerror: n ? event => event.target.remove() : cannot(all)})));
		return all;
	}
	if (!/movie|sound/.test(form)) return null;
	const title = t("playerOf", {name: stored});
	const frame = h("iframe." + form, {src: src + "/player", sandbox: "", title, referrerPolicy: "no-referrer"});
	// The frame reports nothing: no script runs in it.
	const probe = h(form === "movie" ? "video" : "audio", {preload: "metadata", src});
	probe.onloadedmetadata = () => probe.removeAttribute("src");
	probe.onerror = () => probe.getAttribute("src") && cannot(frame)();
	return frame;
}
