import Foundation
import Sharing

/// The path of a member in an archive, in one comparable form: names joined by `/` without `./`, in Unicode's composed
/// form, because Apple's senders decompose them.
struct MemberPath: Equatable {
    /// The prefix of a folder that some senders put around everything; paths here never contain it.
    private static let wrapperPrefix = "NSIRD_AirDrop_"

    /// The item's own name first; empty for the archive's root.
    var names: [Substring]

    /// - Throws: `NameError` if the path is absolute, goes upwards, or is too long.
    init(_ text: String) throws(NameError) {
        if text.utf8.first == UInt8(ascii: "/") { throw .absolute }
        if text.utf8.count > 2 * SafeRelativePath.maximumBytes { throw .tooDeep }
        names = PathText.names(in: Self.composed(text)).filter { $0 != "." }
        if names.contains("..") { throw .dots }
        if names.count > SafeRelativePath.maximumDepth + 2 { throw .tooDeep }
    }

    /// Removes the wrapper, unless it was announced under its own name.
    /// - Parameter isAnnounced: whether an item has this name.
    mutating func unwrap(_ isAnnounced: (String) -> Bool) {
        guard let first = names.first, first.utf8.starts(with: Self.wrapperPrefix.utf8), !isAnnounced(String(first))
        else { return }
        names.removeFirst()
    }

    /// The path in its item, with names that can be stored.
    /// - Parameter depth: number of names in the item's own path.
    /// - Returns: nil for the item itself.
    /// - Throws: `NameError.tooDeep`.
    func path(below depth: Int) throws(NameError) -> SafeRelativePath? {
        guard names.count > depth else { return nil }
        return try SafeRelativePath(
            names.dropFirst(depth).map { SafeName(fitting: String($0)).text }.joined(separator: "/"))
    }

    /// All names, as in the archive.
    var text: String { names.joined(separator: "/") }

    /// Whether its name is that of an AppleDouble sidecar.
    var looksLikeSidecar: Bool { names.last.map { $0.utf8.starts(with: "._".utf8) && $0.utf8.count > 2 } ?? false }

    /// Whether its name is that of a file in which a Mac's Finder stores how it shows a folder.
    var looksLikeFinderFile: Bool { names.last == ".DS_Store" || names.last == "Icon\r" }

    static func composed(_ text: String) -> String {
        text.utf8.allSatisfy { $0 < 0x80 } ? text : text.precomposedStringWithCanonicalMapping
    }
}
