import Previews

/// Shows a part of the items in the terminal, as `waft preview`.
struct PreviewActivity: Activity {
    let type = ActivityType.preview
    let title = "Preview"
    let category = ActivityCategory.action

    func obstacle(_ items: ShareItems) -> String? {
        // Its contents would be made for a look.
        items.items.allSatisfy { $0.path != nil } ? nil : "files and folders are shown"
    }

    func perform(_ items: ShareItems, _ scene: ShareScene) async throws -> [String] {
        let previewing = Previewing(scene.context, lines: PreviewBounds.lines, json: scene.json)
        for path in items.items.compactMap(\.path) {
            try await previewing.show(DocumentSubject(path: path, previewing.registry))
        }
        return []
    }
}
