import Glibc
import Lines
import Sharing
import SystemCalls

extension ShareItems.Item {
    private static let bufferBytes = 256 << 10
    /// Bytes of a text that is copied or mailed.
    private static let wordsBytes = 1 << 20

    /// The text, or the URL.
    /// - Throws: `CommandError` for contents that cannot be read.
    func words() throws(CommandError) -> String {
        let bytes = try data(limit: Self.wordsBytes)
        if offered.kind == .url, let url = InternetShortcut.url(in: bytes) { return url }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The contents of an item that is one file.
    /// - Parameter limit: bytes.
    /// - Throws: `CommandError`; `ineligible` for a longer item.
    func data(limit: Int) throws(CommandError) -> [UInt8] {
        var bytes: [UInt8] = []
        try read { piece throws(CommandError) in
            guard bytes.count + piece.count <= limit else {
                throw CommandError(
                    .ineligible,
                    "\(TerminalText.escaped(offered.name.text)) is longer than \(ByteCount.text(UInt64(limit)))")
            }
            bytes += piece
        }
        return bytes
    }

    /// Writes the contents to a new file, and syncs it. After an error the caller removes the file.
    /// - Parameters:
    ///   - name: of no file that is there.
    ///   - folder: an open folder.
    func write(to name: String, in folder: Int32) throws(CommandError) {
        func failure(_ error: SystemError) -> CommandError {
            CommandError(
                error.number == ENOSPC ? .noRoom : .unexpected,
                "\(TerminalText.escaped(offered.name.text)) cannot be written: \(error)")
        }
        let raw = openat(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode_t(0o666))
        guard raw >= 0 else { throw failure(.last) }
        defer { close(raw) }
        try read { piece throws(CommandError) in
            var written = 0
            while written < piece.count {
                let count = Glibc.write(raw, piece.baseAddress! + written, piece.count - written)
                if count < 0, errno == EINTR { continue }
                guard count >= 0 else { throw failure(.last) }
                written += count
            }
        }
        guard fsync(raw) == 0 else { throw failure(.last) }
    }

    /// Gives the bytes of the one file in pieces.
    private func read(_ take: (UnsafeRawBufferPointer) throws(CommandError) -> Void) throws(CommandError) {
        guard offered.kind != .tree else {
            throw CommandError(
                .ineligible, "\(TerminalText.escaped(offered.name.text)) is a folder, and this takes single files")
        }
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.bufferBytes, alignment: 1)
        defer { buffer.deallocate() }
        do {
            let reading = try source.open()
            while let step = try reading.next() {
                guard case .file = step else { continue }
                while true {
                    let count = try reading.read(into: buffer)
                    if count == 0 { break }
                    try take(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
                }
            }
        } catch let error as CommandError {
            throw error
        } catch let error as SourceError {
            throw CommandError(error)
        } catch {
            throw CommandError(.unexpected, TerminalText.escaped("\(error)"))
        }
    }
}
