// The first steps: the name of this machine, who sees it, and the first contact. They are left for good by one button.
import {alarm, call, called, field, form, h, h2, icon, isContact, isolated, on, problem, put, short, show, store,
	submit, t, update} from "/parts.js";
import {tell} from "/feedback.js";
import {learnSettings, valueOf} from "/known.js";
import {pairWith} from "/pair.js";
import {visibleChoice} from "/visible.js";

// Maximum number of buttons for strangers: the room has all.
const MOST = 3;

// Whether this window shows them: decided once all is known, so that they stay until the last is done.
let isShown, isSeenChosen = false;

const hasName = () => store.settings.get("name").setBy !== "default";
const contact = () => [...store.contacts.values()].find(({blocked}) => !blocked);

function decide() {
	if (isShown !== undefined || !store.settings || !store.knowsContacts || !store.isReceiving) return;
	isShown = valueOf("desk.firstSteps") === "true" && !hasName() && !contact();
}

async function leave() {
	isShown = false;
	if (hasName() && contact()) return;
	// A window keeps nothing: its origin is another one at the next start. So the settings do.
	const result = await call("settings/set", {setting: "desk.firstSteps", values: ["false"]});
	if (result.exit) tell({text: problem(result), picture: icon("warn")});
}

const pairButton = peer => h("button", {"data-key": "first-" + peer.id, onclick: () => pairWith(peer)},
	t("pairWith", {who: isolated(called(peer) || short(peer.id).slice(0, 9))}));

// A section with `isShown`; `changed` is called when that changes.
export function firstSteps(signal, changed) {
	const steps = h("ol"), go = h("button", {"data-key": "leaveFirst"}), error = alarm();
	const node = h("section.card.first", {hidden: true}, h("div.head", h2("firstTitle"), go), steps);
	const name = field({value: store.receiver?.name ?? store.facts.name, required: true, "data-key": "firstName"});
	const step = (...parts) => {
		const n = steps.children.length + 1, sign = h("span.number"), row = h("li", sign, h("div.what", parts));
		steps.append(row);
		row.tick = yes => {
			row.classList.toggle("done", yes);
			update(sign, yes ? [icon("check"), h("span.unseen", t("stepDone"))] : String(n));
		};
		return row;
	};
	const save = async () => {
		const result = await call("settings/set", {setting: "name", values: [name.value.trim()]});
		put(error, result.exit === 64 ? t("bad-value") : problem(result));
		if (!result.exit) learnSettings();
	};
	const naming = step(form(".row", save, h("label", t("set-name"), name), submit(t("save"))), error);
	const seeing = step(visibleChoice("visible-first", signal));
	// A click on the present choice counts, too.
	seeing.addEventListener("click", ({target}) => {
		isSeenChosen ||= target.type === "radio";
		draw();
	});
	const near = h("div.row"), how = h("p.help", t("firstHow")), pairing = step(h("p.label", t("firstPair")), near, how);
	const draw = () => {
		const before = isShown;
		decide();
		if (before !== isShown) changed();
		node.isShown = !!isShown && store.isReceiving === true;
		show(node, node.isShown);
		if (!node.isShown) return;
		const isStranger = peer => peer.via === "waft" && peer.id && !isContact(peer);
		const strangers = [...store.peers.values()].filter(isStranger).sort((a, b) => !called(a) - !called(b)).slice(0,
			MOST);
		const friend = contact(), ticks = [hasName(), isSeenChosen, !!friend];
		[naming, seeing, pairing].forEach((row, n) => row.tick(ticks[n]));
		update(near, friend ? h("span", t("pairDone", {name: friend.name})) : strangers.map(pairButton));
		show(how, !friend && !strangers.length);
		put(go, t(ticks.every(Boolean) ? "done" : "notNow"));
	};
	go.addEventListener("click", () => {leave(); draw(); changed(); node.closest("main").focus({preventScroll: true});});
	on("known contacts peers receiver", draw, signal);
	draw();
	return node;
}
