// The view of the handlers: who gets what, and why.
import {alarm, things} from "/parts.js";
import {make, named, replace, shown} from "/dom.js";
import {icon} from "/icons.js";
import {on} from "/store.js";
import {problem, verb} from "/verbs.js";
import {word} from "/words.js";
import {held} from "/drops.js";

const isType = text => /^[a-z][\w-]*(\.[\w-]+)+$/i.test(text) && /^(public|com|org|net|io|dyn|de)\./.test(text);

/** Asks who would get a name, a type or a URL. A name of a file elsewhere is judged by its type. */
async function decide(text, node) {
	replace(node, make("p.help", {role: "status"}, word("loading")));
	let result = await verb(["handlers", "test", ...(isType(text) ? ["--type", text] : [text])]);
	const type = result.failed?.hint?.match(/--type ([\w.-]+)/)?.[1];
	if (type) result = await verb(["handlers", "test", "--type", type]);
	const line = result.lines.find(l => /Decision$/.test(l.event));
	if (!line) return replace(node, alarm(shown(problem(result))));
	const why = handler => line.claimants.find(c => c.identifier === handler.identifier)?.explanation;
	const asked = line.asked.map(h => make("li", icon("handlers"), make("div.what", named(h.name), make("span.note", shown(why(h) ?? h.identifier)))));
	replace(node, make("div", {role: "status"}, make("h3", line.type ? [line.description ? shown(line.description) + " " : "", make("span.mono", shown(line.type))] : make("span.mono", shown(line.url))),
		line.eligible === false && make("p.bad", word("notEligible")), asked.length ? [make("p", word("askedInOrder")), make("ol.things", asked)] : make("p", word(line.builtIn ? (line.openedWhenReceived ? "opensAtOnce" : "onlyStored") : line.url ? "nobodyUrl" : "staysInInbox"))),
	line.passedOver.length > 0 && make("details", make("summary", word("passedOver", {n: line.passedOver.length})), things(line.passedOver.map(h => make("li", make("div.what", named(h.name), make("span.note", shown(h.reason))))))));
}

function card(line, load) {
	const error = alarm(), builtIn = line.origin === "builtIn", id = "h-" + line.identifier;
	const box = make("input", {type: "checkbox", role: "switch", checked: line.enabled, id, disabled: builtIn, "data-key": id, onchange: async () => {
		const result = await verb(["handlers", box.checked ? "enable" : "disable", line.identifier]);
		if (result.exit) {error.textContent = problem(result); box.checked = !box.checked;} else load();
	}});
	const p = line.permissions, may = p && [p.network && word("may-network"), p.sockets && word("may-sockets"), p.signals && word("may-signals"), p.reads?.length && word("may-read", {path: p.reads.join(", ")}), p.writes?.length && word("may-write", {path: p.writes.join(", ")})].filter(Boolean);
	return make("li.card", make("div.head", make("span.face", icon("handlers")), make("div.what", make("h2", named(line.localizedName ?? line.name)), make("span.note", make("span.mono", shown(line.identifier)), " · ", word("origin-" + line.origin))), !builtIn && make("label.row", {for: id}, box, word("enabled"))),
		make("p.types", line.documentTypes.map(t => make("span.tag", {title: t.type}, shown(t.localizedName ?? t.name ?? t.type))), line.urlTypes.map(t => make("span.tag", shown(t.scheme) + ":"))),
		line.warnings.map(text => make("p.warning", icon("warn"), shown(text))), p && make("details", make("summary", word("may")), make("p.help", word("sandbox-" + (line.sandbox ?? "strict"))), make("ul", may.map(text => make("li", text)))), error);
}

export function open(main, signal) {
	const list = make("ul.cards", {role: "list"}), answer = make("div.answer"), text = make("input#who", {placeholder: "photo.jpg, public.jpeg, https://…", dir: "auto", autocomplete: "off", spellcheck: false});
	const load = async () => {
		const {lines} = await verb(["handlers", "list"], {signal});
		if (signal.aborted) return;
		const problems = lines.filter(l => l.event === "problem"), detailed = lines.filter(l => l.event === "handler");
		replace(list, problems.map(l => make("li.card", make("p.warning", icon("warn"), make("span", make("strong", named(l.name, "bdi")), ": ", shown(l.reason), " – ", shown(l.hint))))), detailed.map(l => card(l, load)));
		// The list has no permissions: they come with each handler.
		for (const [n, line] of detailed.entries()) if (line.origin !== "builtIn" && n < 50) {
			const more = (await verb(["handlers", "show", line.identifier], {signal})).lines.find(l => l.event === "handler");
			if (signal.aborted) return;
			if (more?.permissions) list.children[problems.length + n]?.replaceWith(card(more, load));
		}
	};
	const zone = make("section.card.takes", make("h2", word("whoTitle")), make("p.help", word("whoHelp")),
		make("form.row", {onsubmit: event => {event.preventDefault(); if (text.value.trim()) decide(text.value.trim(), answer);}}, make("label.what", {for: "who"}, make("span.unseen", word("whoLabel")), text), make("button.primary", word("test"))), answer);
	zone.take = async data => {
		const {files, text: words} = await held(data);
		const name = files?.[0]?.path.split("/")[0] ?? words;
		if (name) {text.value = name; decide(name, answer);}
	};
	main.append(make("h1", word("handlers")), zone, list, make("section.card", make("h2", word("addHandler")), make("p.help", word("addHandlerHelp")), make("pre", make("code", "waft handlers add --name Photos --type public.image --run ./import.sh"))));
	on("settings back", load, signal);
	load();
}
