// A folder as a tar archive (POSIX pax), made without reading its files.

const bytes = text => new TextEncoder().encode(text);
const octal = (n, width) => n.toString(8).padStart(width - 1, "0") + "\0";
const MOST = 0o77777777777;

function header(name, size, type, seconds) {
	const block = new Uint8Array(512), put = (text, at) => block.set(bytes(text), at);
	put(name, 0);
	put(octal(type === "5" ? 0o755 : 0o644, 8) + octal(0, 8) + octal(0, 8) + octal(size, 12) + octal(seconds, 12)
		+ "        " + type, 100);
	put("ustar\0" + "00", 257);
	put(octal(block.reduce((a, b) => a + b, 0), 7) + " ", 148);
	return block;
}

// A record of a pax header: its length counts itself.
function record(key, value) {
	const rest = bytes(` ${key}=${value}\n`).length;
	let length = rest + 1;
	while (String(length).length + rest !== length) length = String(length).length + rest;
	return `${length} ${key}=${value}\n`;
}

const padded = size => new Uint8Array((512 - size % 512) % 512);

// The parts of an entry; `time` in milliseconds. A pax header has what the old one cannot say.
function entry(path, size, type, time) {
	const name = path.replace(/[^ -~]/g, "_").slice(0, 100), fits = size <= MOST, whole = time >= 0 && time % 1000 === 0;
	const pax = bytes((name === path ? "" : record("path", path)) + (fits ? "" : record("size", size))
		+ (whole ? "" : record("mtime", (time / 1000).toFixed(3))));
	const own = header(name, fits ? size : 0, type, Math.max(0, Math.floor(time / 1000)));
	return pax.length ? [header("PaxHeader", pax.length, "x", 0), pax, padded(pax.length), own] : [own];
}

// Browsers tell no time of a folder: it is that of the newest thing in it.
const newest = inside => inside instanceof Map ? inside.size ? Math.max(...[...inside.values()].map(newest))
	: Date.now() : inside.lastModified;

// `found` has `{path, file}` of files and `{path}` of folders; paths begin with the folder itself.
export function tar(found) {
	const top = new Map(), parts = [], files = [];
	let entries = 1, size = 0;
	for (const {file, path} of found) {
		const names = path.split("/").slice(1), last = file && names.pop();
		let folder = top;
		for (const name of names) {
			if (!folder.has(name)) folder.set(name, new Map());
			folder = folder.get(name);
		}
		if (file) folder.set(last, file);
	}
	const write = (folder, before) => {
		for (const [name, inside] of [...folder].sort(([a], [b]) => a < b ? -1 : 1)) {
			entries++;
			if (inside instanceof Map) {
				parts.push(...entry(before + name + "/", 0, "5", newest(inside)));
				write(inside, before + name + "/");
			} else {
				parts.push(...entry(before + name, inside.size, "0", inside.lastModified), inside, padded(inside.size));
				files.push(inside);
				size += inside.size;
			}
		}
	};
	write(top, "");
	parts.push(new Uint8Array(1024));
	return {blob: new Blob(parts), entries, size, files};
}
