package import Sharing
package import UniformTypes

/// The facts about an item that the user shares, for the program of an activity.
package struct SharedFacts: Sendable {
    /// Absolute path; nil while the item has no file.
    package let file: String?
    package let name: String
    package let type: UniformType
    package let kind: ItemKind
    /// Bytes; nil if unknown.
    package let size: UInt64?

    package init(file: String?, name: String, type: UniformType, kind: ItemKind, size: UInt64?) {
        (self.file, self.name, self.type, self.kind, self.size) = (file, name, type, kind, size)
    }
}
