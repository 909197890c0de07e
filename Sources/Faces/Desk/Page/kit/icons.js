// Icons, drawn in a square of 24 by 24 with a pen of 1.75.
import {svg} from "/dom.js";

const PATHS = {
	room: "M12 13.5a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5zM7 16a7 7 0 0 1 0-10M17 6a7 7 0 0 1 0 10"
		+ "M4.2 18.8a11 11 0 0 1 0-15.6M19.8 3.2a11 11 0 0 1 0 15.6M12 14v7",
	transfers: "M8 20V5M8 5 4 9M8 5l4 4M16 4v15M16 19l-4-4M16 19l4-4",
	inbox: "M3 13l3-8h12l3 8v6H3zM3 13h5l1.5 3h5L16 13h5",
	history: "M4 12a8 8 0 1 1 2.5 5.8M4 12l-2-2M4 12l2-2M12 7.5V12l3 2",
	contacts: "M12 12a4 4 0 1 0 0-8 4 4 0 0 0 0 8zM4 21c.5-4 3.5-6 8-6s7.5 2 8 6",
	handlers: "M9 3v5M15 3v5M6 8h12v3a6 6 0 0 1-12 0zM12 17v4",
	settings: "M4 7h9M17 7h3M4 17h3M11 17h9"
		+ "M15 9.5a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5zM9 19.5a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5z",
	more: "M5 12h.01M12 12h.01M19 12h.01", send: "M4 12 20 4l-5 16-4-6zM11 14l9-10",
	laptop: "M5 5h14v10H5zM2 19h20l-2-4H4z", server: "M4 4h16v6H4zM4 14h16v6H4zM7.5 7h.01M7.5 17h.01M11 7h6M11 17h6",
	phone: "M7 3h10v18H7zM11 18h2",
	computer: "M3 5h18v11H3zM8 20h8",
		web: "M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18zM3 12h18M12 3c3 3 3 15 0 18M12 3c-3 3-3 15 0 18",
	image: "M4 5h16v14H4zM4 16l5-5 4 4 2-2 5 5M15.5 9h.01", movie: "M3 6h13v12H3zM16 11l5-3v8l-5-3",
	sound: "M9 18V6l10-2v12M9 18a2.5 2.5 0 1 1-5 0 2.5 2.5 0 0 1 5 0zM19 16a2.5 2.5 0 1 1-5 0 2.5 2.5 0 0 1 5 0z",
	document: "M6 3h9l4 4v14H6zM14 3v5h5M9 13h7M9 17h4",
	archive: "M4 4h16v5H4zM6 9h12v11H6zM10 13h4", program: "M4 5h16v14H4zM7 10l3 2-3 2M12 15h4",
		folder: "M3 6h6l2 2h10v11H3z",
	link: "M10 14a4 4 0 0 0 6 0l3-3a4 4 0 0 0-6-6l-1 1M14 10a4 4 0 0 0-6 0l-3 3a4 4 0 0 0 6 6l1-1",
	lock: "M6 11h12v9H6zM8.5 11V8a3.5 3.5 0 0 1 7 0v3", check: "M5 12l5 5 9-10", cross: "M6 6l12 12M18 6 6 18",
		warn: "M12 4 2.5 20h19zM12 10v4M12 17v.1",
	grid: "M4 4h6v6H4zM14 4h6v6h-6zM4 14h6v6H4zM14 14h6v6h-6z", list: "M8 6h12M8 12h12M8 18h12M4 6h.01M4 12h.01M4 18h.01",
	before: "M15 5l-7 7 7 7", after: "M9 5l7 7-7 7", filter: "M4 6h16M7 12h10M10 18h4",
	below: "M7 10l5 5 5-5",
	used: "M4 20V10M10 20V4M16 20v-7M21 20H3",
};

export const icon = name => svg("svg", {class: "icon", viewBox: "0 0 24 24", "aria-hidden": "true"},
	svg("path", {d: PATHS[name] ?? PATHS.document}));

export const deviceIcon = peer => {
	const kind = (peer.device ?? "").toLowerCase();
	return icon(peer.members ? "contacts" : /phone|mobile|ipad|tablet/.test(kind) ? "phone"
		: /book|laptop/.test(kind) ? "laptop" : kind in PATHS
		? kind
		: peer.via === "web" ? "web" : "computer");
};
