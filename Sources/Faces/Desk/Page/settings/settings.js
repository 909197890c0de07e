// The settings: eight that everybody wants, and all of them behind a button.
import {button, fold, h, h2, head, help, icon, mono, on, put, replace, searchField, show, shown, store,
	t} from "/parts.js";
import {learnSettings} from "/known.js";
import {setting} from "/setting.js";
import {visibleChoice} from "/visible.js";

const BASICS = ["name", "visibility", "accept", "notifications", "desk.sound", "reserve",
	"dialects.localsend.enabled", "dialects.airdrop.enabled"];

const GROUPS = [["group-machine", /^(name|port|logLevel|inhibitSleep|desk)\b/],
	["group-offers", /^(accept|policy|arbiter|eligibility|previews|notifications|conflict|visibility)$/],
	["used", /^(reserve|strangerQuota|partial|inbox|outboxQuota)/],
	["group-protection", /^(protection|lock|clearQuota)/],
	["handlers", /^(hook|sandbox|openReceived|excluded|handler|outboxHook)/],
	["group-network", /^(discovery|skip|search|dialects|web)/], ["more", /./]];

// What is wrong in the file, for as long as it is.
function faults(signal) {
	const node = h("div.cards");
	const card = ({path, line, reason, receiverStarts}) => h("section.warning.fault", icon("warn"),
		h("div", h("p", t((receiverStarts ? "missingIn" : "faultIn") + (line ? "Line" : ""), {line})),
			fold(t("details"), h("p.mono", shown(path) + (line ? ":" + line : ""), " ", shown(reason)))));
	const draw = () => replace(node, (store.faults ?? []).map(card));
	on("known", draw, signal);
	draw();
	return node;
}

// Who sees this machine: it is no setting of the file, and needs a receiver.
function visibility(signal) {
	const node = h("div.setting", visibleChoice("visible-setting", signal));
	const draw = () => show(node, store.visibility);
	on("visibility", draw, signal);
	draw();
	return node;
}

function basics(main, signal) {
	const card = h("section.card.basics"), folder = h("p.help");
	const row = name => name === "visibility" ? visibility(signal) : setting(name, signal);
	const draw = () => {
		if (!card.firstChild) card.append(...BASICS.map(row));
	};
	const place = () => replace(folder, store.receiver && [t("filesIn"), " ", mono(store.receiver.inbox)]);
	on("receiver", place, signal);
	place();
	main.append(head("settings"), faults(signal), card, folder,
		h("p.row", h("a.button", {href: "#settings/all", "data-key": "allSettings"}, t("allSettings"))));
	return draw;
}

function all(main, signal) {
	const groups = h("div.cards"), find = searchField("searchSettings", () => filter());
	const none = h("p.help", {role: "status"});
	const details = button("details", () => {
		details.ariaPressed = String(groups.classList.toggle("detailed"));
	});
	details.ariaPressed = "false";
	const filter = () => {
		const text = find.value.trim().toLowerCase();
		for (const node of groups.querySelectorAll(".setting")) node.hidden = !node.dataset.find.includes(text);
		for (const group of groups.children) group.hidden = !group.querySelector(".setting:not([hidden])");
		put(none, groups.querySelector("section:not([hidden])") ? "" : t("nothingFound"));
	};
	main.append(h("div.head", h("h1", t("allSettings")), h("a.button", {href: "#settings"}, t("fewSettings"))),
		help("settingsHelp"), h("div.row.finds", find, details), faults(signal), none, groups);
	find.focus();
	return () => {
		if (groups.firstChild) return;
		const rest = new Set(store.settings.keys());
		replace(groups, GROUPS.map(([key, pattern]) => {
			const mine = [...rest].filter(name => pattern.test(name));
			mine.forEach(name => rest.delete(name));
			const note = key === "group-protection" && store.protection?.setUp === false && help("notSealed");
			return mine.length > 0 && h("section.card", h2(key), note, mine.map(name => setting(name, signal)));
		}));
		filter();
	};
}

export function open(main, signal, rest) {
	const draw = (rest === "all" ? all : basics)(main, signal);
	on("known", () => store.settings && draw(), signal);
	if (store.settings) draw();
	learnSettings();
}
