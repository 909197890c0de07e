// The question: an offer that waits lies over every view, one after the other.
import {$, alarm, attempt, brief, button, countedOf, cut, dots, eachSecond, face, family, field, fold, form, framed,
	h, hasFocus, icon, label, lasting, named, on, person, put, replace, row, select, show, shown, size, store, t,
	warning} from "/parts.js";
import {count} from "/feedback.js";

function itemRow(offer, item, boxes) {
	const kind = family(item.type, item.kind);
	const note = dots(t("family-" + kind), item.size !== undefined ? size(item.size) : item.sizeHint
		&& t("about", {size: size(item.sizeHint)}),
		item.entries && t("inside", {n: item.entries - 1}));
	const box = offer.count > 1 && h("input", {type: "checkbox", checked: true});
	if (box) boxes.push({box, item: item.item});
	const picture = item.hasPreview ? h("img", {src: `${store.facts.previews}/offers/${offer.offer}/${item.item + 1}`,
		alt: "", width: 56, height: 56,
		onerror: event => event.target.replaceWith(icon(kind))}) : icon(kind);
	return h("li", h(box ? "label" : "div", box, ...row(picture, item.name, note).childNodes));
}

// A stranger can become a contact while the offer waits.
const isKnown = offer => offer && !!(offer.from.contact ??= store.contacts.get(offer.from.id)?.name);

// The pictures of an offer, large; at most three.
function pictures(offer) {
	const shown = offer.items.filter(item => item.hasPreview).slice(0, 3).map(item => h("img", {
		src: `${store.facts.previews}/offers/${offer.offer}/${item.item + 1}`, alt: "",
			onerror: event => event.target.remove()}));
	const kinds = [...new Set(offer.items.map(item => family(item.type, item.kind)))].slice(0, 3);
	return h("div.pictures", {"aria-hidden": "true"}, shown.length ? shown : kinds.map(icon));
}

// A card with `tick()`, which brings its countdown up to date.
function card(offer) {
	const boxes = [], known = isKnown(offer), error = alarm(), rest = offer.count - offer.items.length;
	const folder = field({placeholder: t("folderHint")}), left = h("span.left"), place = h("span.place");
	let busy = false;
	// Makes calls until one fails: somebody has answered elsewhere, and the stream says how.
	const act = async (...steps) => {
		if (busy || !node.classList.contains("ready")) return;
		busy = true;
		for (const [path, values] of steps) {
			const result = await attempt(error, path, values);
			if (result.exit) {busy = false; return;}
			for (const item of result.lines.flatMap(line => line.present ?? [])) error.textContent += t("alreadyThere",
				{name: brief(item.name), path: brief(item.stored)}) + " ";
		}
	};
	const accept = () => {
		const some = boxes.filter(({box}) => box.checked).map(({item}) => item);
		return ["offers/accept", {offer: offer.offer, items: some.length < boxes.length ? some : undefined,
			folder: folder.value.trim() || undefined}];
	};
	const yes = button("accept", () => act(accept()), ".primary"),
		no = button("decline", () => act(["offers/decline", {offer: offer.offer}]));
	const choose = () => {
		const n = boxes.filter(({box}) => box.checked).length;
		put(yes, n === boxes.length ? t("accept") : t("acceptSome", {some: n, all: boxes.length}));
		yes.disabled = !n && boxes.length > 0;
	};
	const said = (key, text) => text && h("p", h("strong", t(key), ": "), named(text, "bdi"));
	const strangers = button("declineStrangers", () => declineStrangers(act), ".danger");
	const node = h("div.offer", pictures(offer), h("div.head", face(offer.from), h("div.what",
		h("h2#question-title", {tabIndex: -1}, t("offers", {
			who: person(offer.from, offer.via), items: countedOf(offer.items, offer.count),
				size: offer.size === undefined ? t("unknownSize") : size(offer.size),
		})), h("span.state", t(known ? "contact" : offer.from.id ? "provedStranger" : "provedNothing"),
			offer.free && " · " + t("free", {size: size(offer.free)}),
			left))),
		offer.otherCount && h("p", t(offer.relays ? "withOthersRelay" : "withOthers", {n: offer.otherCount})),
		offer.warning && warning(shown(offer.warning)), said("subject", offer.subject), said("note", offer.note),
		h("p.names", offer.items.slice(0, 3).map(item => cut(item.name)),
			offer.count > 3 && t("others", {n: offer.count - 3})),
		error, h("p.row.answers", yes, no),
		fold(t("moreAnswers"), h("div.fields", h("ul.things", {onchange: choose},
			offer.items.map(item => itemRow(offer, item, boxes)),
			rest > 0 && h("li.help", t("others", {n: rest}))), label("intoFolder", folder),
		known ? always(offer, act, accept) : offer.from.id && befriend(offer, act),
		h("p.row", button("declineBlock", () => act(["offers/decline", {offer: offer.offer, blocks: true}]), ".danger"),
			strangers))),
		place);
	// A click or a key that was meant for something else answers nothing.
	setTimeout(() => node.classList.add("ready"), 400);
	node.known = known;
	node.tick = () => {
		const seconds = (new Date(offer.expires) - Date.now()) / 1000, n = store.offers.size;
		put(left, offer.expires ? " · " + t("left", {time: lasting(seconds)}) : "");
		left.classList.toggle("soon", seconds < 30);
		put(place, n > 1 ? t("asking", {n}) : "");
		show(strangers, [...store.offers.values()].filter(one => !isKnown(one)).length > 1);
	};
	return node;
}

