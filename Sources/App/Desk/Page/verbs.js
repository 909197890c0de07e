// Waft's verbs: each runs in the gateway, and answers with the lines of --json.
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

async function follow(answer, each) {
	const result = {lines: [], exit: 1, errors: ""};
	if (!answer.ok) return {...result, errors: (await answer.json().catch(() => null))?.message || String(answer.status)};
	for await (const line of lines(answer)) {
		if (line.event === "end") Object.assign(result, {exit: line.exit, errors: line.errors});
		else each ? await each(line) : result.lines.push(line);
		if (line.event === "failed" && line.exit && !result.failed) result.failed = line;
	}
	return result;
}

export const post = (path, body, more) => fetch(path, {
	method: "POST", headers: {"content-type": "application/json"}, body: JSON.stringify(body), ...more,
});

/**
 * Runs a verb to its end. `each` gets each line as it comes; without it the result has all `lines`. With `answers` the input
 * stays open: the line `begun` has the call for `answerTo`. The result has `exit`, -1 if the gateway is gone, `errors` and the line `failed`.
 */
export async function verb(words, {input, answers, each, signal} = {}) {
	try {
		return await follow(await post("/verb", {words: words.map(String), input, answers}, {signal}), each);
	} catch {
		return signal?.aborted ? {lines: [], exit: 130, errors: ""} : {lines: [], exit: -1, errors: t("unreachable")};
	}
}

// Gives a line to a verb that runs with `answers`.
export const answerTo = (call, text) => post("/calls/" + call, {input: text + "\n"});

// The lines of a path, such as those of a sending.
export const read = async (path, {each, signal} = {}) => follow(await fetch(path, {signal}), each);

// The lines of an event among those of a result.
export const linesOf = ({lines}, event) => lines.filter(line => line.event === event);
export const lineOf = (result, event) => linesOf(result, event)[0];

// The reason why a verb has failed, in its own words; "" if it has not.
export function problem(result) {
	if (!result.exit) return "";
	const {reason, hint} = result.failed || {};
	return shown(reason ? reason + (hint ? " – " + hint : "") : result.errors.trim() || `exit ${result.exit}`);
}

// Keeps a verb that watches running: tries again some seconds after it has ended.
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
