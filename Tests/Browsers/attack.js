// A foreign page tries to reach the desk whose address is in the fragment, from the window that had the desk.
// `results` has what each way has found; `isOver` is true at the end.
const [base, previews] = decodeURIComponent(location.hash.slice(1)).split(" ");
const call = JSON.stringify({ visibility: "off" });
const results = {};
let isOver = false;

const read = async (path, options) => {
	const answer = await fetch(base + path, { credentials: "include", ...options });
	return answer.type === "opaque" ? "opaque" : `read ${answer.status} ${await answer.text()}`;
};
const tries = {
	page: () => read("/"),
	script: () => read("/desk.js"),
	facts: () => read("/facts"),
	entry: () => read("/enter", { method: "POST", body: "{}" }),
	simple: () => read("/visibility", { method: "POST", body: call, headers: { "content-type": "text/plain" } }),
	json: () => read("/visibility", { method: "POST", body: call, headers: { "content-type": "application/json" } }),
	blind: () => read("/visibility", { method: "POST", body: call, mode: "no-cors" }),
	navigation: () => read("/facts", { mode: "no-cors" }),
	sending: () => read("/sendings", { method: "POST", body: '{"to":"study","items":[{"name":"a","size":1}]}' }),
	deletion: () => read("/sendings/x", { method: "DELETE" }),
	preview: () => read("/", { mode: "cors" }).then(() => fetch(previews + "/items/1")),
	beacon: async () => String(navigator.sendBeacon(base + "/visibility", new Blob([call], { type: "text/plain" }))),
	socket: () => new Promise((yes) => {
		const socket = new WebSocket(base.replace("http", "ws") + "/visibility");
		socket.onopen = () => yes("open");
		socket.onerror = () => yes("refused");
	}),
	events: () => new Promise((yes) => {
		const events = new EventSource(base + "/facts", { withCredentials: true });
		events.onopen = () => yes("open");
		events.onerror = () => { events.close(); yes("refused"); };
	}),
	scripts: () => loads("script", { src: base + "/facts" }),
	module: () => import(base + "/calls.js").then((module) => "read " + Object.keys(module)),
	words: () => loads("script", { src: base + "/en.txt" }),
	picture: () => loads("img", { src: base + "/facts" }),
	icon: () => loads("img", { src: base + "/icon.svg" }),
	frame: async () => {
		const frame = Object.assign(document.createElement("iframe"), { src: base + "/" });
		const loaded = new Promise((yes) => { frame.onload = yes; });
		document.body.append(frame);
		await loaded;
		return frame.contentDocument ? "read " + frame.contentDocument.body.innerText : `frames ${frame.contentWindow.length}`;
	},
	form: async () => {
		const frame = Object.assign(document.createElement("iframe"), { name: "target" });
		document.body.append(frame);
		const form = Object.assign(document.createElement("form"), {
			method: "post", enctype: "text/plain", action: base + "/visibility", target: "target",
		});
		const [head, rest] = [call.slice(0, -1) + ',"x":"', '"}'];
		form.append(Object.assign(document.createElement("input"), { type: "hidden", name: head, value: rest }));
		document.body.append(form);
		const loaded = new Promise((yes) => { frame.onload = yes; });
		form.submit();
		await loaded;
		return frame.contentDocument ? "read " + frame.contentDocument.body.innerText : "hidden";
	},
	opener: async () => {
		const opened = open(base + "/#peers");
		if (!opened) return "no window";
		try {
			// Until the desk has come, there is an empty page of this site's own.
			while (opened.location.href === "about:blank") await new Promise((yes) => setTimeout(yes, 20));
			return "read " + opened.document.body.innerText;
		} catch { return "hidden"; } finally { opened.close(); }
	},
};

function loads(tag, facts) {
	return new Promise((yes) => {
		const node = Object.assign(document.createElement(tag), facts);
		node.onload = () => yes("loaded");
		node.onerror = () => yes("refused");
		document.body.append(node);
	});
}

for (const [name, attempt] of Object.entries(tries)) {
	// What is refused is refused at once.
	const late = new Promise((yes) => setTimeout(yes, 20_000, "open for seconds"));
	try { results[name] = String(await Promise.race([attempt(), late])); } catch { results[name] = "refused"; }
}
isOver = true;
Object.assign(window, { results, isOver });
