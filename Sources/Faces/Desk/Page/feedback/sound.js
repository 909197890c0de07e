// The sound of an arrival: two short tones, made here. It is off by default.
import {valueOf} from "/known.js";

const TONES = [[0, 659.3], [.11, 987.8]], LASTS = .5, LOUD = .14;

// Sounds if the user wants it, and has touched the page: browsers forbid it before.
export function soundArrival() {
	if (valueOf("desk.sound") !== "true" || !navigator.userActivation?.hasBeenActive) return;
	const context = new AudioContext();
	for (const [at, frequency] of TONES) {
		const begin = context.currentTime + at, tone = new OscillatorNode(context, {frequency}),
			loud = context.createGain();
		loud.gain.setValueAtTime(0, begin);
		loud.gain.linearRampToValueAtTime(LOUD, begin + .015);
		loud.gain.exponentialRampToValueAtTime(.0001, begin + LASTS);
		tone.connect(loud).connect(context.destination);
		tone.start(begin);
		tone.stop(begin + LASTS);
	}
	// It holds the sound device while it is open.
	setTimeout(() => context.close(), 2000 * LASTS);
	document.dispatchEvent(new Event("sounded"));
}
