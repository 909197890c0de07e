/// The names in an archive, by libarchive. Nothing is unpacked.
package struct ArchiveListing: Hashable, Sendable {
    package struct Member: Hashable, Sendable {
        package enum Kind: String, Hashable, Sendable {
            case file, folder, link, other
        }

        /// As the archive has it: it can be absolute or lead elsewhere. Bytes that are not UTF-8 are replaced.
        package let path: String
        package let kind: Kind
        /// Bytes of a file, by the archive's own word; nil if it does not say.
        package let size: UInt64?
    }

    package let members: [Member]
    /// Whether there are, or may be, more: the bounds were reached, or the archive is damaged from here on.
    package let isCut: Bool

    /// - Returns: nil if it is no archive that libarchive reads, or the library is not installed.
    package init?(_ source: PreviewSource) {
        guard let reader = ArchiveReader(source), let (members, isCut) = reader.members() else { return nil }
        (self.members, self.isCut) = (members, isCut)
    }
}
