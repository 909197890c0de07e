package import Sharing

/// The name of a sealed file on the disk: its own name and an ending that shows people how to open it without Waft.
///
/// The folders and links of a sealed tree keep their names.
package enum SealedName {
    package static let ending = ".age"
    /// Bytes of a name that leaves room for the ending, at most.
    package static let maximumBytes = SafeName.maximumBytes - ending.utf8.count

    /// - Throws: `unsafeName` for a name that is too long.
    static func onDisk(_ name: String) throws(TransferError) -> String {
        guard name.utf8.count <= maximumBytes else {
            throw TransferError(
                .unsafeName, "the name \(name) is too long to be sealed: \(maximumBytes) bytes are the most")
        }
        return name + ending
    }

    /// The file's own name; nil if the name on the disk is not that of a sealed file.
    package static func own(_ onDisk: String) -> String? {
        onDisk.utf8.count > ending.utf8.count && onDisk.hasSuffix(ending) ? String(onDisk.dropLast(ending.count)) : nil
    }
}

extension StoredItem {
    /// The same item under its own name, if its name on the disk is that of a sealed file.
    package func named(asSealed isSealedFile: Bool) -> StoredItem {
        guard isSealedFile, let own = SealedName.own(name.text), let name = try? SafeName(own) else { return self }
        return StoredItem(name: name, path: path)
    }
}
