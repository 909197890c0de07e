import Glibc
package import Sharing
import SystemCalls
import UniformTypes

/// One regular file.
package final class FileSource: ItemSource {
    /// A link there is followed.
    package let path: String
    // The properties of the offered item that differ between files.
    private let name: SafeName
    private let type: UniformType
    private let size: UInt64

    package var offered: OfferedItem { OfferedItem(kind: .file, name: name, type: type, size: size) }
    package var origin: String { path }

    /// - Parameters:
    ///   - path: its path; a link there is followed.
    /// - Throws: `SourceError` if it cannot be read.
    init(path: String, name: SafeName, type: UniformType) throws(SourceError) {
        var file = try Self.open(path)
        if file.size > Limits.itemBytes {
            throw .at(path, .unreadable, "is larger than \(ByteCount.text(Limits.itemBytes)) and cannot be sent")
        }
        // Some kernel files have contents but a size of 0. The check finds them before the offer.
        if file.size == 0 { try Self.checkEmpty(&file) }
        (self.path, self.name, self.type, self.size) = (path, name, type, file.size)
    }

    package func open() throws(SourceError) -> any ItemReading {
        let file = try Self.open(path)
        guard file.size == size else { throw .changed(path, "its size changed") }
        return FileReading(file)
    }

    private static func open(_ path: String) throws(SourceError) -> OpenedFile {
        do {
            let raw = try systemCall { Glibc.open(path, OpenedFile.flags) }
            if let file = try OpenedFile.make(FileDescriptor(owning: raw), display: path) { return file }
        } catch {
            throw .disk(path, error)
        }
        throw .changed(path, "it is no longer a file")
    }

    private static func checkEmpty(_ file: inout OpenedFile) throws(SourceError) {
        _ = try withUnsafeTemporaryAllocation(byteCount: 1, alignment: 1) { buffer throws(SourceError) in
            try file.read(into: buffer)
        }
    }
}

final class FileReading: ItemReading {
    private var file: OpenedFile?
    private var hasBegun = false

    init(_ file: consuming OpenedFile) {
        self.file = consume file
    }

    func next() throws(SourceError) -> ContentStep? {
        if hasBegun {
            precondition(file == nil, "the file was not read to its end")
            return nil
        }
        hasBegun = true
        guard let entry = file?.entry else { return nil }
        return .file(entry)
    }

    func read(into buffer: UnsafeMutableRawBufferPointer) throws(SourceError) -> Int {
        let count = try file?.read(into: buffer) ?? 0
        if count == 0 { file = nil }
        return count
    }

    func seek(to offset: UInt64) throws(SourceError) {
        try file?.seek(to: offset)
    }
}

extension OpenedFile {
    /// The entry of a file that is an item of its own.
    fileprivate var entry: FileEntry {
        FileEntry(path: nil, executable: executable, modified: modified, size: size)
    }
}
