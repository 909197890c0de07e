// Entry, views and streams.
import {$, call, changed, counted, h, icon, learnTypes, lineOf, linesOf, on, person, post, problem, put, request, say, show, store, t,
	update, watch} from "/parts.js";
import {heard} from "/events.js";
import {countdown} from "/visible.js";
import {acceptDrops} from "/drops.js";

const VIEWS = ["peers", "questions", "transfers", "inbox", "history", "contacts", "handlers", "settings"];
// In narrow windows the others are behind a button.
const FIRST = 4;

const secret = location.hash.slice(1), fresh = secret && !VIEWS.includes(secret.split("/")[0]);
if (fresh) history.replaceState(null, "", "/");

// Says what holds everything up; "" when it is over.
function trouble(text) {
	put($("trouble"), text);
	show($("trouble"), text);
}

async function enter() {
	if (fresh) await post("/enter", {secret}).then(async answer => {if (answer.ok) sessionStorage.token = (await answer.json()).token;}).catch(() => 0);
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
	const [name, rest] = location.hash.slice(1).split("/"), view = VIEWS.includes(name) ? name : "peers";
	leave.abort();
	const {signal} = leave = new AbortController(), module = await import(`/${view}.js`);
	if (signal.aborted) return;
	const again = current === view;
	current = view;
	for (const link of $("nav").querySelectorAll("a")) link.ariaCurrent = link.dataset.view === view ? "page" : null;
	openNav(false);
	$("more").classList.toggle("current", VIEWS.indexOf(view) >= FIRST);
	const main = $("main");
	main.className = view;
	main.replaceChildren();
	module.open(main, signal, rest && decodeURIComponent(rest));
	showAsking();
	if (focus && !again) {main.focus({preventScroll: true}); scrollTo(0, 0);}
}

function openNav(yes) {
	$("nav").classList.toggle("open", yes);
	$("more").ariaExpanded = String(yes);
}

function drawNav() {
	put($("skip"), t("skip"));
	$("nav").ariaLabel = t("views");
	const links = VIEWS.map((view, place) => h(place < FIRST ? "li" : "li.rest",
		h("a", {href: "#" + view, "data-view": view}, icon(view), h("span", t(view)), h("b.count", {hidden: true}))));
	links.splice(FIRST, 0, h("li.more", h("button#more", {
		"aria-expanded": "false", "aria-controls": "nav", onclick: () => openNav(!$("nav").classList.contains("open")),
	}, icon("more"), h("span", t("more")))));
	$("nav").firstElementChild.append(...links);
}

function count(view, n, key) {
	const mark = $("nav").querySelector(`[data-view="${view}"] .count`);
	put(mark, n || "");
	mark.title = mark.ariaLabel = n ? t(key, {n}) : "";
	show(mark, n);
}

// Offers that wait: in the title, and above other views.
function showAsking() {
	const offers = [...store.offers.values()], n = offers.length, bar = $("asking");
	document.title = (n ? `(${n}) ` : "") + t(current) + " · Waft";
	const seen = n > 0 && current !== "questions";
	update(bar, seen && [icon("questions"), h("span", n > 1 ? t("asking", {n})
		: t("asks", {who: person(offers[0].from, offers[0].via), items: counted(offers[0].count)})),
	h("a.button.primary", {href: "#questions"}, t("answer"))]);
	show(bar, seen);
}

function showFacts() {
	put($("host"), store.facts.name);
	on("receiver", () => put($("host"), store.receiver.name));
	on("offers", () => {count("questions", store.offers.size, "asking"); showAsking();});
	on("transfers", () => count("transfers", [...store.transfers.values()].filter(({state}) => state === "moving").length, "underWay"));
	on("visibility", () => {
		const {visibility, until} = store.visibility ?? {};
		put($("seen"), visibility ? t("seen-" + visibility) + (until ? "\u00a0·\u00a0" + countdown() : "") : "");
	});
}

let asked = 0;

async function learnContacts() {
	const mine = ++asked, result = await call("contacts");
	// A later list is newer.
	if (result.exit || mine < asked) return;
	store.contacts = new Map(linesOf(result, "contact").map(line => [line.id, line]));
	store.strangers = linesOf(result, "blockedStranger");
	changed("contacts");
	changed("peers");
}
on("contactsChanged", learnContacts);

async function learnProtection() {
	const {protection} = store, result = await call("protection");
	// A lock or an unlock of meanwhile is newer.
	if (store.protection !== protection) return learnProtection();
	store.protection = lineOf(result, "protection") ?? null;
	changed("protection");
}

function run() {
	let away = null;
	const learn = () => {learnContacts(); learnProtection();};
	learn();
	watch("receiver", {
		began: line => {
			if (away === false || line.event === "failed" && line.exit) return;
			// Changes from here on are told.
			learn();
			if (away) {trouble(""); say(t("back")); changed("back");}
			away = false;
		},
		each: heard,
		ended: result => {
			const why = result.exit === 69 ? t("noReceiver") : result.exit === -1 ? t("unreachable") : t("broken") + " " + problem(result);
			for (const one of store.transfers.values()) if (one.way === "in" && one.state === "moving") Object.assign(one, {state: "over", reason: why});
			store.offers.clear();
			store.visibility = null;
			["offers", "transfers", "visibility"].forEach(topic => changed(topic));
			away = true;
			trouble(why);
		},
	});
	watch("peers", {
		each: heard,
		ended: () => {store.peers.clear(); store.away.clear(); changed("peers");},
	});
}

drawNav();
if (await enter()) {
	learnTypes(store.facts.families);
	showFacts();
	run();
	acceptDrops();
	addEventListener("hashchange", () => showView(true));
	if (store.facts.shared?.length) import("/send.js").then(send => send.openSheet({paths: store.facts.shared}));
	await showView(false);
}
document.documentElement.classList.add("ready");
