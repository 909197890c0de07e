// Entry, views and streams.
import {$, make, replace, say, show} from "/dom.js";
import {icon} from "/icons.js";
import {changed, on, store} from "/store.js";
import {post, problem, verb, watch} from "/verbs.js";
import {word} from "/words.js";
import {heard} from "/events.js";
import {countdown, learnVisibility} from "/visible.js";
import {acceptDrops} from "/drops.js";

const VIEWS = ["peers", "questions", "transfers", "inbox", "history", "contacts", "handlers", "settings"];
const FIRST = 4;

const secret = location.hash.slice(1), fresh = secret && !VIEWS.includes(secret.split("/")[0]);
if (fresh) history.replaceState(null, "", "/");

/** Says that something holds everything up; "" when it is over. */
function trouble(text) {
	$("trouble").textContent = text;
	show($("trouble"), text);
}

async function enter() {
	let answer = await post("/enter", fresh ? {secret} : {}).catch(() => null);
	if (answer?.status === 403 && fresh) answer = await post("/enter", {}).catch(() => null);
	if (answer?.ok) return true;
	$("bar").remove();
	$("main").append(make("section.card.door", make("h1", word(answer ? "spentTitle" : "unreachable")),
		answer && make("p", word("spentHelp")), make("pre", make("code", "waft desk"))));
	document.title = "Waft";
	return false;
}

// Views. Each module has `title` and `open(main, signal, rest)`.

let leave = new AbortController(), current = "";

async function showView(focus) {
	const [name, rest] = location.hash.slice(1).split("/"), view = VIEWS.includes(name) ? name : "peers";
	leave.abort();
	const mine = leave = new AbortController();
	const module = await import(`/${view}.js`);
	if (mine.signal.aborted) return;
	const again = current === view;
	current = view;
	for (const link of $("nav").querySelectorAll("a")) link.dataset.view === view ? link.setAttribute("aria-current", "page") : link.removeAttribute("aria-current");
	$("nav").classList.remove("open");
	$("more").setAttribute("aria-expanded", "false");
	$("more").classList.toggle("current", VIEWS.indexOf(view) >= FIRST);
	const main = $("main");
	main.className = view;
	main.replaceChildren();
	module.open(main, mine.signal, rest && decodeURIComponent(rest));
	showAsking();
	showTitle();
	if (focus && !again) {main.focus({preventScroll: true}); scrollTo(0, 0);}
}

function drawNav() {
	$("skip").textContent = word("skip");
	$("nav").setAttribute("aria-label", word("views"));
	const links = VIEWS.map((view, place) => make(place < FIRST ? "li" : "li.rest", make("a", {
		href: "#" + view, "data-view": view,
	}, icon(view), make("span", word(view)), make("b.count", {hidden: true}))));
	links.splice(FIRST, 0, make("li.more", make("button#more", {
		type: "button", "aria-expanded": "false", "aria-controls": "nav",
		onclick: () => $("more").setAttribute("aria-expanded", String($("nav").classList.toggle("open"))),
	}, icon("more"), make("span", word("more")))));
	$("nav").firstElementChild.append(...links);
}

function count(view, n, key) {
	const mark = $("nav").querySelector(`[data-view="${view}"] .count`);
	mark.textContent = n ? String(n) : "";
	mark.title = mark.ariaLabel = n ? word(key, {n}) : "";
	show(mark, n);
}

function showTitle() {
	const n = store.offers.size;
	document.title = (n ? `(${n}) ` : "") + word(current) + " · Waft";
}

/** Above other views: the offers that wait. */
function showAsking() {
	const offers = [...store.offers.values()], bar = $("asking");
	if (current === "questions" || !offers.length) {show(bar, false); bar.replaceChildren(); return;}
	const text = offers.length === 1 ? word("asks", {name: offers[0].from.contact ?? offers[0].from.name ?? "?", items: word("items", {n: offers[0].count})})
		: word("asking", {n: offers.length});
	replace(bar, icon("questions"), make("span", text), make("a.button.primary", {href: "#questions"}, word("answer")));
	show(bar, true);
}

function facts() {
	$("host").textContent = store.facts.name;
	on("receiver", () => {$("host").textContent = store.receiver.name;});
	on("offers", () => {count("questions", store.offers.size, "asking"); showAsking(); showTitle();});
	on("transfers", () => count("transfers", [...store.transfers.values()].filter(t => t.state === "moving").length, "underWay"));
	on("visibility", () => {
		const {visibility, until} = store.visibility ?? {};
		$("seen").textContent = visibility ? word("seen-" + visibility) + (until ? " · " + countdown() : "") : "";
	});
}

async function learnContacts() {
	const found = new Map();
	const result = await verb(["contacts", "list"]);
	if (!result || result.exit) return;
	for (const line of result.lines) if (line.event === "contact") found.set(line.id, line);
	store.contacts = found;
	store.strangers = result.lines.filter(line => line.event === "blockedStranger");
	changed("contacts");
	changed("peers");
}
on("contactsChanged", learnContacts);

async function learnProtection() {
	const result = await verb(["protection", "status"]);
	store.protection = result?.lines.find(line => line.event === "protection") ?? null;
	changed("protection");
}

function run() {
	let away = false;
	const learn = () => {learnVisibility(); learnContacts(); learnProtection();};
	learn();
	watch(["offers", "--watch"], {
		began: line => {
			if (line.event === "failed" && line.exit) return;
			if (away) {trouble(""); say(word("back")); learn(); changed("back");}
			away = false;
		},
		each: heard,
		ended: ({exit, failed, errors}) => {
			store.offers.clear();
			changed("offers");
			away = true;
			trouble(exit === 69 ? word("noReceiver") : exit === -1 ? word("unreachable") : word("broken") + " " + problem({exit, failed, errors}));
		},
	});
	watch(["peers", "--watch"], {
		began: () => {},
		each: heard,
		ended: () => {store.peers.clear(); store.away.clear(); changed("peers");},
	});
	document.addEventListener("visibilitychange", () => {if (!document.hidden) learnVisibility();});
}

drawNav();
if (await enter()) {
	store.facts = await fetch("/facts").then(answer => answer.json());
	facts();
	run();
	acceptDrops();
	addEventListener("hashchange", () => showView(true));
	if (store.facts.shared?.length) import("/send.js").then(send => send.openSheet({paths: store.facts.shared}));
	await showView(false);
}
document.documentElement.classList.add("ready");
