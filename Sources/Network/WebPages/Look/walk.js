// All below the entries of a drop, with paths from the dropped folder on; a folder has no `file`.
export async function walk(entries, found = []) {
	for (const entry of entries) {
		const path = entry.fullPath.replace(/^\/+/, "");
		if (entry.isFile) found.push({path, file: await new Promise((yes, no) => entry.file(yes, no))});
		else {
			found.push({path});
			const reader = entry.createReader();
			for (let part; !part || part.length;) {
				part = await new Promise((yes, no) => reader.readEntries(yes, no));
				await walk(part, found);
			}
		}
	}
	return found;
}
