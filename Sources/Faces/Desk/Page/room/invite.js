// A page for a guest who has only a browser: its address as a code to scan.
import {call, faultOf, h, icon, mono, named, put, replace, shown, status, t} from "/parts.js";
import {drawQR, opened} from "/pair.js";

export const inviteCard = () => ({key: "invite",
	make: () => h("li", h("button.peer.invites", {"data-key": "invite", onclick: invite},
	h("span.face", {"aria-hidden": "true"}, icon("phone")), h("span.name", t("invite")),
		h("span.facts", h("span", t("inviteHelp")))))});

// Opens the page, and shows its code for as long as the dialog is open.
export function invite() {
	const code = h("div"), guests = h("ul.things"), says = status(t("loading")),
		{stage, close, signal} = opened(t("inviteTitle"),
			h("div.fields.invitation", h("p", t("inviteText")), code, says, guests));
	put(close, t("done"));
	const heard = {
		page({url, address, pin}) {
			replace(says, h("span", t("inviteType"), " "), mono(address),
				pin && [h("span", " " + t("invitePIN") + " "), h("strong.mono", pin)]);
			drawQR(code, url ?? address, t("qrOf", {what: shown(address)}));
		},
		guest: ({address}) => guests.append(h("li", icon("phone"), named(address ?? ""), h("span.note", t("guestCame")))),
	};
	call("page", {}, {signal, each: line => heard[line.event]?.(line)}).then(result => {
		signal.aborted || replace(stage, faultOf(result));
	});
}
