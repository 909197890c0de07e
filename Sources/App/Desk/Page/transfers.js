// The view of the transfers of this window, both ways, and of the outbox.
import {alarm, dots, empty} from "/parts.js";
import {framed, make, named, replace, shown, isolated} from "/dom.js";
import {icon} from "/icons.js";
import {figures, plot} from "/plot.js";
import {called, changed, on, store} from "/store.js";
import {family} from "/types.js";
import {problem, verb} from "/verbs.js";
import {has, size, when, word} from "/words.js";

const okay = state => /^(stored|sent|opened|deferred|handlerFailed|there)$/.test(state);

function heading(transfer) {
	const name = isolated(transfer.way === "out" ? transfer.to : called(transfer.peer) || "?"), n = transfer.count || transfer.results.length || 1;
	return word(transfer.way === "out" ? "itemsTo" : "itemsFrom", {items: word("items", {n}), who: name});
}

function state(transfer) {
	const stored = transfer.results.filter(r => okay(r.state)).length;
	if (transfer.state === "asking") return transfer.queued ? word("queuedAs", {n: transfer.queued}) : word("waitingFor", {name: transfer.to});
	if (transfer.state === "moving") return word(transfer.way === "out" ? "sending" : "receiving");
	if (transfer.queued && transfer.good) return word("queuedAs", {job: transfer.queued});
	if (transfer.cancelled) return word("cancelled");
	if (!stored) return word(transfer.results.length && transfer.results.every(r => r.state === "declined") ? "wasDeclined" : "notSent");
	return stored < (transfer.count || stored) ? word("someStored", {stored, n: transfer.count}) : word(transfer.way === "out" ? "allStored" : "allArrived", {n: stored});
}

function resultLine(r) {
	const key = "result-" + r.state, text = dots(r.stored && r.stored !== r.name ? word("storedAs", {name: r.stored}) : has(key) ? word(key) : r.state,
		r.answer && /^(yes|no|later|failed)$/.test(r.answer) && word("handler-" + r.answer), r.reason && shown(r.reason));
	return make(`li${okay(r.state) ? ".good" : ".wrong"}`, icon(okay(r.state) ? "check" : "cross"), make("div.what", r.arrival
		? make("a", {href: "#inbox/" + r.arrival}, named(r.name ?? "")) : named(r.name ?? ""), make("span.note", text, r.size ? " · " + size(r.size) : "")));
}

/** One card, made once and kept up to date, so that nothing in it loses the focus. */
function card(transfer) {
	const bar = make("progress", {max: 1}), title = make("h3"), says = make("span.state"), numbers = make("p.figures"), picture = make("div"), list = make("ul.things", {role: "list"});
	const note = make("p.help"), more = make("details", make("summary", word("details")), list), n = {drawn: -1, results: -1};
	const cancel = make("button", {type: "button", onclick: () => transfer.cancel?.(), "aria-label": word("cancelOne", {what: heading(transfer)})}, word("cancel"));
	const hide = make("button.round", {type: "button", "aria-label": word("hide"), onclick: () => {store.transfers.delete(transfer.key); changed("transfers");}}, icon("cross"));
	bar.ariaLabel = heading(transfer);
	const node = make("li.card.transfer", make("div.head", make("span.way", icon(transfer.way === "out" ? "send" : "inbox")), make("div.what", title, says), cancel, hide), bar, picture, numbers, note, more);
	node.update = () => {
		const over = transfer.state === "over";
		title.textContent = heading(transfer);
		says.textContent = state(transfer);
		node.classList.toggle("good", over && !!transfer.good);
		node.classList.toggle("wrong", over && !transfer.good && !transfer.cancelled);
		if (transfer.state === "moving" && transfer.total) bar.value = Math.min(1, transfer.bytes / transfer.total); else bar.removeAttribute("value");
		bar.hidden = over;
		numbers.textContent = transfer.state === "asking" ? size(transfer.total || 0) : figures(transfer);
		note.textContent = [transfer.note, transfer.reason, ...(transfer.remarks ?? [])].filter(Boolean).map(shown).join(" ");
		note.hidden = !note.textContent;
		cancel.hidden = over || !transfer.cancel;
		hide.hidden = !over;
		if (transfer.samples.length !== n.drawn) {n.drawn = transfer.samples.length; picture.replaceChildren(...[plot(transfer)].filter(Boolean));}
		const results = JSON.stringify(transfer.results);
		if (results !== n.results) {
			n.results = results;
			const told = new Set(transfer.results.map(r => r.item)), rest = transfer.items.filter((_, place) => !told.has(place)).slice(0, 100);
			list.replaceChildren(...transfer.results.map(resultLine), ...rest.map(item => make("li", icon(family(item.type, item.kind)), make("div.what", named(item.name), item.size !== undefined && make("span.note", size(item.size))))));
			if (transfer.results.some(r => !okay(r.state)) || transfer.results.length === 1) more.open = true;
		}
	};
	return node;
}

async function drawOutbox(node) {
	const result = await verb(["outbox", "list", "--all"]), jobs = result?.lines.filter(l => l.event === "job") ?? [];
	const act = (job, action) => make("button", {type: "button", "data-key": action + job.job, onclick: async () => {
		const done = await verb(["outbox", action, job.job]);
		await drawOutbox(node);
		if (done.exit) node.append(alarm(problem(done)));
	}, "aria-label": word("job-" + action) + ` ${job.job}`}, word("job-" + action));
	replace(node, jobs.length > 0 && make("section", make("h2", word("outbox")), make("ul.cards", {role: "list"}, jobs.reverse().map(job => make("li.card.job", make("div.head",
		make("span.way", icon("history")), make("div.what", make("h3", word("itemsTo", {items: word("items", {n: job.count}), who: isolated(job.to)})),
			make("span.state", word("job-state-" + job.state), job.state === "waiting" && job.due ? " · " + word("nextTry", {time: when(job.due)}) : "", " · ", size(job.size))),
		job.state === "waiting" && [act(job, "retry"), act(job, "cancel")], job.state === "failed" && act(job, "retry"), !/waiting|sending/.test(job.state) && act(job, "remove")),
		job.reason && make("p.help", shown(job.reason)), make("p.help", job.items.slice(0, 4).map((item, n) => [n ? ", " : "", named(item.name)])))))));
}

export function open(main, signal) {
	const list = make("ul.cards", {role: "list"}), none = empty("transfers", "noTransfers"), outbox = make("div");
	const cards = new Map();
	const draw = framed(() => {
		for (const [key, node] of cards) if (!store.transfers.has(key)) {node.remove(); cards.delete(key); none.isConnected && main.focus();}
		for (const [key, transfer] of store.transfers) if (!cards.has(key)) {cards.set(key, card(transfer)); list.prepend(cards.get(key));}
		for (const node of cards.values()) node.update();
		none.hidden = cards.size > 0;
	});
	main.append(make("h1", word("transfers")), none, list, outbox);
	on("transfers", draw, signal);
	on("outbox back", () => drawOutbox(outbox), signal);
	draw();
	drawOutbox(outbox);
}
