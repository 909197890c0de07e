// Choosing, asking, sending in pieces and the receipt. Without script the form and the links work as they are.
// Foreign text, names above all, enters the page by textContent only.
import { number, size } from "./figures.js";
import { walk } from "./walk.js";

const PIECE = 4 << 20, AT_ONCE = 1, ROWS = 300, TEXT_BYTES = 60000, STALL = 30000, TRIES = 5;
const root = document.documentElement, body = document.body, host = body.dataset.host, lang = root.lang;
const $ = (id) => document.getElementById(id);
const put = (id, text = "") => { if ($(id).textContent !== text) $(id).textContent = text; };
const show = (id, yes) => { $(id).hidden = !yes; };
const words = body.matches(".takes:not(.pin)")
	&& await fetch("words.json").then((answer) => answer.json()).catch(() => null);

// Words and figures

const word = (key, values) => {
	const all = { host, ...values };
	if (all.n === 1 && words[key + 1]) key += 1;
	return (words[key] || "").replace(/\{(\w+)\}/g, (_, name) => {
		const value = all[name];
		// Names keep their own direction.
		return name === "name" || name === "host" ? `\u2068${value}\u2069` : typeof value === "number" ? number(value)
			: value;
	});
};
const timeLeft = (s) => s < 60 ? word("seconds", { n: Math.ceil(s) }) : word("minutes", { n: Math.ceil(s / 60) });
const problem = (key) => put("problem", key && word(key));

// Choosing. An item is a file, a folder with all its files, a text or a link.

let items = [], job = null, reading = false, pictures = Promise.resolve();

/** Adds files, each with its path from the chosen folder on. */
function add(found) {
	const folders = new Map(), had = new Set(items.map((item) => item.key));
	for (const { file, path } of found) {
		const cut = path.indexOf("/"), key = cut < 0 ? [path, file.size, file.lastModified].join("/") : path.slice(0, cut);
		if (cut < 0) {
			if (!had.has(key)) items.push({ kind: "file", name: path, key, size: file.size, files: [{ file, path }] });
			had.add(key);
			continue;
		}
		let folder = folders.get(key);
		if (!folder) {
			let name = key;
			for (let n = 2; had.has(name); n++) name = `${key} (${n})`;
			folders.set(key, folder = { kind: "tree", name, key: name, size: 0, files: [] });
			had.add(name);
			items.push(folder);
		}
		folder.size += file.size;
		folder.files.push({ file, path: folder.name + path.slice(cut) });
	}
	showItems();
}

async function drop(data) {
	const entries = [...data.items].filter((i) => i.kind === "file").map((i) => i.webkitGetAsEntry?.());
	if (!entries.length) return addText(data.getData("text/uri-list") || data.getData("text/plain"));
	if (!entries.every(Boolean)) return add([...data.files].map((file) => ({ file, path: file.name })));
	reading = true;
	problem("reading");
	try {
		const found = (await walk(entries)).filter((item) => item.file);
		problem(found.length ? "" : "empty");
		add(found);
	} catch {
		problem("unreadable");
	}
	reading = false;
}

const textNow = () => $("text").value.trim();

function addText(text) {
	$("text").value = (textNow() + "\n" + text).trim();
	$("text").focus();
	showItems();
}

/** The text field's contents as items: a link, a text, or a file if it is long. */
function texts() {
	const text = textNow(), bytes = new Blob([text]).size;
	if (!text) return [];
	if (bytes <= TEXT_BYTES) {
		const kind = /^https?:\/\/\S+$/i.test(text) ? "url" : "text";
		return [{ kind, name: text.slice(0, 120), text, size: bytes, files: [] }];
	}
	const path = words.isText + ".txt", file = new File([text], path, { type: "text/plain" });
	return [{ kind: "file", name: path, size: bytes, files: [{ file, path }] }];
}

function showItems() {
	const chosen = [...items, ...texts()], n = chosen.length;
	showRows();
	put("send", word(n ? "sendItems" : "send", { n, size: size(chosen.reduce((sum, item) => sum + item.size, 0)) }));
}

function showRows() {
	$("list").replaceChildren(...items.slice(0, ROWS).map(row));
	if (items.length > ROWS) $("list").append(make("li", "rest", word("others", { n: items.length - ROWS })));
}

function make(tag, name, text = "") {
	const made = document.createElement(tag);
	made.className = name;
	made.textContent = text;
	return made;
}

