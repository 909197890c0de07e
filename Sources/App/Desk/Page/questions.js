// The view of the questions: offers that wait for an answer.
import {alarm, button, dots, empty, wayOf} from "/parts.js";
import {framed, make, named, shown, isolated} from "/dom.js";
import {icon} from "/icons.js";
import {changed, on, store} from "/store.js";
import {family} from "/types.js";
import {problem, verb} from "/verbs.js";
import {has, short, size, word} from "/words.js";

/** The sender as the terminal names it: the contact, or `stranger`, its name and its key. */
function sender({from, via}) {
	if (from.contact) return isolated(from.contact);
	return word("strangerIs", {name: from.name ?? "?", key: from.id ? short(from.id) : word("noKey")}) + (via && via !== "waft" ? " · " + wayOf(via) : "");
}

function itemRow(offer, item, boxes) {
	const facts = dots(word("family-" + family(item.type, item.kind)), item.size !== undefined ? size(item.size) : item.sizeHint && word("about", {size: size(item.sizeHint)}),
		item.entries && word("inside", {n: item.entries - 1}));
	const box = offer.count > 1 && make("input", {type: "checkbox", checked: true});
	if (box) boxes.push({box, item: item.item});
	const picture = item.hasPreview ? make("img", {src: `${store.facts.previews}/offers/${offer.offer}/${item.item}`, alt: "", width: 56, height: 56,
		onerror: event => event.target.replaceWith(icon(family(item.type, item.kind)))}) : icon(family(item.type, item.kind));
	return make("li", make(box ? "label" : "div", box, picture, make("div.what", named(item.name), make("span.note", {title: item.type}, facts))));
}

function card(offer) {
	const boxes = [], known = !!offer.from.contact, error = alarm(), id = "offer-" + offer.offer;
	const folder = make("input", {placeholder: word("folderHint"), dir: "auto", id: id + "-folder"});
	const busy = yes => node.querySelectorAll("button").forEach(button => {button.disabled = yes;});
	const act = async (...steps) => {
		busy(true);
		error.textContent = "";
		for (const words of steps) {
			const result = await verb(words);
			// Somebody has answered elsewhere: the stream says how.
			if (result.exit) {error.textContent = problem(result); busy(false); return;}
			for (const item of result.lines.flatMap(line => line.present ?? [])) error.textContent += word("alreadyThere", {name: item.name, path: item.stored}) + " ";
		}
	};
	const accept = () => {
		const chosen = boxes.filter(({box}) => box.checked).map(({item}) => item + 1), some = boxes.length > 0 && chosen.length < boxes.length;
		return ["accept", offer.offer, ...(some ? ["--items", chosen.join(",")] : []), ...(folder.value.trim() ? ["--to", folder.value.trim()] : [])];
	};
	const yes = button("accept", () => act(accept()), ".primary");
	const count = () => {
		const n = boxes.filter(({box}) => box.checked).length;
		yes.textContent = !boxes.length || n === boxes.length ? word("accept") : word("acceptSome", {some: n, all: boxes.length});
		yes.disabled = boxes.length > 0 && !n;
	};
	const rest = offer.count - offer.items.length;
	const node = make("li.card.offer",
		make("div.head", make("span.face", icon(known ? "contacts" : "warn")), make("div.what", make("h2", {id},
			word("offers", {who: sender(offer), items: word("items", {n: offer.count}), size: offer.size === undefined ? word("unknownSize") : size(offer.size)})),
			make("span.state", known ? word("provedContact") : offer.from.id ? word("provedStranger") : word("provedNothing"), offer.free ? " · " + word("free", {size: size(offer.free)}) : ""))),
		offer.warning && make("p.warning", icon("warn"), shown(offer.warning)),
		offer.subject && make("p.subject", make("strong", word("subject"), ": "), named(offer.subject, "bdi")),
		offer.note && make("p.subject", make("strong", word("note"), ": "), named(offer.note, "bdi")),
		make("ul.things", {role: "list", onchange: count}, offer.items.map(item => itemRow(offer, item, boxes)), rest > 0 && make("li.help", word("others", {n: rest}))),
		error, make("p.row.answers", yes, button("decline", () => act(["decline", offer.offer]))),
		make("details", make("summary", word("moreAnswers")), make("div.fields", make("label", {for: folder.id}, word("intoFolder")), folder,
			known ? always(offer, act, accept) : offer.from.id && newContact(offer, act),
			make("p", button("declineBlock", () => act(["decline", offer.offer, "--block"]), ".danger")))));
	return node;
}

/** Accept from this contact without a question, with limits. */
function always(offer, act, accept) {
	const types = make("select", make("option", {value: "any"}, word("anyType")), [...new Set(offer.items.map(i => i.type))].slice(0, 10).map(t => make("option", {value: t}, shown(t))));
	const most = make("select", [["any", "anySize"], ["100MB", "100 MB"], ["1GB", "1 GB"], ["10GB", "10 GB"]].map(([value, key]) => make("option", {value}, word(key))));
	const time = make("select", [["ever", "ever"], ["1d", "for1d"], ["7d", "for7d"], ["30d", "for30d"]].map(([value, key]) => make("option", {value}, word(key))));
	return make("fieldset", make("legend", word("alwaysTitle", {name: offer.from.contact})), make("div.grid3", make("label", word("types"), types), make("label", word("upTo"), most), make("label", word("howLong"), time)),
		make("button", {type: "button", onclick: () => act(["contacts", "set", offer.from.id, "--policy", "accept", "--types", types.value, "--size-at-most", most.value, "--for", time.value], accept())
			.then(() => changed("contactsChanged"))}, word("always")));
}

/** A stranger with a key becomes a contact. */
function newContact(offer, act) {
	const name = make("input", {value: shown(offer.from.name ?? ""), maxLength: 63, dir: "auto"});
	return make("fieldset", make("legend", word("newContact")), make("p.help", word("newContactHelp", {key: short(offer.from.id)})), make("div.row", make("label", word("itsName"), name),
		button("addContact", () => act(["contacts", "allow", "--from-offer", offer.offer, "--name", name.value.trim()]).then(() => changed("contactsChanged")))));
}

export function open(main, signal) {
	const list = make("ul.cards", {role: "list"}), cards = new Map();
	const none = empty("questions", "noQuestions");
	const draw = framed(() => {
		for (const [number, node] of cards) if (!store.offers.has(number)) {
			const focused = node.contains(document.activeElement);
			node.remove();
			cards.delete(number);
			if (focused) (list.querySelector("button") ?? main).focus();
		}
		for (const [number, offer] of store.offers) if (!cards.has(number)) {cards.set(number, card(offer)); list.append(cards.get(number));}
		none.hidden = cards.size > 0;
	});
	main.append(make("h1", word("questions")), none, list);
	on("offers", draw, signal);
	draw();
}
