// Entries of the Inbox: the facts that identify, select and order them, and the folders that have some in them.
import {store} from "/parts.js";

export const keyOf = entry => entry.arrival ?? entry.path;
export const time = entry => entry.arrived ?? entry.modified;
export const stamp = entry => entry.stamp ??= +new Date(time(entry));
export const isLiar = entry => /lying|mislabelled/.test(entry.content) || !!entry.mark;

export function isLocked({protection}) {
	const now = store.protection;
	return !!protection && protection !== "none"
		&& !(protection === "untilFirstUnlock" ? now?.unlockedOnce : now?.unlocked);
}

// Whether others can get the file as it is: the file of a sealed item is not its contents.
export const isFree = ({protection, hasSealed}) => !hasSealed && (!protection || protection === "none");

// Times are whole seconds: of two in one second the later number is newer. A folder is as new as the newest in it.
const numberOf = entry => entry.arrival ?? entry.newest ?? 0;

export const ORDERS = {
	"": (a, b) => stamp(b) - stamp(a) || numberOf(b) - numberOf(a),
	name: (a, b) => a.stored < b.stored ? -1 : 1,
	size: (a, b) => (b.size ?? 0) - (a.size ?? 0),
};

// The paths of folders are below the Inbox; "" is the Inbox.
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
