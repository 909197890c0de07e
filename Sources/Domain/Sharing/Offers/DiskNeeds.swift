/// The abilities of a disk that a folder needs, and that some disks lack: links, certain names, names that differ only
/// in case. The offer has them, so that a receiver can refuse it before anything is sent.
package struct DiskNeeds: Hashable, Sendable {
    /// The characters that Windows takes in no name, and many disks do not either. A slash is in no name anyway.
    package static let rareCharacters = "\"*:<>?\\|"
    /// Bytes of a name that every disk takes; shorter names are not counted.
    package static let usualNameBytes = 200

    /// Whether there is a symbolic link.
    package var links = false
    /// Those of `rareCharacters` that are in a name of a file, folder or link; in the order of that list.
    package var characters = ""
    /// Whether two names in one folder differ only in the case of ASCII letters. Other letters are not compared.
    package var alike = false
    /// Bytes of the longest name of a file, if it has more than `usualNameBytes`; otherwise 0.
    package var longestName = 0

    package init() {}

    package var isEmpty: Bool { self == DiskNeeds() }

    /// Adds the name of a file, folder or link.
    package mutating func add(_ name: String, isFile: Bool = true) {
        var (count, isRare) = (0, false)
        for byte in name.utf8 {
            count += 1
            isRare = isRare || Self.isRare(byte)
        }
        if isRare { characters = Self.rareCharacters.filter { characters.contains($0) || name.contains($0) } }
        if isFile, count > Self.usualNameBytes { longestName = max(longestName, count) }
    }

    /// Whether a byte is one of `rareCharacters`. It runs for each byte of each name in a folder.
    private static func isRare(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x22, 0x2A, 0x3A, 0x3C, 0x3E, 0x3F, 0x5C, 0x7C: true
        default: false
        }
    }
}

/// Finds names that differ only in case, in a tree that is walked folder by folder.
package struct AlikeNames {
    /// For each folder on the way: a hash of each name, with small letters.
    private var folders: [Set<UInt64>] = [[]]

    package init() {}

    /// Adds the next name of the current folder.
    /// - Returns: whether an earlier name there is the same but for the case of ASCII letters.
    package mutating func add(_ name: String) -> Bool {
        // FNV-1a. Two names with one hash are too rare to matter: the folder would be refused by disks without case only.
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in name.utf8 {
            hash = (hash ^ UInt64((0x41...0x5A).contains(byte) ? byte | 0x20 : byte)) &* 0x0100_0000_01B3
        }
        return !folders[folders.count - 1].insert(hash).inserted
    }

    package mutating func enter() { folders.append([]) }

    package mutating func leave() { if folders.count > 1 { folders.removeLast() } }
}
