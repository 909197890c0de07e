import Foundation
import Sharing
import UniformTypes

/// Copies a text, URLs or one image to the clipboard as data, and files as a list.
struct CopyActivity: Activity {
    let type = ActivityType.copy
    let title = "Copy"
    let category = ActivityCategory.action

    func obstacle(_ items: ShareItems) -> String? {
        guard let mimeType = mimeType(items) else { return "the clipboard takes texts, one image, or files" }
        let size = items.items.reduce(0) { $0 + Int(clamping: $1.offered.size ?? 0) }
        return Clipboard().takes(mimeType, bytes: size) ? nil : "there is no clipboard here for \(mimeType)"
    }

    func perform(_ items: ShareItems, _ scene: ShareScene) async throws -> [String] {
        guard let mimeType = mimeType(items) else { return [] }
        try await Clipboard().copy(
            Clipboard.Content(mimeType: mimeType, bytes: try bytes(of: items, mimeType)))
        scene.say("\(items.title): copied")
        return []
    }

    /// - Returns: nil if the items have no common form.
    private func mimeType(_ items: ShareItems) -> String? {
        if items.items.allSatisfy(\.isWords) { return Clipboard.Content.text }
        if items.items.count == 1, let image = Clipboard.Content.images[items.items[0].offered.type] { return image }
        return items.items.allSatisfy { $0.path != nil } ? "text/uri-list" : nil
    }

    private func bytes(of items: ShareItems, _ mimeType: String) throws(CommandError) -> [UInt8] {
        switch mimeType {
        case Clipboard.Content.text:
            Array(try items.items.map { item throws(CommandError) in try item.words() }.joined(separator: "\n").utf8)
        case "text/uri-list":
            Array(
                items.items.compactMap(\.path).map { URL(fileURLWithPath: $0).absoluteString + "\r\n" }.joined().utf8)
        default: try items.items[0].data(limit: Clipboard.Content.dataBytes)
        }
    }
}
