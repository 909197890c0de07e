// The facts of entries that identify, select and order them.
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
