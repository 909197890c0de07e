// Handlers: who gets what, and why.
import {alarm, attempt, call, cardHead, field, fold, form, h, h2, head, help, icon, label, lineOf, linesOf, mono, named,
	on, problem, put, quoted, replace, row, said, show, shown, status, submit, t, things, update,
	warning} from "/parts.js";
import {held} from "/drops.js";

// Why a handler is asked at its place in the order.
const why = ({defaultFor, steps, decidedBy}) => decidedBy === "lastResort" ? t("decided-lastResort")
	: [t(defaultFor ? "isYourChoice" : steps === undefined ? "opensScheme" : steps ? "opensKind" : "opensType"),
		decidedBy && t("decided-" + decidedBy)].filter(Boolean).join(" ");

// Asks which handlers would get an item of this name, a type or a URL.
async function decide(text, node) {
	replace(node, status(t("loading")));
	const result = await call("handlers/decide", {about: text}), line = result.lines.find(l => /Decision$/.test(l.event));
	if (!line) return replace(node, faultOf(result));
	const {asked, claimants, passedOver} = line;
	const claim = ({identifier}) => claimants.find(one => one.identifier === identifier) ?? {};
	const nobody = line.builtIn ? line.openedWhenReceived ? "opensAtOnce" : "onlyStored" : line.url ? "nobodyUrl"
		: "staysInInbox";
	const told = [...asked.map(one => [one.name, claim(one).explanation]), ["", line.reason],
		...passedOver.map(({name, reason}) => [name, reason])];
	replace(node, h("div", {role: "status"}, h("h3", line.description && shown(line.description) + " ",
		h("span.mono", shown(line.type ?? line.url))),
		line.eligible === false && h("p.bad", t("notEligible")),
		asked.length ? [h("p", t("askedInOrder")),
			h("ol.things", asked.map(one => row("handlers", one.name, why(claim(one)))))] : h("p", t(nobody))),
	passedOver.length > 0 && fold(t("passedOver", {n: passedOver.length}), things(passedOver.map(
		({name, obstacle}) => row("cross", name, t("obstacle-" + obstacle))))),
	said(told.map(([name, text]) => text && (name && name + ": ") + text)));
}

function rights({permissions: p = {}, sandbox}) {
	const may = [...["network", "sockets", "signals"].map(key => p[key] && t("may-" + key)),
		p.reads?.length && t("may-read", {path: p.reads.join(", ")}),
			p.writes?.length && t("may-write", {path: p.writes.join(", ")})].filter(Boolean);
	return [help("sandbox-" + (sandbox ?? "strict")), things(may.map(text => h("li", text)))];
}

function card(line, load) {
	const error = alarm(), builtIn = line.origin === "builtIn", id = "h-" + line.identifier, inside = h("div");
	const box = h("input", {type: "checkbox", role: "switch", defaultChecked: line.enabled, id, "data-key": id,
		onchange: async () => {
		const {exit} = await attempt(error, box.checked ? "handlers/enable" : "handlers/disable",
			{handler: line.identifier});
		if (!exit) return load();
		box.checked = !box.checked;
	}});
	// The list has no permissions.
	const learn = async () => {
		const result = await call("handlers/show", {handler: line.identifier}), more = lineOf(result, "handler");
		replace(inside, more ? rights(more) : problem(result));
	};
	return h("li.card", cardHead(icon("handlers"), h("h2", named(line.localizedName ?? line.name)),
		[mono(line.identifier), " · ", t("origin-" + line.origin)],
			!builtIn && h("label.row", {for: id}, box, t("enabled"))),
	h("p", line.documentTypes.map(({type}) => h("span.tag", shown(type))),
		line.urlTypes.map(({scheme}) => h("span.tag", shown(scheme) + ":"))),
	line.warnings.length > 0 && [warning(t(line.cannotStart ? "cannotStart" : "partLeftOut")), said(line.warnings)],
	!builtIn && fold(t("may"), {ontoggle: ({target}) => target.open && learn()}, inside), error);
}

// A window adds no program: it shows the command.
function adding() {
	const command = h("pre", {hidden: true}, h("code"));
	const [run, name, claims] = ["/home/…/import.sh", "Photos",
		"public.image magnet"].map((placeholder, n) => field({placeholder, required: n < 2}));
	const network = h("input", {type: "checkbox"});
	const add = () => {
		const words = claims.value.split(/[\s,]+/).filter(Boolean).flatMap(text => text.includes(".") ? ["--type", text]
			: ["--scheme", text.replace(/:.*/, "")]);
		const all = ["--name=" + name.value.trim(), "--run=" + run.value.trim(), ...words,
			...(network.checked ? ["--network"] : [])];
		put(command.firstChild, "waft handlers add " + all.map(quoted).join(" "));
		show(command, true);
	};
	return h("section.card", h2("addHandler"), help("addHandlerHelp"), form(".fields", add,
		label("program", run), h("div.grid3", label("itsName", name), label("claims", claims)),
		h("label.row", network, t("may-network")), command, h("p.row", submit(t("add")))));
}

export function open(main, signal) {
	const list = h("ul.cards"), answer = h("div.answer");
	const text = field({id: "who", className: "what", ariaLabel: t("whoTitle"),
		placeholder: "photo.jpg, public.jpeg, https://…"});
	const load = async () => {
		const result = await call("handlers", {}, {signal}), problems = linesOf(result, "problem"),
			all = linesOf(result, "handler");
		if (signal.aborted) return;
		update(list, problems.map(({name, severity, reason, hint}) => h("li.card",
			warning(named(name, "strong"), " ", t("fault-" + severity)), said([reason, hint]))),
			all.map(l => card(l, load)));
	};
	const zone = h("section.card.takes", h2("whoTitle"), help("whoHelp"),
		form(".row", () => text.value.trim() && decide(text.value.trim(), answer), text, submit(t("test"))), answer);
	zone.take = async data => {
		const {files, text: words} = await held(data), name = files?.[0]?.path.split("/")[0] ?? words;
		if (name) {text.value = name; decide(name, answer);}
	};
	main.append(head("handlers"), zone, list, adding());
	on("settings back", load, signal);
	load();
}