function row(item) {
	if (!item.row) {
		const what = make("div", "what"), button = item.button = make("button", "", "×");
		item.row = make("li", "");
		item.note = make("span", "note");
		item.mark = make("span", "mark");
		item.mark.ariaHidden = "true";
		button.type = "button";
		button.ariaLabel = word("remove", { name: item.name });
		button.onclick = () => {
			const at = items.indexOf(item);
			items.splice(at, 1);
			showItems();
			(items.length ? items[Math.min(at, items.length - 1, ROWS - 1)].button : $("add-files")).focus();
		};
		what.append(make("bdi", "name", item.name), item.note);
		item.row.append(make("span", "pic"), what, item.mark, button);
		picture(item);
	}
	showRow(item);
	return item.row;
}

const BAD = ["declined", "ineligible", "noRoom", "busy", "expired", "failed", "unreadable", "unsent"];
const isBad = (item) => BAD.includes(item.state);

function showRow(item) {
	const { state, kind } = item, bad = isBad(item), good = state === "stored";
	// A row beyond the first ones appears when it says something that matters.
	if (!item.row) return bad && $("list").append(row(item));
	const sent = item.files.reduce((sum, f) => sum + f.offset, 0);
	item.note.textContent = good ? word(item.stored ? "storedAs" : "stored", { name: item.stored })
		: state === "accepted" && sent && sent < item.size ? word("progress", { done: size(sent), size: size(item.size) })
		: state && (state !== "accepted" || !sent) ? word(state)
		: kind === "tree" ? word("isTree", { n: item.files.length, size: size(item.size) })
		: kind === "file" ? size(item.size) : word(kind === "url" ? "isLink" : "isText");
	if (bad && item.reason) {
		const reason = make("bdi", "", item.reason);
		reason.lang = "en";
		item.note.append(": ", reason);
	}
	item.row.className = `${kind} ${good ? "stored" : bad ? "bad" : ""}`;
	item.mark.textContent = good ? "✓" : bad ? "!" : "";
	item.mark.hidden = !job;
	item.button.hidden = !!job;
}

