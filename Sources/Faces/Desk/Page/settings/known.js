// The settings as they are now, and the faults of their file.
import {call, changed, lineOf, linesOf, store} from "/parts.js";

let asked = 0;

// Reads them. The receiver tells of each change of the file, also of one that it refuses.
export async function learnSettings() {
	const mine = ++asked, result = await call("settings");
	// A later reading is newer.
	if (mine < asked || result.exit === -1) return;
	const lines = linesOf(result, "setting");
	store.faults = linesOf(result, "settingFault");
	// While the file has a fault, the settings of before count.
	if (lines.length) {
		store.settings = new Map(lines.map(line => [line.setting, line]));
		store.schema = lineOf(result, "settingsSchema").schema;
	}
	changed("known");
}

// The first value of a setting; undefined until it is known.
export const valueOf = name => store.settings?.get(name)?.values[0];
