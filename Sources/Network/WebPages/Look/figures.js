// Figures as people read them, in the language of the page.
const lang = () => document.documentElement.lang;

export const number = n => n.toLocaleString(lang());

// A number of bytes, as the terminal writes it.
export function size(bytes) {
	if (bytes === undefined) return "";
	let unit = 0;
	for (; bytes >= (unit ? 999.95 : 1000) && unit < 4; unit++) bytes /= 1000;
	const digits = unit ? 1 : 0;
	return bytes.toLocaleString(lang(), {
		style: "unit", unit: ["", "kilo", "mega", "giga", "tera"][unit] + "byte", unitDisplay: unit ? "short" : "long",
		minimumFractionDigits: digits, maximumFractionDigits: digits,
	});
}
