// The rate over time as a small picture, and what follows from it.
import {dots, lasting, size, svg, t} from "/parts.js";

// Bytes a second over the last three seconds; 0 if nothing moves.
export function rate({samples}) {
	const last = samples.at(-1), from = samples.findLast(s => last.at - s.at > 3000) ?? samples[0];
	return last && last.at > from.at ? (last.bytes - from.bytes) / (last.at - from.at) * 1000 : 0;
}

export function figures(transfer) {
	const {bytes, total, state} = transfer, speed = rate(transfer);
	if (!bytes && !total) return "";
	if (state === "over") {
		const took = transfer.samples.length > 1 ? (transfer.samples.at(-1).at - transfer.samples[0].at) / 1000 : 0;
		return took > .5 ? t("tookFigures", {size: size(bytes), time: lasting(took), rate: size(bytes / took)}) : size(bytes || total);
	}
	return dots(t("figures", {done: size(bytes), total: size(total)}), speed > 0 && t("rate", {rate: size(speed)}),
		speed > 0 && total > bytes && t("left", {time: lasting((total - bytes) / speed)}));
}

// The picture: 240 by 40, the highest rate at the top.
export function plot({samples}) {
	const rates = [];
	for (let n = 1; n < samples.length; n++) {
		const span = samples[n].at - samples[n - 1].at;
		rates.push({at: samples[n].at, rate: Math.max(0, samples[n].bytes - samples[n - 1].bytes) / span * 1000});
	}
	if (rates.length < 3) return null;
	const from = rates[0].at, span = rates.at(-1).at - from || 1, most = Math.max(...rates.map(r => r.rate)) || 1;
	const line = rates.map(r => `${((r.at - from) / span * 240).toFixed(1)} ${(38 - r.rate / most * 34).toFixed(1)}`).join("L");
	return svg("svg", {class: "plot", viewBox: "0 0 240 40", preserveAspectRatio: "none", role: "img", "aria-label": t("plot", {rate: size(most)})},
		svg("path", {class: "area", d: `M0 40L${line}L240 40z`}), svg("path", {class: "line", d: "M" + line}));
}
