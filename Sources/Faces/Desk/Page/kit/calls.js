// The calls of the desk, which answer with lines.
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
export const request = (path, method, body) => fetch(path,
	{method, body, headers: {"waft-token": sessionStorage.token}});

export const post = (path, body) => request(path, "POST", new Blob([JSON.stringify(body)], {type: "application/json"}));

// One stream has the lines of all calls: browsers open six connections to a server at most.
const calls = new Map();
let opened, number = 0;

const opening = () => opened ??= new Promise((yes, no) => (async () => {
	for await (const {window, call: name, line} of lines(await request("/window"))) window ? yes(window)
		: calls.get(name)?.(line);
})().catch(() => 0).then(() => {
	opened = no();
	for (const take of calls.values()) take();
}));

// A call, which `start` begins.
async function begin(path, start, {each, signal}) {
	const name = String(++number), result = {path, lines: [], exit: 1};
	try {
		const window = await opening();
		const over = new Promise(done => {calls.set(name, line => {
			if (!line) return done({...result, exit: -1});
			if (line.event === "end") return done(Object.assign(result, {exit: line.exit}));
			if (line.event === "failed" && line.exit) result.failed ??= line;
			each ? each(line) : result.lines.push(line);
		});
		signal?.addEventListener("abort", () => {
			if (calls.has(name)) request(`/windows/${window}/calls/${name}`, "DELETE").catch(() => 0);
			done({...result, exit: 130});
		}, {once: true});});
		const answer = await start(`${path}?window=${window}&call=${name}`);
		if (!answer.ok) return {...result, failed: {reason: (await answer.json().catch(() => null))?.message
			|| String(answer.status)}};
		return await over;
	} catch {return {...result, exit: -1};} finally {calls.delete(name);}
}

/**
 * Makes a call, and waits for its end. `each` gets each line as it comes; without it the result has all `lines`. `exit`
 * is -1 if
 * the desk is gone.
 */
export const call = (path, values = {}, rest = {}) => begin("/" + path, path => post(path, values), rest);

// One after the other: the last choice counts.
let turn = Promise.resolve();
export const inTurn = work => turn = turn.then(work, work);

// Answers a call that asks: its line `begun` has the name.
export const answerTo = (name, answer) => post("/calls/" + name, {answer});

// The lines of a path, such as those of a sending.
export const read = (path, rest = {}) => begin(path, request, rest);

// The lines of an event among those of a result.
export const linesOf = ({lines}, event) => lines.filter(line => line.event === event);
export const lineOf = (result, event) => linesOf(result, event)[0];

// Keeps a call under way: again some seconds after it has ended.
export async function watch(path, {each, began, ended}) {
	for (;;) {
		const result = await call(path, {}, {each: line => {began?.(line); each(line);}});
		ended(result);
		await new Promise(go => {
			const timer = setTimeout(go, document.hidden ? 15000 : 3000);
			document.addEventListener("visibilitychange", () => {clearTimeout(timer); go();}, {once: true});
		});
	}
}
