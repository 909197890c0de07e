// A folder as one file: a tar archive (POSIX pax) that is put together from the files without reading them.

const bytes = text => new TextEncoder().encode(text);

function header(name, size, type, time) {
	const block = new Uint8Array(512), put = (text, at, most) => block.set(bytes(text).subarray(0, most), at);
	const octal = (n, width) => n.toString(8).padStart(width - 1, "0").slice(-width + 1) + "\0";
	put(name, 0, 100);
	put(octal(type === "5" ? 0o755 : 0o644, 8) + octal(0, 8) + octal(0, 8) + octal(Math.min(size, 0o77777777777), 12) + octal(time, 12) + "        " + type, 100, 57);
	put("ustar\0" + "00", 257, 8);
	const sum = block.reduce((a, b) => a + b, 0);
	put(sum.toString(8).padStart(6, "0") + "\0 ", 148, 8);
	return block;
}

/** A record of a pax header: its length counts itself. */
function record(key, value) {
	const rest = bytes(` ${key}=${value}\n`).length;
	let length = rest + 1;
	while (String(length).length + rest !== length) length = String(length).length + rest;
	return `${length} ${key}=${value}\n`;
}

const padded = size => new Uint8Array((512 - size % 512) % 512);

/**
 * - files: `{file, path}`, with paths relative to the folder's parent.
 * - Returns a Blob with all of them.
 */
export function tar(files) {
	const parts = [];
	for (const {file, path} of files) {
		const time = Math.floor(file.lastModified / 1000), pax = bytes(record("path", path) + (file.size > 0o77777777777 ? record("size", file.size) : ""));
		parts.push(header("PaxHeader", pax.length, "x", time), pax, padded(pax.length));
		parts.push(header(path.slice(-90), file.size, "0", time), file, padded(file.size));
	}
	parts.push(new Uint8Array(1024));
	return new Blob(parts, {type: "application/x-tar"});
}
