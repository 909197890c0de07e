// Waft's verbs, which answer with the lines of --json.
import {shown} from "/dom.js";
import {t} from "/words.js";
async function* lines(answer) {
	const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
	let rest = "";
	for (;;) {
		const {done, value} = await reader.read();
		if (done) return;
		const parts = (rest + value).split("\n");
		rest = parts.pop();
		for (const part of parts) if (part) yield JSON.parse(part);
	}
}

// A request with this window's token: no other page has it, and no other port.
export const call = (path, method, body) => fetch(path, {method, body, headers: {"waft-token": sessionStorage.token}});

export const post = (path, body) => call(path, "POST", new Blob([JSON.stringify(body)], {type: "application/json"}));

// One stream has the lines of all calls: browsers open six connections to a server at most.
const calls = new Map();
let opened, number = 0;

const opening = () => opened ??= new Promise((yes, no) => (async () => {
	for await (const {window, call: name, line} of lines(await call("/window"))) window ? yes(window) : calls.get(name)?.(line);
})().catch(() => 0).then(() => {
	opened = no();
	for (const take of calls.values()) take();
}));

// A call, which `request` begins.
async function begin(path, request, {each, signal}) {
	const name = String(++number), result = {lines: [], exit: 1, errors: ""};
	try {
		const window = await opening();
		const over = new Promise(done => {calls.set(name, line => {
			if (!line) return done({...result, exit: -1, errors: t("unreachable")});
			if (line.event === "end") return done(Object.assign(result, {exit: line.exit, errors: line.errors}));
			if (line.event === "failed" && line.exit) result.failed ??= line;
			each ? each(line) : result.lines.push(line);
		});
		signal?.addEventListener("abort", () => {
			call(`/windows/${window}/calls/${name}`, "DELETE").catch(() => 0);
			done({...result, exit: 130});
		}, {once: true});});
		const answer = await request(`${path}?window=${window}&call=${name}`);
		if (!answer.ok) return {...result, errors: (await answer.json().catch(() => null))?.message || String(answer.status)};
		return await over;
	} catch {return {...result, exit: -1, errors: t("unreachable")};} finally {calls.delete(name);}
}

/**
 * Runs a verb to its end. `each` gets each line as it comes; without it the result has all `lines`. With `answers` the input
 * stays open, and the line `begun` has the call for `answerTo`. `exit` is -1 if the desk is gone.
 */
export const verb = (words, {input, answers, ...rest} = {}) => begin("/verb", path => post(path, {words: words.map(String), input, answers}), rest);

// One after the other: the last choice counts.
let turn = Promise.resolve();
export const inTurn = work => turn = turn.then(work, work);

// Gives a line to a verb that runs with `answers`.
export const answerTo = (name, text) => post("/calls/" + name, {input: text + "\n"});

// The lines of a path, such as those of a sending.
export const read = (path, rest = {}) => begin(path, call, rest);

// The lines of an event among those of a result.
export const linesOf = ({lines}, event) => lines.filter(line => line.event === event);
export const lineOf = (result, event) => linesOf(result, event)[0];

// Why a verb has failed, in its words; "" if it has not.
export function problem(result) {
	if (!result.exit) return "";
	const {reason, hint} = result.failed || {};
	return shown(reason ? reason + (hint ? " – " + hint : "") : result.errors.trim() || `exit ${result.exit}`);
}

// Keeps a verb running: again some seconds after it has ended.
export async function watch(words, {each, began, ended}) {
	for (;;) {
		const result = await verb(words, {each: line => {began?.(line); each(line);}});
		ended(result);
		await new Promise(go => {
			const timer = setTimeout(go, document.hidden ? 15000 : 3000);
			document.addEventListener("visibilitychange", () => {clearTimeout(timer); go();}, {once: true});
		});
	}
}
