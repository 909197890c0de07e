// Folders of the Inbox that have items in them. Their paths are below the Inbox; "" is the Inbox.
import {isFree, stamp} from "/order.js";

export const parent = path => path.slice(0, Math.max(0, path.lastIndexOf("/")));
export const isBelow = (path, folder) => !folder || path === folder || path.startsWith(folder + "/");

// The folder that an entry is in.
export function folderOf({path}, inbox) {
	const folder = parent(path);
	return folder.startsWith(inbox + "/") ? folder.slice(inbox.length + 1) : "";
}

// The folders that are directly in a folder and have items in them, as entries: `inside` counts the items.
export function foldersIn(here, entries, inbox) {
	const found = new Map();
	for (const entry of entries) {
		if (entry.folder === here || !isBelow(entry.folder, here)) continue;
		const [name] = entry.folder.slice(here && here.length + 1).split("/"), path = (here && here + "/") + name;
		const old = found.get(path)
			?? {kind: "tree", stored: name, path: inbox + "/" + path, folder: here, way: path, inside: 0, size: 0, stamp: 0};
		old.inside++;
		old.hasSealed ||= !isFree(entry);
		old.size += entry.size ?? 0;
		old.stamp = Math.max(old.stamp, stamp(entry));
		old.newest = Math.max(old.newest ?? 0, entry.arrival ?? 0);
		found.set(path, old);
	}
	for (const folder of found.values()) folder.arrived = new Date(folder.stamp).toISOString();
	return [...found.values()];
}
