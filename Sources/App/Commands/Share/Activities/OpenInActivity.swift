import Settings

/// Opens one file or folder in an application that the user chooses, as `waft open-in`.
struct OpenInActivity: Activity {
    let context: CommandContext

    let type = ActivityType.openIn
    let title = "Open in\(Glyph.ellipsis)"
    let category = ActivityCategory.action

    func obstacle(_ items: ShareItems) -> String? {
        guard items.items.count == 1, let path = items.items[0].path else { return "it takes one file or folder" }
        guard let subject = try? DocumentSubject(path: path, context.home.typeRegistry()) else {
            return "it cannot be read"
        }
        do throws(CommandError) {
            let list = try OpenIn(context).list(for: subject)
            return list.targets.isEmpty ? list.nothing.hint ?? "nothing here opens it" : nil
        } catch {
            return "it is not what it claims to be, or would be run"
        }
    }

    func perform(_ items: ShareItems, _ scene: ShareScene) async throws -> [String] {
        for path in items.items.compactMap(\.path) {
            let subject = try DocumentSubject(path: path, context.home.typeRegistry())
            try await OpenIn(context, json: scene.json).run(subject, app: nil)
        }
        return []
    }
}