/** Small pictures, one after the other: a decoded photo needs much memory. */
function picture(item) {
	const { file } = item.files[0] || {};
	if (item.kind !== "file" || !/^image\//.test(file.type) || file.size > 4e7) return;
	pictures = pictures.then(async () => {
		const image = await createImageBitmap(file, { resizeWidth: 256, resizeQuality: "medium" });
		const canvas = make("canvas", "pic"), { width, height } = image, side = Math.min(width, height);
		canvas.width = canvas.height = 112;
		canvas.getContext("2d").drawImage(image, (width - side) / 2, (height - side) / 2, side, side, 0, 0, 112, 112);
		image.close();
		item.row.firstChild.replaceWith(canvas);
	}).catch(() => {});
}

// Asking

/** A question to the service. Status 0: no whole answer; -1: the page broke it off. */
async function ask(path, options, job = {}) {
	const stop = new AbortController(), timer = setTimeout(() => stop.abort(), 40000);
	let kicked = false;
	job.kick = () => { kicked = true; stop.abort(); };
	try {
		const answer = await fetch(path, { ...options, signal: stop.signal });
		return { ...await answer.json().catch((cut) => { if (answer.ok) throw cut; }), status: answer.status };
	} catch {
		return { status: kicked ? -1 : 0 };
	} finally {
		clearTimeout(timer);
	}
}

const sleep = (job, ms) => new Promise((done) => {
	setTimeout(done, ms);
	job.kick = done;
});

async function start() {
	const chosen = [...items, ...texts()];
	if (job || reading) return;
	problem(chosen.length ? "" : "nothing");
	if (!chosen.length) return;
	let name = $("name").value.trim();
	remember(name);
	while (new Blob([name]).size > 63) name = [...name].slice(0, -1).join("");
	// Files come first, so that their places in the question are those of their pieces.
	items = [...chosen.filter((i) => i.files.length), ...chosen.filter((i) => !i.files.length)];
	const files = items.flatMap((item) => {
		Object.assign(item, { state: "pending", place: -1, reason: "", stored: "" });
		return item.files.map((f) => Object.assign(f, { item, offset: 0, state: "", dead: "", tries: 0 }));
	});
	files.forEach((f, n) => { f.n = n; });
	const mine = job = { items, files, failures: 0, running: new Set(), moving: [], quarter: 0 };
	showRows();
	for (const id of ["choose", "fields", "go"]) show(id, false);
	show("run", true);
	head("asking");
	$("state").focus({ preventScroll: true });
	$("give").scrollIntoView();
	const answer = await ask("offers", {
		method: "POST", headers: { "Content-Type": "application/json" },
		body: JSON.stringify({
			name: name || words.guest,
			items: [
				...files.map(({ path, file }) => ({ name: path, size: file.size, type: file.type,
					modified: new Date(file.lastModified) })),
				...mine.items.filter((i) => i.text).map((i) => ({ [i.kind]: i.text })),
			],
		}),
	}, mine);
	if (answer.status === 201) {
		mine.path = "offers/" + answer.offer;
		return mine.ended ? tellCancelled(mine) : follow(mine);
	}
	if (mine.ended) return;
	back();
	if (answer.status === 400 && answer.message) put("problem", answer.message);
	else problem({ 0: "unreachable", 400: "failed", 413: "tooMany", 429: "busy", 503: "busy" }[answer.status]
		|| "overHelp");
}

/** Follows an offer to its end: waits for the answer, sends, reconnects. */
async function follow(job) {
	for (let fresh = true; !job.ended;) {
		showJob(job);
		const asked = Date.now(), before = job.version, held = !fresh && !job.failures;
		const news = await ask(job.path + (held ? `?wait=25&after=${before}` : ""), {}, job);
		if (job.ended) return;
		fresh = news.status < 0;
		if (news.status === 200) {
			job.lost = false;
			apply(job, news);
			if (/done|gone|expired|cancel/.test(news.state) || job.items.every(isBad)) return finish(job, news.state);
			if (news.state === "answered" && !job.paused && unsent(job).length) await send(job);
			else if (!job.broken) job.failures = 0;
			if (job.ended) return;
			// The service waits for files that never come: it keeps the others.
			if (job.files.some((f) => f.dead) && job.files.every((f) => f.dead || isBad(f.item) || f.state === "stored"))
				return cancel(job, "done");
			if (before === news.version && Date.now() - asked < 500) await sleep(job, 1000);
		} else if (/40[134]|410|421/.test(news.status)) {
			return finish(job, /40[13]/.test(news.status) ? "over" : "gone");
		} else if (news.status >= 0) {
			job.broken = true;
		}
		if (job.broken) {
			// Waits longer after each failure, at most 15 s, or until the network is back.
			job.broken = false;
			job.lost = job.failures++ > 0 || !navigator.onLine;
			showJob(job);
			await sleep(job, Math.min(15000, 250 * 2 ** job.failures) * (.8 + Math.random() * .4));
		}
	}
}

/** Takes over the service's view of the offer. */
function apply(job, news) {
	job.version = news.version;
	job.state = news.state;
	(news.files || []).forEach((theirs, n) => {
		const f = job.files[n];
		if (!f) return;
		f.offset = Math.min(theirs.offset, f.file.size);
		f.state = theirs.state;
		f.item.place = theirs.item;
	});
	const taken = new Set(job.items.map((item) => item.place)),
		free = [...news.items.keys()].filter((n) => !taken.has(n));
	for (const item of job.items) {
		if (item.place < 0 && free.length) item.place = free.shift();
		const { answer, stored, failed, reason } = news.items[item.place] || {}, dead = item.files.find((f) => f.dead);
		item.state = stored ? "stored" : failed ? "failed" : dead ? dead.dead : answer || "pending";
		item.stored = stored;
		if (!dead) item.reason = failed || reason;
		showRow(item);
	}
}

// Sending

const isSent = (f) => f.dead || /stored|failed/.test(f.state) || (f.state === "coming" && f.offset >= f.file.size);
const unsent = (job) => job.files.filter((f) => f.item.state === "accepted" && !isSent(f));

/** Sends the accepted files, some at the same time, until all are sent or the service must be asked. */
async function send(job) {
	const queue = unsent(job).reverse(), ticker = setInterval(() => showFigures(job), 500);
	job.started = true;
	job.halted = false;
	job.samples = [];
	keepAwake();
	showJob(job);
	await Promise.all(Array.from({ length: AT_ONCE }, async () => {
		while (queue.length && !job.halted) await sendFile(job, queue.pop());
	}));
	clearInterval(ticker);
}

async function sendFile(job, f) {
	while (!job.halted && f.item.state === "accepted") {
		const from = f.offset, answer = await sendPiece(job, f), { status, state, offset } = answer;
		if (job.ended) return;
		const taken = status === 200 || (status === 409 && offset !== from);
		if (taken) {
			f.offset = offset;
			if (offset > from) job.failures = f.tries = 0;
			if (status === 200) f.state = state;
			if (state === "failed") Object.assign(f.item, { state, reason: answer.message });
			else if (state === "stored" && f.item.kind === "file") Object.assign(f.item, { state, stored: answer.stored });
			if (f.item.kind === "file" || isBad(f.item)) showRow(f.item);
			if (status === 200 && isSent(f)) return;
		} else {
			if (job.halted) return;
			// A page cannot tell a file that is gone from a connection that is.
			const readable = await f.file.slice(from, from + 1).arrayBuffer().catch(() => null);
			if (!readable) f.dead = "unreadable";
			else if (/400|41[135]|507/.test(status)) f.dead = "failed";
		}
		if (status && ++f.tries > TRIES) f.dead = "failed";
		if (f.dead) {
			Object.assign(f.item, { state: f.dead, reason: answer.message });
			return showRow(f.item);
		}
		if (!taken) {
			job.broken = true;
			return halt(job);
		}
	}
}

/** Stops all pieces on their way. */
function halt(job) {
	job.halted = true;
	for (const request of job.running) request.abort();
}

/** Sends one piece by XMLHttpRequest, because fetch tells no progress of an upload. */
const sendPiece = (job, f) => new Promise((done) => {
	const request = new XMLHttpRequest(), from = f.offset;
	const alive = () => { request.at = Date.now(); };
	const timer = setInterval(() => { if (Date.now() - request.at > STALL) request.abort(); }, 2000);
	request.item = f.item;
	request.upload.onprogress = (event) => { alive(); f.offset = from + event.loaded; };
	request.onloadend = () => {
		clearInterval(timer);
		job.running.delete(request);
		done({ offset: from, ...request.response, status: request.status });
	};
	request.open("PUT", `${job.path}/files/${f.n}?offset=${from}`);
	request.responseType = "json";
	alive();
	job.running.add(request);
	request.send(f.file.slice(from, from + PIECE, "application/octet-stream"));
});

// Showing

function head(key, values, help = key + "Help") {
	const over = !!job.ended;
	put("state", word(key, values));
	put("state-help", word(help, values));
	put("pause", word(job.paused ? "resume" : "pause"));
	for (const id of ["bar", "figures", "cancel"]) show(id, !over);
	show("pause", !over && job.started);
	show("again", over && again().length);
	show("more", over);
	if (job.started) return;
	put("figures");
	$("bar").removeAttribute("value");
}

function showJob(job) {
	const all = job.items.length, n = job.items.filter((i) => /accepted|stored|failed|unreadable/.test(i.state)).length;
	if (job.lost) head("lost");
	else if (job.paused) head("paused");
	else if (job.state !== "answered") head("waiting");
	else if (unsent(job).length) head("sending", { n, all }, n === all ? "sendingAll" : "sendingSome");
	else head("finishing");
	if (job.started) showFigures(job);
}

function showFigures(job) {
	let all = 0, done = 0;
	for (const f of job.files) if (!isBad(f.item)) { all += f.file.size; done += f.offset; }
	const now = Date.now(), part = all ? done / all : 1, { samples } = job, quarter = Math.floor(part * 4);
	samples.push([now, done]);
	if (now - samples[0][0] > 8000) samples.shift();
	const passed = now - samples[0][0], rate = (done - samples[0][1]) / passed * 1000;
	const said = [word("progress", { done: size(done), size: size(all) })],
		moves = !job.paused && !job.lost && done < all;
	if (moves && passed > 900 && rate > 0) said.push(size(rate) + "/s", timeLeft((all - done) / rate));
	put("figures", said.map((text) => text.replace(/ /g, "\u00a0")).join(" · "));
	$("bar").value = part;
	document.title = `${Math.floor(part * 100)} % · ${host}`;
	if (quarter > job.quarter && quarter < 4) put("live", `${(job.quarter = quarter) * 25} %`);
	const moving = [...job.running].map((request) => request.item);
	for (const item of new Set([...job.moving, ...moving])) showRow(item);
	job.moving = moving;
}

// The end

const again = () => job.items.filter((i) => i.state !== "stored" && !/ineligible|unreadable/.test(i.state));

function finish(job, how) {
	job.ended = how;
	halt(job);
	letSleep();
	for (const item of job.items) {
		if (item.state === "pending") item.state = how === "expired" ? how : "unsent";
		if (item.state === "accepted") item.state = how === "done" ? "failed" : "unsent";
		showRow(item);
	}
	const all = job.items.length, n = job.items.filter((i) => i.state === "stored").length;
	const every = (state) => job.items.every((i) => i.state === state);
	document.title = `${host} · Waft`;
	put("live");
	if (n) head(n === all ? "doneAll" : "doneSome", { n, all }, /gone|over/.test(how) ? how + "Help" : "doneHelp");
	else head(/gone|over|cancelled/.test(how) ? how : every("declined") ? "refused" : every("expired") ? "nobody"
		: "doneNone");
	$("state").focus();
}

const tellCancelled = (job) => ask(job.path + "/cancel", { method: "POST", keepalive: true });

function cancel(job, how) {
	finish(job, how);
	if (!job.path) return;
	tellCancelled(job);
	job.kick();
}

/** Back to choosing. */
function back(kept = job.items) {
	const text = kept.find((i) => i.text);
	job = null;
	$("text").value = text ? text.text : "";
	items = kept.filter((i) => !i.text);
	for (const item of items) item.state = "";
	for (const id of ["choose", "fields", "go"]) show(id, true);
	show("run", false);
	showItems();
	$(kept.length ? "send" : "add-files").focus();
}

// The screen stays on while files go. After sleep, or with the network again, the page goes on at once.

let lock = null, hiddenAt = Infinity;
const letSleep = () => { lock?.release(); lock = null; };
const keepAwake = () => navigator.wakeLock?.request("screen").then((got) => {
	letSleep();
	lock = got;
	if (!job || job.ended) letSleep();
}, () => {});

function resume() {
	if (!job?.path || job.ended) return;
	for (const request of job.running) if (Date.now() - request.at > 5000) request.abort();
	if (job.lost || Date.now() - hiddenAt > 10000) job.kick();
	if (job.started) keepAwake();
	hiddenAt = Infinity;
}

// Controls

/** The guest's name for the next time; a private window keeps nothing. */
const remember = (name) => {
	try { return localStorage.waftName = name ?? localStorage.waftName ?? ""; } catch { return ""; }
};

if (words?.send) {
	root.classList.add("js");
	$("name").value ||= remember();
	const input = $("file");
	const pick = (folder, photo) => () => {
		Object.assign(input, { webkitdirectory: folder, multiple: !photo, accept: photo ? "image/*" : "" });
		input.toggleAttribute("capture", photo);
		input.click();
	};
	input.onchange = () => {
		problem();
		add([...input.files].map((file) => ({ file, path: file.webkitRelativePath || file.name })));
		input.value = "";
	};
	$("add-files").onclick = pick(false, false);
	$("add-folder").onclick = pick(true, false);
	show("add-folder", "webkitdirectory" in input);
	$("add-photo").onclick = pick(false, true);
	$("text").oninput = showItems;
	$("form").onsubmit = (event) => { event.preventDefault(); start(); };
	$("cancel").onclick = () => cancel(job, "cancelled");
	$("again").onclick = () => back(again());
	$("more").onclick = () => back([]);
	$("pause").onclick = () => {
		job.paused = !job.paused;
		halt(job);
		job.kick();
		showJob(job);
	};

	let leave;
	window.ondragenter = window.ondragover = (event) => {
		event.preventDefault();
		root.classList.toggle("dropping", !job);
		clearTimeout(leave);
		leave = setTimeout(() => root.classList.remove("dropping"), 300);
	};
	window.ondrop = (event) => {
		event.preventDefault();
		if (!job) drop(event.dataTransfer);
	};
	document.onpaste = (event) => {
		const data = event.clipboardData, files = [...data.files], text = data.getData("text/plain");
		if (job || (event.target.matches?.("input, textarea") && (text || !files.length))) return;
		event.preventDefault();
		const now = new Date().toLocaleString("sv").replace(/:/g, "-");
		if (!files.length) addText(text);
		else add(files.map((file) => ({ file, path: file.name.replace(/^image(?=\.\w+$)/, `${words.pasted} ${now}`) })));
	};

	document.onvisibilitychange = () => { if (document.hidden) hiddenAt = Date.now(); else resume(); };
	window.ononline = resume;
	window.onoffline = () => { if (job?.path && !job.ended) { job.lost = true; halt(job); job.kick(); } };
	window.onbeforeunload = (event) => { if (job && !job.ended) event.preventDefault(); };
	window.onpagehide = (event) => {
		if (job?.path && !job.ended && !event.persisted) navigator.sendBeacon(job.path + "/cancel");
	};
	showItems();
}
