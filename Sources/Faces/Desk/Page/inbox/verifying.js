// Compares items with their state at arrival, some at a time. A person sees the progress, and can stop it.
import {button, call, fate, fold, h, lineOf, problem, put, replace, shown, status, t, things} from "/parts.js";

// Maximum number of calls. Each is a step of the progress.
const STEPS = 100;

const FAULTS = /^(changed|missing|unreadable|absent)$/;

// Shows the progress in a part until its end is read. `paths` are of items that came by Waft; `others` counts the rest.
export async function verify(part, paths, others, signal) {
	const stop = new AbortController(), n = paths.length, size = Math.max(1, Math.ceil(n / STEPS));
	const end = () => stop.abort();
	part.stop?.();
	part.stop = end;
	signal?.addEventListener("abort", end);
	let done = 0, ok = 0, locked = 0, trouble = "";
	const faults = [], says = status(), bar = h("progress", {max: n || 1, value: 0, ariaLabel: t("verify")});
	replace(part, h("div.verifying", says, bar, button("stop", end)));
	while (done < n && !stop.signal.aborted && !trouble) {
		put(says, t("verifying", {done, all: n}));
		const items = paths.slice(done, done + size), result = await call("inbox/verify", {items}, {signal: stop.signal});
		const sums = lineOf(result, "verified");
		if (!sums) {trouble = stop.signal.aborted ? "" : problem(result); break;}
		done += items.length;
		ok += sums.ok;
		locked += sums.locked ?? 0;
		faults.push(...result.lines.filter(({event}) => FAULTS.test(event)));
		bar.value = done;
	}
	if (part.stop !== end || signal?.aborted) return;
	const left = n - done, isNothing = !faults.length && !left && !others;
	const words = [(ok > 0 || isNothing) && t("verified", {n: ok}), locked && t("verifiedSealed", {n: locked}),
		left && t(trouble ? "verifyLeft" : "verifyStopped", {n: left}), others && t("verifyOthers", {n: others}), trouble];
	const fault = line => fate(false, line.stored ?? line.wanted, t("fault-" + line.event));
	const cause = ({stored, wanted, reason, differences = []}) => (reason || differences.length > 0)
		&& h("li", shown(`${stored ?? wanted}: ${[reason, ...differences].filter(Boolean).join(", ")}`));
	const some = faults.slice(0, 100), causes = some.map(cause).filter(Boolean);
	replace(part, h("div.verified", status(words.filter(Boolean).join(" ")), some.length > 0 && things(some.map(fault)),
		causes.length > 0 && fold(t("facts"), h("ul.help", causes)),
		button("hide", () => {part.stop = null; replace(part);})));
}