const declineStrangers = act => act(...[...store.offers.values()].filter(one => !isKnown(one)).map(({offer}) =>
	["offers/decline", {offer}]));

// The key of a stranger becomes a contact's.
function befriend({offer, from}, act) {
	const name = field({value: from.name ?? "", required: true});
	return form(".row", () => act(["contacts/allow", {offer, name: name.value.trim()}]),
		h("label.what", t("makeContact"), name), h("button", {type: "submit"}, t("add")));
}

function always(offer, act, accept) {
	const choice = (first, ...more) => select([first, ...more].map(value => [value, t(value)]));
	const kind = type => t("family-" + family(type)), all = [...new Set(offer.items.map(item => item.type))];
	const isTwice = type => all.some(other => other !== type && kind(other) === kind(type));
	const types = select([["any", t("any")], ...all.map(type => [type,
		kind(type) + (isTwice(type) ? ` (${shown(type)})` : "")])]);
	const most = choice("any", "100MB", "1GB", "10GB");
	const time = choice("ever", "1d", "7d", "30d");
	const set = () => ["contacts/set", {contact: offer.from.id, policy: "accept", types: [types.value],
		sizeAtMost: most.value, lasting: time.value}];
	return h("fieldset", h("legend", t("alwaysTitle", {name: offer.from.contact})),
		h("div.grid3", label("types", types), label("upTo", most), label("howLong", time)),
		button("always", () => act(set(), accept())));
}

// Shows the oldest question, in every view. Escape puts the questions aside; the bar brings them back.
export function startQuestions() {
	const dialog = $("question"), aside = $("asking");
	let drawn = null, node = null, clock = null, isAside = 0;
	const draw = framed(() => {
		const [first] = store.offers.values(), key = first && `${first.offer} ${isKnown(first)}`;
		count("questions", store.offers.size);
		if (!first || isAside >= Math.max(...store.offers.keys())) {
			clock?.abort();
			drawn = null;
			dialog.close();
			const hadFocus = hasFocus(dialog);
			replace(dialog);
			// The peer that had it before may be gone.
			if (hadFocus) $("main").focus({preventScroll: true});
		} else if (key !== drawn && $("dropping").hidden) {
			clock?.abort();
			clock = new AbortController();
			drawn = key;
			replace(dialog, node = card(first));
			if (!dialog.open) dialog.showModal();
			$("question-title").focus();
			eachSecond(() => node.tick(), clock.signal);
		} else if (key === drawn) node.tick();
		show(aside, first && !dialog.open);
		put(aside, store.offers.size ? t("asking", {n: store.offers.size}) : "");
	});
	dialog.addEventListener("cancel", () => {isAside = Math.max(...store.offers.keys()); draw();});
	aside.onclick = () => {isAside = 0; draw();};
	on("offers contacts drops", draw);
}
