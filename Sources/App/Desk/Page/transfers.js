// The view of the transfers of this window, both ways, and of the outbox.
import {alarm, called, changed, dots, empty, family, framed, has, head, icon, isolated, make, named, on, problem, replace, row, shown, sign, size, store, verb, when,
	word} from "/parts.js";
import {figures, plot} from "/plot.js";

const okay = state => /^(stored|sent|opened|deferred|handlerFailed|there)$/.test(state);

function heading({way, to, peer, count, results}) {
	const who = isolated(way === "out" ? to : called(peer) || "?");
	return word(way === "out" ? "itemsTo" : "itemsFrom", {items: word("items", {n: count || results.length || 1}), who});
}

function state({way, to, state, queued, good, cancelled, results, count}) {
	const stored = results.filter(r => okay(r.state)).length;
	if (queued && (good || state === "asking")) return word("queuedAs");
	if (state === "asking") return word("waitingFor", {name: to});
	if (cancelled) return word("cancelled");
	if (state === "moving") return word(way === "out" ? "sending" : "receiving");
	if (!stored) return word(results.length && results.every(r => r.state === "declined") ? "wasDeclined" : "notSent");
	return stored < count ? word("someStored", {stored, n: count}) : word(way === "out" ? "allStored" : "allArrived", {n: stored});
}

function resultRow({state, name = "", stored, size: bytes, answer, reason, arrival}) {
	const text = dots(stored && stored !== name ? word("storedAs", {name: stored}) : has("result-" + state) ? word("result-" + state) : state,
		has("handler-" + answer) && word("handler-" + answer), reason && shown(reason), bytes && size(bytes));
	const node = row(okay(state) ? "check" : "cross", arrival ? make("a", {href: "#inbox/" + arrival}, named(name)) : name, text);
	node.className = okay(state) ? "good" : "wrong";
	return node;
}

/** One card, made once and kept up to date, so that nothing in it loses the focus. */
function card(transfer) {
	const bar = make("progress", {max: 1, ariaLabel: heading(transfer)}), title = make("h3"), says = make("span.state"), numbers = make("p.figures"), picture = make("div");
	const note = make("p.help"), list = make("ul.things"), more = make("details", make("summary", word("details")), list), drawn = {};
	const cancel = make("button", {onclick: () => transfer.cancel?.(), ariaLabel: word("cancelOne", {what: heading(transfer)})}, word("cancel"));
	const hide = sign(word("hide"), "cross", () => {store.transfers.delete(transfer.key); changed("transfers");});
	const node = make("li.card.transfer", make("div.head", make("span.way", icon(transfer.way === "out" ? "send" : "inbox")), make("div.what", title, says), cancel, hide),
		bar, picture, numbers, note, more);
	node.update = () => {
		const {good, cancelled, total, bytes, samples, items} = transfer, over = transfer.state === "over";
		title.textContent = heading(transfer);
		says.textContent = state(transfer);
		node.classList.toggle("good", over && !!good);
		node.classList.toggle("wrong", over && !good && !cancelled);
		if (transfer.state === "moving" && total) bar.value = Math.min(1, bytes / total); else bar.removeAttribute("value");
		bar.hidden = over;
		numbers.textContent = transfer.state === "asking" ? size(total || 0) : figures(transfer);
		note.textContent = [transfer.note, transfer.reason, ...(transfer.remarks ?? [])].filter(Boolean).map(shown).join(" ");
		cancel.hidden = over || cancelled || !transfer.cancel;
		hide.hidden = !over;
		if (samples.length !== drawn.samples) {drawn.samples = samples.length; picture.replaceChildren(...[plot(transfer)].filter(Boolean));}
		const results = JSON.stringify(transfer.results);
		if (results === drawn.results) return;
		drawn.results = results;
		const told = new Set(transfer.results.map(r => r.item)), rest = items.filter((_, place) => !told.has(place)).slice(0, 100);
		list.replaceChildren(...transfer.results.map(resultRow), ...rest.map(item => row(family(item.type, item.kind), item.name, item.size !== undefined && size(item.size))));
		more.hidden = !list.firstChild;
		if (transfer.results.some(r => !okay(r.state)) || transfer.results.length === 1) more.open = true;
	};
	return node;
}

async function drawOutbox(node) {
	const jobs = (await verb(["outbox", "list", "--all"])).lines.filter(line => line.event === "job").reverse();
	const act = ({job}, action) => make("button", {"data-key": action + job, ariaLabel: `${word("job-" + action)} ${job}`, onclick: async () => {
		const done = await verb(["outbox", action, job]);
		await drawOutbox(node);
		if (done.exit) node.append(alarm(problem(done)));
	}}, word("job-" + action));
	const card = job => make("li.card.job", make("div.head", make("span.way", icon("history")),
		make("div.what", make("h3", word("itemsTo", {items: word("items", {n: job.count}), who: isolated(job.to)})),
			make("span.state", dots(word("job-state-" + job.state), job.state === "waiting" && job.due && word("nextTry", {time: when(job.due)}), size(job.size)))),
		/waiting|failed/.test(job.state) && act(job, "retry"), job.state === "waiting" && act(job, "cancel"), !/waiting|sending/.test(job.state) && act(job, "remove")),
	job.reason && make("p.help", shown(job.reason)), make("p.help", job.items.slice(0, 4).map((item, n) => [n ? ", " : "", named(item.name)])));
	replace(node, jobs.length > 0 && make("section", make("h2", word("outbox")), make("ul.cards", jobs.map(card))));
}

export function open(main, signal) {
	const list = make("ul.cards"), none = empty("transfers", "noTransfers"), outbox = make("div"), cards = new Map();
	const draw = framed(() => {
		for (const [key, node] of cards) if (!store.transfers.has(key)) {
			if (node.contains(document.activeElement)) main.focus();
			node.remove();
			cards.delete(key);
		}
		for (const [key, transfer] of store.transfers) if (!cards.has(key)) {cards.set(key, card(transfer)); list.prepend(cards.get(key));}
		for (const node of cards.values()) node.update();
		none.hidden = cards.size > 0;
	});
	main.append(head("transfers"), none, list, outbox);
	on("transfers", draw, signal);
	on("outbox back", () => drawOutbox(outbox), signal);
	draw();
	drawOutbox(outbox);
}
