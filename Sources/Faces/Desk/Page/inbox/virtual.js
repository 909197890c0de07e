// A list of any length. Only the options in view exist.
import {framed, h, replace} from "/parts.js";

// A tile and a row, in rem.
const TILE = {wide: 10.5, high: 13.25}, ROW = {high: 4};

// A listbox. `draw` makes the children of an option, and `words` its name; `chose` is called at a choice.
export class VirtualList {
	items = []; active = -1; columns = 1; nodes = new Map();

	constructor({label, draw, words, chose, keys, isChosen}) {
		Object.assign(this, {draw, words, chose, keys, isChosen});
		this.space = h("div.space", {role: "presentation"});
		this.node = h("div.scroller", {tabIndex: 0, role: "listbox", ariaLabel: label, "aria-multiselectable": "true"},
			this.space);
		this.update = framed(() => this.render());
		this.node.addEventListener("scroll", this.update, {passive: true});
		this.node.addEventListener("keydown", event => this.press(event));
		this.node.addEventListener("click", event => {
			const option = event.target.closest("[role=option]");
			if (option) {this.active = +option.dataset.place; this.chose(this.active, event); this.update();}
		});
		// Rows move with the number of columns.
		this.sizes = new ResizeObserver(() => {this.again(); this.hasMoved = this.active >= 0;});
		this.sizes.observe(this.node);
	}

	set(items, grid) {
		this.items = items;
		this.grid = grid;
		this.node.classList.toggle("grid", grid);
		this.active = Math.min(this.active, items.length - 1);
		this.again();
	}

	// Rows stay: a row must not vanish during a click.
	again() {
		this.isOld = true;
		this.update();
	}

	render() {
		const {node, space, items, grid, isOld} = this, width = node.clientWidth;
		const rem = parseFloat(getComputedStyle(document.documentElement).fontSize);
		this.columns = grid ? Math.max(2, Math.floor(width / (TILE.wide * rem))) : 1;
		const high = this.high = (grid ? TILE : ROW).high * rem, wide = width / this.columns;
		space.style.blockSize = Math.ceil(items.length / this.columns) * high + "px";
		if (this.hasMoved) this.reveal();
		this.isOld = this.hasMoved = false;
		const from = Math.max(0, Math.floor(node.scrollTop / high) - 3) * this.columns;
		const to = Math.min(items.length, (Math.ceil((node.scrollTop + node.clientHeight) / high) + 3) * this.columns);
		for (const [place, option] of this.nodes) {
			if (place >= from && place < to) continue;
			option.remove();
			this.nodes.delete(place);
		}
		for (let place = from; place < to; place++) {
			let option = this.nodes.get(place);
			if (!option || isOld) {
				option ??= space.appendChild(h("div.option",
					{role: "option", id: "option-" + place, "data-place": place, "aria-posinset": place + 1}));
				option.ariaSetSize = items.length;
				option.ariaLabel = this.words(items[place]);
				option.draggable = true;
				replace(option, this.draw(items[place]));
				const at = {inlineSize: wide, blockSize: high, insetBlockStart: Math.floor(place / this.columns) * high,
					insetInlineStart: place % this.columns * wide};
				for (const side in at) option.style[side] = at[side] + "px";
				this.nodes.set(place, option);
			}
			option.ariaSelected = this.isChosen(items[place]);
			option.classList.toggle("active", place === this.active);
		}
		// Pictures are fetched when the list rests.
		clearTimeout(this.rest);
		this.rest = setTimeout(() => space.querySelectorAll("img[data-src]").forEach(image => {
			image.src = image.dataset.src;
			delete image.dataset.src;
		}), 120);
		node.setAttribute("aria-activedescendant", this.nodes.has(this.active) ? "option-" + this.active : "");
	}

	press(event) {
		const page = Math.max(1, Math.floor(this.node.clientHeight / this.high)) * this.columns;
		const steps = {ArrowDown: this.columns, ArrowUp: -this.columns, PageDown: page, PageUp: -page,
			Home: -1e9, End: 1e9, ...(this.grid ? {ArrowRight: 1, ArrowLeft: -1} : {})};
		if (event.key in steps && this.items.length) {
			const next = this.active < 0 && event.key !== "End" ? 0 : this.active + steps[event.key];
			this.active = Math.min(this.items.length - 1, Math.max(0, next));
			this.reveal();
			if (!event.ctrlKey) this.chose(this.active, event);
			this.update();
		} else if (this.keys[event.key]) this.keys[event.key](event);
		else return;
		event.preventDefault();
	}

	reveal() {
		const {node, high} = this, top = Math.floor(this.active / this.columns) * high;
		node.scrollTop = Math.min(top, Math.max(node.scrollTop, top + high - node.clientHeight));
	}
}
