import Desktop
import Lines
import Sharing

/// Puts the items into a new message of the user's mail program, by `xdg-email`.
struct MailActivity: Activity {
    let type = ActivityType.mail
    let title = "Mail"
    let category = ActivityCategory.share

    func obstacle(_ items: ShareItems) -> String? {
        guard SystemProgram("xdg-email") != nil else { return "xdg-email is missing; install xdg-utils" }
        guard DesktopSession.hasDisplay() else { return "there is no desktop here" }
        return items.items.allSatisfy { $0.offered.kind != .tree } ? nil : "a folder cannot be attached"
    }

    func perform(_ items: ShareItems, _ scene: ShareScene) async throws -> [String] {
        guard let program = SystemProgram("xdg-email") else { throw CommandError(.ineligible, "xdg-email is missing") }
        var words = ["--utf8"]
        let subject = items.subject ?? items.givenSubject ?? items.title
        // A value in its own word: `xdg-email` takes no word that begins with a hyphen for one.
        words += ["--subject", subject.hasPrefix("-") ? " " + subject : subject]
        let texts = try items.items.filter(\.isWords).map { item throws(CommandError) in try item.words() }
        if !texts.isEmpty {
            let body = texts.joined(separator: "\n")
            words += ["--body", body.hasPrefix("-") ? " " + body : body]
        }
        // The mail program reads the attachments later.
        let files = try items.others.files(in: scene.spool)
        if !files.isEmpty { scene.spool.keep() }
        for file in files { words += ["--attach", file] }
        try await program.handOver(words)
        scene.say("\(items.title): handed to the mail program")
        return []
    }
}
