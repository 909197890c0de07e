import Foundation
import Sharing

/// Where a member lies in an archive, in the one form in which paths are compared here: names joined by `/` without `./`,
/// in Unicode's composed form, for Apple's senders decompose them.
struct MemberPath: Equatable {
    /// What some senders put around everything; never a part of a path here.
    private static let wrapperPrefix = "NSIRD_AirDrop_"

    /// The item's own name first; none for the archive's root.
    var names: [Substring]

    /// - Throws: `NameRefusal` for an absolute path, or one that is too long. What the names are is not looked at yet.
    init(_ text: String) throws(NameRefusal) {
        if text.utf8.first == UInt8(ascii: "/") { throw .absolute }
        if text.utf8.count > 2 * SafeRelativePath.maximumBytes { throw .tooDeep }
        names = PathText.names(in: Self.composed(text)).filter { $0 != "." }
        if names.count > SafeRelativePath.maximumDepth + 2 { throw .tooDeep }
    }

    /// Takes the wrapper away, unless it was announced under its own name.
    /// - Parameter isAnnounced: whether an item goes by a name.
    mutating func unwrap(_ isAnnounced: (String) -> Bool) {
        guard let first = names.first, first.utf8.starts(with: Self.wrapperPrefix.utf8), !isAnnounced(String(first))
        else { return }
        names.removeFirst()
    }

    /// The name of the item that it is, or is in.
    var item: String? { names.first.map(String.init) }

    /// Where it lies in its item; nil for the item itself.
    func path() throws(NameRefusal) -> SafeRelativePath? {
        guard names.count > 1 else { return nil }
        // Each name by itself, so that `..` and the like are refused with their own reason.
        return try SafeRelativePath(names.dropFirst().joined(separator: "/"))
    }

    /// Whether it is named like an AppleDouble sidecar.
    var looksLikeSidecar: Bool { names.last.map { $0.utf8.starts(with: "._".utf8) && $0.utf8.count > 2 } ?? false }

    static func composed(_ text: String) -> String {
        text.utf8.allSatisfy { $0 < 0x80 } ? text : text.precomposedStringWithCanonicalMapping
    }
}
