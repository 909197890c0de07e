import {alarm, attempt, button, cardHead, counted, dots, eachSecond, empty, family, field, fold, form, framed, h, hasFocus, head, icon, label,
	lasting, named, on, person, put, row, select, shown, size, store, t, warning} from "/parts.js";

function itemRow(offer, item, boxes) {
	const kind = family(item.type, item.kind);
	const note = dots(t("family-" + kind), item.size !== undefined ? size(item.size) : item.sizeHint && t("about", {size: size(item.sizeHint)}),
		item.entries && t("inside", {n: item.entries - 1}));
	const box = offer.count > 1 && h("input", {type: "checkbox", checked: true});
	if (box) boxes.push({box, item: item.item});
	const picture = item.hasPreview ? h("img", {src: `${store.facts.previews}/offers/${offer.offer}/${item.item + 1}`, alt: "", width: 56, height: 56,
		onerror: event => event.target.replaceWith(icon(kind))}) : icon(kind);
	return h("li", h(box ? "label" : "div", box, ...row(picture, item.name, h("span", {title: item.type}, note)).childNodes));
}

// A stranger can become a contact while the offer waits.
const isKnown = offer => offer && !!(offer.from.contact ??= store.contacts.get(offer.from.id)?.name);

function card(offer) {
	const boxes = [], known = isKnown(offer), error = alarm(), rest = offer.count - offer.items.length;
	const folder = field({placeholder: t("folderHint")}), left = h("span.left");
	let busy = false;
	// Makes calls until one fails: somebody has answered elsewhere, and the stream says how.
	const act = async (...steps) => {
		if (busy) return;
		busy = true;
		for (const [path, values] of steps) {
			const result = await attempt(error, path, values);
			if (result.exit) {busy = false; return;}
			for (const item of result.lines.flatMap(line => line.present ?? [])) error.textContent += t("alreadyThere", {name: item.name, path: item.stored}) + " ";
		}
	};
	const accept = () => {
		const some = boxes.filter(({box}) => box.checked).map(({item}) => item);
		return ["offers/accept", {offer: offer.offer, items: some.length < boxes.length ? some : undefined, folder: folder.value.trim() || undefined}];
	};
	const yes = button("accept", () => act(accept()), ".primary");
	const count = () => {
		const n = boxes.filter(({box}) => box.checked).length;
		put(yes, n === boxes.length ? t("accept") : t("acceptSome", {some: n, all: boxes.length}));
		yes.disabled = !n && boxes.length > 0;
	};
	const said = (key, text) => text && h("p", h("strong", t(key), ": "), named(text, "bdi"));
	const node = h("li.card.offer",
		cardHead(icon(known ? "contacts" : "warn"), h("h2", t("offers", {
			who: person(offer.from, offer.via), items: counted(offer.count), size: offer.size === undefined ? t("unknownSize") : size(offer.size),
		})), [t(known ? "isContact" : offer.from.id ? "provedStranger" : "provedNothing"), offer.free && " · " + t("free", {size: size(offer.free)}), left]),
		offer.warning && warning(shown(offer.warning)), said("subject", offer.subject), said("note", offer.note),
		h("ul.things", {onchange: count}, offer.items.map(item => itemRow(offer, item, boxes)), rest > 0 && h("li.help", t("others", {n: rest}))),
		error, h("p.row.answers", yes, button("decline", () => act(["offers/decline", {offer: offer.offer}]))),
		fold(t("moreAnswers"), h("div.fields", label("intoFolder", folder),
			known ? always(offer, act, accept) : offer.from.id && befriend(offer, act),
			h("p", button("declineBlock", () => act(["offers/decline", {offer: offer.offer, blocks: true}]), ".danger")))));
	node.known = known;
	node.tick = () => {
		const seconds = (new Date(offer.expires) - Date.now()) / 1000;
		put(left, " · " + t("left", {time: lasting(seconds)}));
		left.classList.toggle("soon", seconds < 30);
	};
	return node;
}

// The key of a stranger becomes a contact's.
function befriend({offer, from}, act) {
	const name = field({value: from.name ?? "", required: true});
	return form(".row", () => act(["contacts/allow", {offer, name: name.value.trim()}]),
		h("label.what", t("makeContact"), name), h("button", {type: "submit"}, t("add")));
}

function always(offer, act, accept) {
	const choice = (first, ...more) => select([first, ...more].map(value => [value, t(value)]));
	const types = choice("any", ...new Set(offer.items.map(item => item.type))), most = choice("any", "100MB", "1GB", "10GB");
	const time = choice("ever", "1d", "7d", "30d");
	const set = () => ["contacts/set", {contact: offer.from.id, policy: "accept", types: [types.value], sizeAtMost: most.value, lasting: time.value}];
	return h("fieldset", h("legend", t("alwaysTitle", {name: offer.from.contact})),
		h("div.grid3", label("types", types), label("upTo", most), label("howLong", time)),
		button("always", () => act(set(), accept())));
}

export function open(main, signal) {
	const list = h("ul.cards"), cards = new Map(), none = empty("questions", "noQuestions");
	let clock = null;
	const draw = framed(() => {
		for (const [number, node] of cards) if (node.known !== isKnown(store.offers.get(number))) {
			const focused = hasFocus(node);
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
	on("offers contacts", draw, signal);
	draw();
}
