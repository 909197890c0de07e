import WebPages

/// The files of the pages.
package enum DeskPage {
    /// Waft's icon: an SVG document.
    package static var icon: String { SharedPage.icon }

    /// - Parameter name: the whole path without its slash.
    /// - Returns: nil for a name that no file has.
    static func file(_ name: String) -> (bytes: [UInt8], type: String)? {
        switch name {
        case "": (PackageResources.desk_html, "text/html; charset=utf-8")
        case "de.txt": (PackageResources.de_txt, "text/plain; charset=utf-8")
        case "en.txt": (PackageResources.en_txt, "text/plain; charset=utf-8")
        default:
            styles[name].map { ($0, "text/css") } ?? scripts[name].map { ($0, "text/javascript") }
                ?? SharedPage.file(name)
        }
    }

    private static let styles = [
        "desk.css": PackageResources.desk_css,
        "feedback.css": PackageResources.feedback_css,
        "inbox.css": PackageResources.inbox_css,
        "person.css": PackageResources.person_css,
        "room.css": PackageResources.room_css,
        "settings.css": PackageResources.settings_css,
        "visible.css": PackageResources.visible_css,
    ].mapValues(PageFile.lean)

    private static let scripts = [
        "calls.js": PackageResources.calls_js,
        "code.js": PackageResources.code_js,
        "contacts.js": PackageResources.contacts_js,
        "contents.js": PackageResources.contents_js,
        "desk.js": PackageResources.desk_js,
        "dom.js": PackageResources.dom_js,
        "drag.js": PackageResources.drag_js,
        "drops.js": PackageResources.drops_js,
        "entries.js": PackageResources.entries_js,
        "events.js": PackageResources.events_js,
        "faults.js": PackageResources.faults_js,
        "feedback.js": PackageResources.feedback_js,
        "filters.js": PackageResources.filters_js,
        "first.js": PackageResources.first_js,
        "handlers.js": PackageResources.handlers_js,
        "history.js": PackageResources.history_js,
        "icons.js": PackageResources.icons_js,
        "inbox.js": PackageResources.inbox_js,
        "invite.js": PackageResources.invite_js,
        "keyed.js": PackageResources.keyed_js,
        "known.js": PackageResources.known_js,
        "names.js": PackageResources.names_js,
        "nobody.js": PackageResources.nobody_js,
        "pair.js": PackageResources.pair_js,
        "parts.js": PackageResources.parts_js,
        "peer.js": PackageResources.peer_js,
        "person.js": PackageResources.person_js,
        "preview.js": PackageResources.preview_js,
        "question.js": PackageResources.question_js,
        "room.js": PackageResources.room_js,
        "send.js": PackageResources.send_js,
        "sending.js": PackageResources.sending_js,
        "setting.js": PackageResources.setting_js,
        "settings.js": PackageResources.settings_js,
        "sound.js": PackageResources.sound_js,
        "start.js": PackageResources.start_js,
        "store.js": PackageResources.store_js,
        "tar.js": PackageResources.tar_js,
        "tile.js": PackageResources.tile_js,
        "transfers.js": PackageResources.transfers_js,
        "types.js": PackageResources.types_js,
        "use.js": PackageResources.use_js,
        "verifying.js": PackageResources.verifying_js,
        "virtual.js": PackageResources.virtual_js,
        "visible.js": PackageResources.visible_js,
        "words.js": PackageResources.words_js,
    ].mapValues(PageFile.lean)
}
