// The nodes of a list by keys, in order: later ones appear, and lost ones leave, with a movement.
import {hasFocus, leave} from "/dom.js";

export class Keyed {
	constructor(list) {
		this.list = list;
		this.nodes = new Map();
		this.isFirst = true;
	}

	// `make` makes the node of a new one; `draw` brings each node up to date.
	show(all, keyOf, make, draw) {
		const now = new Set(all.map(keyOf));
		for (const [key, node] of this.nodes) if (!now.has(key)) this.leave(key, node);
		let next = this.list.firstElementChild;
		for (const one of all) {
			const key = keyOf(one);
			let node = this.nodes.get(key);
			if (!node) {
				node = make(one);
				if (!this.isFirst) node.classList.add("appears");
				node.addEventListener("animationend", () => node.classList.remove("appears"), {once: true});
				this.nodes.set(key, node);
			}
			draw(node, one);
			while (next?.classList.contains("leaves")) next = next.nextElementSibling;
			if (node === next) next = next.nextElementSibling; else this.list.insertBefore(node, next);
		}
		this.isFirst = false;
	}

	leave(key, node) {
		this.nodes.delete(key);
		if (hasFocus(node)) node.closest("main").focus({preventScroll: true});
		node.inert = true;
		leave(node);
	}
}
