// The view of the questions: offers that wait for an answer.
import {alarm, attempt, button, cardHead, changed, dots, eachSecond, empty, family, field, fold, framed, h, head, icon, isolated, label, lasting, named, on,
	row, select, short, shown, size, store, t, warning, wayOf} from "/parts.js";

/** The sender as the terminal names it: the contact, or `stranger`, its name and its key. */
function sender({from, via}) {
	if (from.contact) return isolated(from.contact);
	return dots(t("strangerIs", {name: from.name ?? "?", key: from.id ? short(from.id) : t("noKey")}), wayOf(via));
}

/** An item; the boxes of several are in `boxes`. */
function itemRow(offer, item, boxes) {
	const kind = family(item.type, item.kind);
	const note = dots(t("family-" + kind), item.size !== undefined ? size(item.size) : item.sizeHint && t("about", {size: size(item.sizeHint)}),
		item.entries && t("inside", {n: item.entries - 1}));
	const box = offer.count > 1 && h("input", {type: "checkbox", checked: true});
	if (box) boxes.push({box, item: item.item});
	const picture = item.hasPreview ? h("img", {src: `${store.facts.previews}/offers/${offer.offer}/${item.item}`, alt: "", width: 56, height: 56,
		onerror: event => event.target.replaceWith(icon(kind))}) : icon(kind);
	return h("li", h(box ? "label" : "div", box, ...row(picture, item.name, h("span", {title: item.type}, note)).childNodes));
}

function card(offer) {
	const boxes = [], known = !!offer.from.contact, error = alarm(), id = "offer-" + offer.offer, rest = offer.count - offer.items.length;
	const folder = field({placeholder: t("folderHint"), id: id + "-folder"}), left = h("span.left");
	/** Runs verbs, until one fails: then somebody has answered elsewhere, and the stream says how. */
	const act = async (...steps) => {
		const busy = yes => node.querySelectorAll("button").forEach(one => {one.disabled = yes;});
		busy(true);
		for (const words of steps) {
			const result = await attempt(error, ...words);
			if (result.exit) return busy(false);
			for (const item of result.lines.flatMap(line => line.present ?? [])) error.textContent += t("alreadyThere", {name: item.name, path: item.stored}) + " ";
		}
	};
	const accept = () => {
		const some = boxes.filter(({box}) => box.checked).map(({item}) => item + 1);
		return ["accept", offer.offer, ...(some.length < boxes.length ? ["--items", some.join(",")] : []), ...(folder.value.trim() ? ["--to", folder.value.trim()] : [])];
	};
	const yes = button("accept", () => act(accept()), ".primary");
	const count = () => {
		const n = boxes.filter(({box}) => box.checked).length;
		yes.textContent = n === boxes.length ? t("accept") : t("acceptSome", {some: n, all: boxes.length});
		yes.disabled = boxes.length > 0 && !n;
	};
	const said = (key, text) => text && h("p", h("strong", t(key), ": "), named(text, "bdi"));
	const node = h("li.card.offer",
		cardHead(icon(known ? "contacts" : "warn"), h("h2", t("offers", {
			who: sender(offer), items: t("items", {n: offer.count}), size: offer.size === undefined ? t("unknownSize") : size(offer.size),
		})), [t(known ? "provedContact" : offer.from.id ? "provedStranger" : "provedNothing"), offer.free && " · " + t("free", {size: size(offer.free)}), left]),
		offer.warning && warning(shown(offer.warning)), said("subject", offer.subject), said("note", offer.note),
		h("ul.things", {onchange: count}, offer.items.map(item => itemRow(offer, item, boxes)), rest > 0 && h("li.help", t("others", {n: rest}))),
		error, h("p.row.answers", yes, button("decline", () => act(["decline", offer.offer]))),
		fold(t("moreAnswers"), h("div.fields", h("label", {for: folder.id}, t("intoFolder")), folder,
			known ? always(offer, act, accept) : offer.from.id && newContact(offer, act),
			h("p", button("declineBlock", () => act(["decline", offer.offer, "--block"]), ".danger")))));
	/** Says the time that is left. */
	node.tick = () => {
		const seconds = (new Date(offer.expires) - Date.now()) / 1000;
		left.textContent = " · " + t("left", {time: lasting(seconds)});
		left.classList.toggle("soon", seconds < 30);
	};
	return node;
}

/** Accept from this contact without a question, with limits. */
function always(offer, act, accept) {
	const types = select([["any", t("anyType")], ...[...new Set(offer.items.map(i => i.type))].slice(0, 10).map(type => [type, shown(type)])]);
	const most = select([["any", t("anySize")], ["100MB", "100 MB"], ["1GB", "1 GB"], ["10GB", "10 GB"]]);
	const time = select([["ever", t("ever")], ["1d", t("for1d")], ["7d", t("for7d")], ["30d", t("for30d")]]);
	const set = () => ["contacts", "set", offer.from.id, "--policy", "accept", "--types", types.value, "--size-at-most", most.value, "--for", time.value];
	return h("fieldset", h("legend", t("alwaysTitle", {name: offer.from.contact})),
		h("div.grid3", label("types", types), label("upTo", most), label("howLong", time)),
		button("always", async () => {await act(set(), accept()); changed("contactsChanged");}));
}

/** A stranger with a key becomes a contact. */
function newContact({from, offer}, act) {
	const name = field({value: shown(from.name), maxLength: 63});
	return h("fieldset", h("legend", t("newContact")), h("p.help", t("newContactHelp", {key: short(from.id)})),
		h("div.row", label("itsName", name), button("addContact", async () => {
			await act(["contacts", "allow", "--from-offer", offer, "--name", name.value.trim()]);
			changed("contactsChanged");
		})));
}

export function open(main, signal) {
	const list = h("ul.cards"), cards = new Map(), none = empty("questions", "noQuestions");
	let clock = null;
	const draw = framed(() => {
		for (const [number, node] of cards) if (!store.offers.has(number)) {
			const focused = node.contains(document.activeElement);
			node.remove();
			cards.delete(number);
			if (focused) (list.querySelector("button") ?? main).focus();
		}
		for (const [number, offer] of store.offers) if (!cards.has(number)) {cards.set(number, card(offer)); list.append(cards.get(number));}
		none.hidden = cards.size > 0;
		// The clock runs while an offer waits.
		clock?.abort();
		clock = new AbortController();
		const timed = [...cards].filter(([number]) => store.offers.get(number).expires).map(([, node]) => node);
		if (timed.length) eachSecond(() => timed.forEach(node => node.tick()), AbortSignal.any([signal, clock.signal]));
	});
	main.append(head("questions"), none, list);
	on("offers", draw, signal);
	draw();
}
