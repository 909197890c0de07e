import {brief, button, call, cardHead, changed, counted, cut, dots, eachSecond, empty, family, fate, faultOf, fold,
	framed, h, h2, hasFocus, head, icon, isContact, isolated, lasting, linesOf, on, oneOf, person, put, replace,
	row, said, sign, size, store, svg, t, update, when, why} from "/parts.js";
import {okay} from "/events.js";

// Bytes a second over the last three seconds; 0 if nothing moves.
export function rate({samples}) {
	const last = samples.at(-1), from = samples.findLast(s => last.at - s.at > 3000) ?? samples[0];
	return last?.at > from?.at && performance.now() - last.at < 5e3
		? (last.bytes - from.bytes) / (last.at - from.at) * 1000 : 0;
}

// Seconds without data; 0 while some come.
export function standstill({heard, state}) {
	const quiet = heard ? (performance.now() - heard) / 1000 : 0;
	return state === "moving" && quiet > 5 ? Math.floor(quiet) : 0;
}

function figures(transfer) {
	const {bytes, total, state, good} = transfer, speed = rate(transfer), quiet = standstill(transfer);
	if (!bytes && !total) return "";
	if (state === "over") {
		const took = transfer.samples.length > 1 ? (transfer.samples.at(-1).at - transfer.samples[0].at) / 1000 : 0;
		return took > .5 ? t("tookFigures", {size: size(bytes), time: lasting(took), rate: size(bytes / took)})
			: bytes || good ? size(bytes || total) : "";
	}
	return dots(t("figures", {done: size(bytes), total: size(total)}), quiet && t("standsStill", {n: quiet}),
		speed > 0 && t("rate", {rate: size(speed)}),
		speed > 0 && total > bytes && t("left", {time: lasting((total - bytes) / speed)}));
}

// 240 by 40; the highest rate is at the top.
function plot({samples}) {
	const rates = [];
	for (let n = 1; n < samples.length; n++) {
		const span = samples[n].at - samples[n - 1].at;
		rates.push({at: samples[n].at, rate: Math.max(0, samples[n].bytes - samples[n - 1].bytes) / span * 1000});
	}
	if (rates.length < 3) return null;
	const from = rates[0].at, span = rates.at(-1).at - from || 1, most = Math.max(...rates.map(r => r.rate)) || 1;
	const point = ({at, rate}) => [(at - from) / span * 240, 38 - rate / most * 34].map(n => n.toFixed(1)).join(" ");
	const line = rates.map(point).join("L");
	return svg("svg", {class: "plot", viewBox: "0 0 240 40", preserveAspectRatio: "none", role: "img",
		"aria-label": t("plot", {rate: size(most)})},
		svg("path", {class: "area", d: `M0 40L${line}L240 40z`}), svg("path", {class: "line", d: "M" + line}));
}

function heading({way, to, peer, count, results}) {
	const who = way === "out" ? to : person(peer);
	return t(way === "out" ? "itemsTo" : "itemsFrom", {items: counted(count || results.length || 1), who});
}

// Those of a group that do not have everything.
function lacking(results) {
	const names = results.filter(r => !okay(r)).map(r => isolated(brief(r.name))), n = names.length - 3;
	return names.length > 0
		&& t("lacking", {who: [...names.slice(0, 3), ...(n > 0 ? [t("others", {n})] : [])].join(", ")});
}

export function stateOf({way, to, state, queued, good, cancelled, results, count, of, copies}) {
	const stored = results.filter(okay).length;
	if (queued && (good || state === "asking")) return t("queuedAs");
	if (state === "asking") return t(copies ? "loading" : "waitingFor", {who: to});
	if (cancelled) return t("cancelled");
	if (state === "handling") return t("allStored");
	if (state === "moving") return t(way === "out" ? "sending" : "receiving");
	if (!stored) return t(results.length && results.every(r => r.state === "declined") ? "wasDeclined" : "notSent");
	return stored < (of ?? count) ? dots(t("someStored", {stored, n: of ?? count}), of && lacking(results))
		: t(way === "out" ? "allStored" : "allArrived", {n: stored});
}

function resultRow({state, name = "", stored, size: bytes, answer, cause, exit, arrival}) {
	const good = okay({state}), isRenamed = stored && stored !== name;
	const text = dots(isRenamed ? t("storedAs", {name: stored}) : oneOf("result-", state),
		!/none|pending/.test(answer) && oneOf("delivery-", answer), !good && (cause || exit) && why({cause, exit}),
		bytes && size(bytes));
	return fate(good, arrival ? h("a", {href: "#inbox/" + arrival}, cut(name)) : name, text);
}

// A stranger may be refused whatever it sends.
const needsPairing = ({way, peer, results}) => way === "out" && peer.via === "waft" && !isContact(peer)
	&& results.some(({cause}) => cause === "rule");

