// Entry, views and streams.
import {$, call, changed, h, icon, learnTypes, lineOf, linesOf, on, post, problem, put, request, say, show, store, t,
	watch} from "/parts.js";
import {acceptDrops} from "/drops.js";
import {heard} from "/events.js";
import {titled} from "/feedback.js";
import {learnSettings} from "/known.js";
import {startQuestions} from "/question.js";
import {startVisibility} from "/visible.js";

// The views of the bar, and those that belong to one of them.
const VIEWS = {room: ["room"], inbox: ["inbox"], history: ["history", "transfers"],
	settings: ["settings", "contacts", "handlers"]};
const ALL = Object.values(VIEWS).flat();

const secret = location.hash.slice(1), fresh = secret && !ALL.includes(secret.split("/")[0]);
if (fresh) history.replaceState(null, "", "/");

// Shows why nothing works now; "" removes it.
function trouble(text) {
	put($("trouble"), text);
	show($("trouble"), text);
}

async function enter() {
	if (fresh) await post("/enter",
		{secret}).then(async answer => {if (answer.ok) sessionStorage.token = (await answer.json()).token;}).catch(() => 0);
	const answer = await request("/facts").catch(() => null);
	if (answer?.ok) return store.facts = await answer.json();
	$("bar").remove();
	$("main").append(h("section.card.door", h("h1", t(answer ? "spentTitle" : "unreachable")),
		answer && h("p", t("spentHelp")), h("pre", h("code", "waft desk"))));
	document.title = "Waft";
}

let leave = new AbortController(), current = "";

// Opens the view that the address names. Its module has `open(main, signal, rest)`.
async function showView(focus) {
	const [name, rest] = location.hash.slice(1).split("/"), view = ALL.includes(name) ? name : "room";
	leave.abort();
	const {signal} = leave = new AbortController(), module = await import(`/${view}.js`);
	if (signal.aborted) return;
	const again = current === view, [first, views] = Object.entries(VIEWS).find(([, views]) => views.includes(view));
	current = view;
	for (const link of $("nav").querySelectorAll("a")) link.ariaCurrent = link.dataset.view === first ? "page" : null;
	const main = $("main");
	main.className = view;
	main.replaceChildren(...tabs(views, view));
	module.open(main, signal, rest && decodeURIComponent(rest));
	titled(t(view));
	if (focus && !again) {main.focus({preventScroll: true}); scrollTo(0, 0);}
}

// The views of a group beside each other.
const tabs = (views, now) => views.length < 2 ? [] : [h("nav.tabs", {ariaLabel: t(views[0])}, views.map(view =>
	h("a", {href: "#" + view, ariaCurrent: view === now ? "page" : null}, t(view === "settings" ? "general" : view))))];

function drawNav() {
	put($("skip"), t("skip"));
	$("nav").ariaLabel = t("views");
	$("nav").firstElementChild.append(...Object.keys(VIEWS).map(view => h("li",
		h("a", {href: "#" + view, "data-view": view}, icon(view),
		h("span", t(view)), h("b.count", {hidden: true})))));
}

// A sign beside the name of a view, and its meaning; "" for none.
function mark(view, sign, words) {
	const node = $("nav").querySelector(`[data-view=${view}] .count`);
	put(node, sign);
	node.title = node.ariaLabel = sign && words;
	show(node, sign);
	return node;
}

function countMoving() {
	const n = [...store.transfers.values()].filter(({state}) => state === "moving").length;
	mark("history", n || "", t("underWay", {n}));
}

let isFaulty = false;

// A fault in the file of the settings is quiet: what was set before still counts.
function markFaults() {
	const now = store.faults.length > 0;
	mark("settings", now ? "!" : "", t("settingsFault")).classList.add("quiet");
	if (now && !isFaulty) say(t("settingsFault"));
	isFaulty = now;
}

let asked = 0;

async function learnContacts() {
	const mine = ++asked, result = await call("contacts");
	// A later list is newer.
	if (result.exit || mine < asked) return;
	store.contacts = new Map(linesOf(result, "contact").map(line => [line.id, line]));
	// A group stands among the peers: it has members, and no key.
	store.groups = linesOf(result, "group").filter(({peers}) => peers.length)
		.map(({name, peers}) => ({id: "@" + name, name, members: peers}));
	store.strangers = linesOf(result, "blockedStranger");
	store.knowsContacts = true;
	changed("contacts");
	changed("peers");
}
on("contactsChanged", learnContacts);
on("settings", learnSettings);

// To set protection up, or give it up, changes a setting.
async function learnProtection() {
	const {protection} = store, result = await call("protection");
	// A lock or an unlock in the meantime is newer.
	if (store.protection !== protection) return learnProtection();
	store.protection = lineOf(result, "protection") ?? null;
	changed("protection");
}

on("settings", learnProtection);

function run() {
	let away = null;
	const learn = () => {learnContacts(); learnProtection(); learnSettings();};
	learn();
	watch("receiver", {
		began: line => {
			if (away === false || line.event === "failed" && line.exit) return;
			// From here on the stream tells changes.
			learn();
			store.isReceiving = true;
			changed("receiver");
			if (away) {trouble(""); say(t("back")); changed("back");}
			away = false;
		},
		each: heard,
		ended: result => {
			// The room has a button for it.
			const why = result.exit === 69 ? "" : result.exit === -1 ? t("unreachable") : t("broken") + " " + problem(result);
			for (const one of store.transfers.values()) if (one.way === "in" && one.state === "moving") Object.assign(one,
				{state: "over", ended: Date.now(), reason: why || t("noReceiver")});
			store.offers.clear();
			store.visibility = store.receiver = null;
			store.isReceiving = result.exit === 69 ? false : undefined;
			["offers", "transfers", "visibility", "receiver"].forEach(topic => changed(topic));
			away = true;
			trouble(why);
		},
	});
	// Without a receiver, nobody tells of the file.
	const look = () => store.isReceiving === false && !document.hidden && learnSettings();
	addEventListener("focus", look);
	document.addEventListener("visibilitychange", look);
	watch("peers", {
		each: heard,
		ended: () => {store.peers.clear(); store.away.clear(); changed("peers");},
	});
}

drawNav();
if (await enter()) {
	learnTypes(store.facts.families);
	on("transfers", countMoving);
	on("known", markFaults);
	startVisibility();
	startQuestions();
	run();
	acceptDrops();
	addEventListener("hashchange", () => showView(true));
	if (store.facts.shared?.length) import("/send.js").then(send => send.openSheet({paths: store.facts.shared}));
	await showView(false);
}
document.documentElement.classList.add("ready");
