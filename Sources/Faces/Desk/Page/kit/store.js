// What all views share. They hear of changes by topic.

export const store = {
	facts: {}, visibility: null, protection: null, receiver: null, strangers: [], groups: [],
	peers: new Map(), away: new Map(), contacts: new Map(), offers: new Map(), transfers: new Map(),
};

const listeners = new Map();

// Calls `work` at each change of one of the topics, until the signal aborts.
export function on(topics, work, signal) {
	for (const topic of topics.split(" ")) {
		if (!listeners.has(topic)) listeners.set(topic, new Set());
		listeners.get(topic).add(work);
		signal?.addEventListener("abort", () => listeners.get(topic).delete(work));
	}
}

export const changed = (topic, detail) => listeners.get(topic)?.forEach(work => work(detail));
export const called = peer => store.contacts.get(peer?.id)?.name ?? peer?.contact ?? peer?.name ?? peer?.rememberedAs
	?? "";

// The user's name for a peer; undefined for a stranger. One that is away is written with the user's own name for it.
export const contactName = peer => store.contacts.get(peer?.id)?.name ?? peer?.contact
	?? (peer?.away ? called(peer) : undefined);
// The contact whose name a stranger has. One that does not tell its name claims nothing.
export const claims = peer => contactName(peer) === undefined ? peer?.claims : undefined;
// The same for two of the same sender.
export const senderKey = peer => peer && (peer.id ?? " " + (peer.name ?? ""));

export const isContact = peer => store.contacts.get(peer?.id)?.blocked === false;

// The sum of a figure of each; 0 where it has none.
export const sum = (all, figure) => all.reduce((sum, one) => sum + (figure(one) ?? 0), 0);

// What --to takes.
export const target = peer => peer.id ?? peer.rememberedAs ?? peer.name;
