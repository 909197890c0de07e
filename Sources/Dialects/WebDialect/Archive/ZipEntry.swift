import Glibc
import Sharing

/// One entry of a ZIP, before its contents are read.
///
/// The contents of a file are DEFLATE's stored blocks: they are as long as the file, and five bytes for each 65,535, so that
/// the length is known in advance; and programs that read a ZIP from its beginning find its end without a checksum, which
/// follows the contents here.
struct ZipEntry: Equatable, Sendable {
    enum Kind: Equatable, Sendable {
        case file(executable: Bool)
        case folder
        case link(target: String)
    }

    var kind: Kind
    /// With slashes; that of a folder ends with one.
    var name: String
    /// Bytes of the contents.
    var size: UInt64
    /// Of the last change.
    var modified: Timestamp

    static let blockBytes: UInt64 = 65_535
    private static let blockHeaderBytes: UInt64 = 5

    var isFile: Bool { if case .file = kind { true } else { false } }

    /// Bytes that the contents take in the ZIP.
    var packedSize: UInt64 {
        guard isFile else { return size }
        let blocks = max(1, (size + Self.blockBytes - 1) / Self.blockBytes)
        return size + blocks * Self.blockHeaderBytes
    }

    /// Whether its sizes need 64 bits.
    var isLarge: Bool { packedSize >= ZipFormat.most32 }

    /// Bytes of the field for the time.
    var timeBytes: Int { ZipFormat.isShort(modified) ? ZipFormat.shortTimeBytes : ZipFormat.longTimeBytes }

    /// The mode as Unix knows it.
    var mode: UInt32 {
        switch kind {
        case .file(let executable): S_IFREG | (executable ? 0o755 : 0o644)
        case .folder: S_IFDIR | 0o755
        case .link: S_IFLNK | 0o777
        }
    }

    /// Bytes that a plan holds for it, rounded up.
    var memory: Int { 2 * MemoryLayout<ZipEntry>.stride + name.utf8.count }

    /// Bytes before, after and of its contents.
    var length: UInt64 {
        UInt64(ZipFormat.localBytes + name.utf8.count + timeBytes)
            + (isLarge ? UInt64(ZipFormat.sizesBytes) : 0) + packedSize + (isFile ? (isLarge ? 24 : 16) : 0)
    }

    /// Bytes of its line in the directory at the end.
    /// - Parameter offset: where the entry begins.
    func directoryLength(at offset: UInt64) -> UInt64 {
        let isFar = offset >= ZipFormat.most32
        return UInt64(ZipFormat.directoryBytes + name.utf8.count + timeBytes)
            + (isLarge || isFar ? 4 : 0) + (isLarge ? 16 : 0) + (isFar ? 8 : 0)
    }
}
