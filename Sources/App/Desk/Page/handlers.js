// The view of the handlers: who gets what, and why.
import {alarm, field, form, head, icon, lineOf, make, named, on, problem, replace, row, shown, submit, things, verb, warning, word} from "/parts.js";
import {held} from "/drops.js";

const isType = text => /^(public|com|org|net|io|dyn|de)(\.[\w-]+)+$/i.test(text);

/** Asks who would get a name, a type or a URL. A name of a file elsewhere is judged by its type. */
async function decide(text, node) {
	replace(node, make("p.help", {role: "status"}, word("loading")));
	let result = await verb(["handlers", "test", ...(isType(text) ? ["--type", text] : [text])]);
	const type = result.failed?.hint?.match(/--type ([\w.-]+)/)?.[1];
	if (type) result = await verb(["handlers", "test", "--type", type]);
	const line = result.lines.find(l => /Decision$/.test(l.event));
	if (!line) return replace(node, alarm(shown(problem(result))));
	const why = of => shown(line.claimants.find(c => c.identifier === of.identifier)?.explanation ?? of.identifier);
	const nobody = line.builtIn ? line.openedWhenReceived ? "opensAtOnce" : "onlyStored" : line.url ? "nobodyUrl" : "staysInInbox";
	replace(node, make("div", {role: "status"}, make("h3", line.description && shown(line.description) + " ", make("span.mono", shown(line.type ?? line.url))),
		line.eligible === false && make("p.bad", word("notEligible")),
		line.asked.length ? [make("p", word("askedInOrder")), make("ol.things", line.asked.map(h => row("handlers", h.name, why(h))))] : make("p", word(nobody))),
	line.passedOver.length > 0 && make("details", make("summary", word("passedOver", {n: line.passedOver.length})), things(line.passedOver.map(h => row("cross", h.name, shown(h.reason))))));
}

function card(line, load) {
	const error = alarm(), builtIn = line.origin === "builtIn", id = "h-" + line.identifier, p = line.permissions;
	const box = make("input", {type: "checkbox", role: "switch", checked: line.enabled, id, "data-key": id, onchange: async () => {
		const result = await verb(["handlers", box.checked ? "enable" : "disable", line.identifier]);
		if (!result.exit) return load();
		error.textContent = problem(result);
		box.checked = !box.checked;
	}});
	const may = p && [...["network", "sockets", "signals"].map(key => p[key] && word("may-" + key)),
		p.reads?.length && word("may-read", {path: p.reads.join(", ")}), p.writes?.length && word("may-write", {path: p.writes.join(", ")})].filter(Boolean);
	return make("li.card", make("div.head", make("span.face", icon("handlers")), make("div.what", make("h2", named(line.localizedName ?? line.name)),
		make("span.note", make("span.mono", shown(line.identifier)), " · ", word("origin-" + line.origin))), !builtIn && make("label.row", {for: id}, box, word("enabled"))),
	make("p", line.documentTypes.map(t => make("span.tag", {title: t.type}, shown(t.localizedName ?? t.name ?? t.type))), line.urlTypes.map(t => make("span.tag", shown(t.scheme) + ":"))),
	line.warnings.map(text => warning(shown(text))),
	p && make("details", make("summary", word("may")), make("p.help", word("sandbox-" + (line.sandbox ?? "strict"))), make("ul.dotted", may.map(text => make("li", text)))), error);
}

/** A form for `waft handlers add`. */
function adding(load) {
	const says = make("p.help", {role: "status"}), error = alarm();
	const [run, name, claims] = ["/home/…/import.sh", "Photos", "public.image https"].map((placeholder, n) => field({placeholder, required: n < 2}));
	const [network, copy] = ["may-network", "copyProgram"].map(key => make("label.row", make("input", {type: "checkbox"}), word(key)));
	const add = async () => {
		const words = claims.value.split(/[\s,]+/).filter(Boolean).flatMap(text => text.includes(".") ? ["--type", text] : ["--scheme", text.replace(/:.*/, "")]);
		const options = [network.firstChild.checked && "--network", copy.firstChild.checked && "--copy"].filter(Boolean);
		const result = await verb(["handlers", "add", "--name=" + name.value.trim(), "--run=" + run.value.trim(), ...words, ...options]), done = lineOf(result, "handler");
		error.textContent = problem(result);
		says.textContent = done ? [word("handlerAdded", {name: done.name}), ...done.warnings.map(shown)].join(" ") : "";
		if (done) load();
	};
	return make("section.card", make("h2", word("addHandler")), make("p.help", word("addHandlerHelp")), form(".fields", add,
		make("label", word("program"), run), make("div.grid3", make("label", word("itsName"), name), make("label", word("claims"), claims)),
		make("div.row", network, copy), says, error, make("p.row", submit(word("add")))));
}

export function open(main, signal) {
	const list = make("ul.cards"), answer = make("div.answer"), text = field({id: "who", placeholder: "photo.jpg, public.jpeg, https://…"});
	const load = async () => {
		const {lines} = await verb(["handlers", "list"], {signal});
		if (signal.aborted) return;
		const problems = lines.filter(l => l.event === "problem"), all = lines.filter(l => l.event === "handler");
		replace(list, problems.map(l => make("li.card", warning(named(l.name, "strong"), ": ", shown(l.reason), " – ", shown(l.hint)))), all.map(l => card(l, load)));
		// The list has no permissions: they come with each handler.
		for (const [n, line] of all.entries()) if (line.origin !== "builtIn" && n < 50) {
			const more = lineOf(await verb(["handlers", "show", line.identifier], {signal}), "handler");
			if (signal.aborted) return;
			if (more?.permissions) list.children[problems.length + n]?.replaceWith(card(more, load));
		}
	};
	const zone = make("section.card.takes", make("h2", word("whoTitle")), make("p.help", word("whoHelp")),
		form(".row", () => text.value.trim() && decide(text.value.trim(), answer), make("label.what", make("span.unseen", word("whoLabel")), text), submit(word("test"))), answer);
	zone.take = async data => {
		const {files, text: words} = await held(data), name = files?.[0]?.path.split("/")[0] ?? words;
		if (name) {text.value = name; decide(name, answer);}
	};
	main.append(head("handlers"), zone, list, adding(load));
	on("settings back", load, signal);
	load();
}
