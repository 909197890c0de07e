// Families of types, for icons, filters and pictures.

const FAMILIES = [
	["link", /url$|internet-location/],
	["folder", /^public\.(folder|directory)|package$/],
	["image", /image|jpeg|png|gif|tiff|webp|heic|heif|avif|bmp|svg|photo|raw-/],
	["movie", /movie|video|mpeg-?4$|quicktime|matroska|webm|avi$|\.mp4/],
	["sound", /audio|mp3|flac|wav|ogg|midi|sound|aiff/],
	["pdf", /pdf/],
	["archive", /archive|zip|tar|rar|7z|gzip|disk-image|xz|bzip/],
	["program", /executable|script|elf|application$|debian|rpm|appimage|source/],
	["document", /doc|sheet|presentation|office|pages|numbers|keynote|epub|word|excel|rtf|html/],
	["text", /text|json|xml|yaml|csv|log|calendar|vcard|contact/],
];
export const families = [...FAMILIES.map(([name]) => name), "other"];

export function family(type = "", kind = "") {
	if (kind === "tree") return "folder";
	if (kind === "url") return "link";
	return FAMILIES.find(([, pattern]) => pattern.test(type))?.[0] ?? "other";
}

// Whether the gateway may have a small picture.
export const hasThumb = (type, kind) => /^(image|movie|pdf)$/.test(family(type, kind));