// A card is made once: nothing in it loses the focus.
function card(transfer) {
	const bar = h("progress", {max: 1, ariaLabel: heading(transfer)}), title = h("h2"), says = h("span"),
		numbers = h("p.figures"), picture = h("div");
	const note = h("p.help"), list = h("ul.things"), more = fold(t("itsItems"), list), words = h("div"), drawn = {};
	const cancel = h("button", {onclick: () => transfer.cancel?.(), ariaLabel: t("cancelOne", {what: heading(transfer)})},
		t("cancel"));
	const again = button("again", () => transfer.again());
	const hide = sign(t("hide"), "cross", () => {store.transfers.delete(transfer.key); changed("transfers");});
	const node = h("li.card.transfer", cardHead(icon(transfer.way === "out" ? "send" : "inbox"), title, says, cancel,
		again, hide),
		bar, picture, numbers, note, more, words);
	node.update = () => {
		const {good, cancelled, total, bytes, samples, items} = transfer, over = transfer.state === "over";
		put(title, heading(transfer));
		put(says, stateOf(transfer));
		node.classList.toggle("good", over && !!good);
		node.classList.toggle("wrong", over && !good && !cancelled);
		if (transfer.state === "moving" && total) bar.value = Math.min(1, bytes / total); else bar.removeAttribute("value");
		bar.hidden = over;
		put(numbers, transfer.state === "asking" ? size(total || 0) : figures(transfer));
		put(note, [transfer.note, transfer.reason, transfer.hasRemarks && t("remarks"),
			needsPairing(transfer) && t("pairFirst")].filter(Boolean).join(" "));
		if (drawn.said !== transfer.said.size) {drawn.said = transfer.said.size; replace(words, said([...transfer.said]));}
		again.hidden = !over || good || !transfer.again;
		cancel.hidden = over || cancelled || !transfer.cancel;
		hide.hidden = !over && transfer.cancel;
		if (samples.length !== drawn.samples) {
			drawn.samples = samples.length;
			picture.replaceChildren(...[plot(transfer)].filter(Boolean));
		}
		const results = JSON.stringify(transfer.results);
		if (results === drawn.results) return;
		drawn.results = results;
		const told = new Set(transfer.results.map(r => r.item)),
			rest = items.filter((_, place) => !told.has(place)).slice(0, 100);
		list.replaceChildren(...transfer.results.map(resultRow),
			...rest.map(item => row(family(item.type, item.kind), item.name, size(item.size))));
		more.hidden = !list.firstChild;
		if (transfer.results.some(r => !okay(r)) || transfer.results.length === 1) more.open = true;
	};
	return node;
}

let later = 0;

async function drawOutbox(node) {
	if (!node.isConnected) return;
	const jobs = linesOf(await call("outbox"), "job").reverse();
	const act = ({job}, action, key = action) => h("button",
		{"data-key": action + job, ariaLabel: `${t(key)} ${job}`, onclick: async () => {
		const done = await call("outbox/" + action, {job});
		await drawOutbox(node);
		if (done.exit) node.append(faultOf(done));
	}}, t(key));
	const who = ({peer, to}) => peer || store.contacts.has(to) ? person(peer ?? {id: to}) : isolated(to);
	const card = job => h("li.card.job", cardHead(icon("history"),
		h("h3", t("itemsTo", {items: counted(job.count), who: who(job)})),
		dots(t("job-state-" + job.state), job.state === "waiting" && job.due && t("nextTry", {time: when(job.due)}),
			size(job.size)),
	/waiting|failed/.test(job.state) && act(job, "retry", "job-retry"),
	act(job, /waiting|sending/.test(job.state) ? "cancel" : "remove")),
	job.exit && h("p.help", why(job)), said([job.reason]),
		h("p.help", job.items.slice(0, 4).map((item, n) => [n ? ", " : "", h("bdi", brief(item.name))])));
	clearTimeout(later);
	// Nothing tells of a job's end.
	if (jobs.some(job => /waiting|sending/.test(job.state))) later = setTimeout(function again() {
		document.hidden ? later = setTimeout(again, 1e4) : drawOutbox(node);
	}, 1e4);
	update(node, jobs.length > 0 && h("section", h2("outbox"), h("ul.cards", jobs.map(card))));
}

export function open(main, signal) {
	const list = h("ul.cards"), none = empty("transfers", "noTransfers"), outbox = h("div"), cards = new Map();
	const draw = framed(() => {
		for (const [key, node] of cards) if (!store.transfers.has(key)) {
			if (hasFocus(node)) main.focus();
			node.remove();
			cards.delete(key);
		}
		for (const [key, transfer] of store.transfers) if (!cards.has(key)) {
			cards.set(key, card(transfer));
			list.prepend(cards.get(key));
		}
		for (const node of cards.values()) node.update();
		none.hidden = cards.size > 0;
	});
	main.append(head("transfers"), none, list, outbox);
	on("transfers", draw, signal);
	on("outbox back contacts", () => drawOutbox(outbox), signal);
	eachSecond(draw, signal);
	drawOutbox(outbox);
}
