// A page for a guest who has only a browser: its address as a code to scan.
import {$, alarm, button, call, h, icon, mono, named, replace, shown, status, t, tellFault} from "/parts.js";
import {drawQR} from "/pair.js";

// The place in the room.
export const inviteCard = () => ({key: "invite",
	make: () => h("li", h("button.peer.invites", {"data-key": "invite", onclick: invite},
	h("span.face", {"aria-hidden": "true"}, icon("phone")), h("span.name", t("invite")),
		h("span.facts", h("span", t("inviteHelp")))))});

// Opens the page, and shows its code for as long as the dialog is open.
export function invite() {
	const dialog = $("ask"), stop = new AbortController(), code = h("div"), guests = h("ul.things"),
		says = status(t("loading")), error = alarm();
	replace(dialog, h("div.fields.invitation", h("h2#ask-title", t("inviteTitle")), h("p", t("inviteText")), code, says,
		guests, error,
		h("p.row.end", button("done", () => dialog.close(), ".primary"))));
	dialog.onclose = () => stop.abort();
	dialog.showModal();
	const heard = {
		page({url, address, pin}) {
			replace(says, h("span", t("inviteType"), " "), mono(address),
				pin && [h("span", " " + t("invitePIN") + " "), h("strong.mono", pin)]);
			drawQR(code, url ?? address, t("qrOf", {what: shown(address)}));
		},
		guest: ({address}) => guests.append(h("li", icon("phone"), named(address ?? ""), h("span.note", t("guestCame")))),
	};
	call("page", {}, {signal: stop.signal, each: line => heard[line.event]?.(line)}).then(result => {
		stop.signal.aborted || tellFault(error, result);
	});
}
