import Foundation
import Glibc
import Lines
package import Sharing
import Synchronization
import SystemCalls

/// The items that are shared.
package struct ShareItems: Sendable {
    package struct Item: Sendable {
        let source: any ItemSource
        /// The absolute path of a file or folder that is there already; nil for all else.
        package let path: String?

        package var offered: OfferedItem { source.offered }

        /// Whether it is a text or a URL.
        var isWords: Bool { [.text, .url].contains(offered.kind) }
    }

    package let items: [Item]
    /// The subject that the user gave.
    package let subject: String?

    /// - Parameters:
    ///   - paths: of the first sources, if they are files and folders; `-` is standard input.
    ///   - subject: one line, which the user gave.
    package init(_ sources: [any ItemSource], paths: [String], subject: String?) {
        items = sources.enumerated().map { index, source in
            let path = paths.indices.contains(index) && paths[index] != "-" ? paths[index] : nil
            return Item(source: source, path: path.map { URL(fileURLWithPath: $0).standardizedFileURL.path })
        }
        self.subject = subject
    }

    /// The subject that the only program among them gives.
    var givenSubject: String? { SendSources.subject(of: sources) }

    package var sources: [any ItemSource] { items.map(\.source) }

    /// The name of the only item, or the number of items; not escaped.
    package var title: String { items.count == 1 ? items[0].offered.name.text : "\(items.count) items" }

    /// Items as files; those that are none yet are made in the spool.
    /// - Returns: absolute paths.
    static func files(_ items: [Item], in spool: ShareSpool) throws(WaftError) -> [String] {
        try items.map { item throws(WaftError) in
            if let path = item.path { return path }
            return try spool.add(item)
        }
    }
}

extension ShareItems.Item {
    private static let bufferBytes = 256 << 10
    /// Bytes of a text that is copied or mailed.
    private static let wordsBytes = 1 << 20

    private var shownName: String { ShownText.line(offered.name.text, limit: 200) }

    /// The text, or the URL.
    /// - Throws: `WaftError` for contents that cannot be read.
    func words() throws(WaftError) -> String {
        let bytes = try data(limit: Self.wordsBytes)
        if offered.kind == .url, let url = InternetShortcut.url(in: bytes) { return url }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The contents of an item that is one file.
    /// - Parameter limit: bytes.
    /// - Throws: `WaftError`; `ineligible` for a longer item.
    func data(limit: Int) throws(WaftError) -> [UInt8] {
        var bytes: [UInt8] = []
        try read { piece throws(WaftError) in
            guard bytes.count + piece.count <= limit else {
                throw WaftError(.ineligible, "\(shownName) is longer than \(ByteCount.text(UInt64(limit)))")
            }
            bytes += piece
        }
        return bytes
    }

    /// Writes the contents to a new file, and syncs it. After an error the caller removes the file.
    /// - Parameters:
    ///   - name: of no file that is there.
    ///   - folder: an open folder.
    func write(to name: String, in folder: Int32) throws(WaftError) {
        func failure(_ error: SystemError) -> WaftError {
            WaftError(
                error.number == ENOSPC ? .noRoom : .unexpected, "\(shownName) cannot be written: \(error)")
        }
        let raw = openat(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode_t(0o666))
        guard raw >= 0 else { throw failure(.last) }
        defer { close(raw) }
        try read { piece throws(WaftError) in
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
    private func read(_ take: (UnsafeRawBufferPointer) throws(WaftError) -> Void) throws(WaftError) {
        guard offered.kind != .tree else {
            throw WaftError(.ineligible, "\(shownName) is a folder, and this takes single files")
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
        } catch let error as WaftError {
            throw error
        } catch let error as SourceError {
            throw WaftError(error)
        } catch {
            throw WaftError(.unexpected, ShownText.line("\(error)", limit: 200))
        }
    }
}

/// A folder for the files that are made for an activity. It is made when the first one is, and removed with this object.
final class ShareSpool: Sendable {
    private struct State {
        var folder: String?
        var count = 0
        var isKept = false
    }

    private let parent: String
    private let state = Mutex(State())

    /// - Parameter parent: absolute path of a folder of its own; made if it is missing.
    init(in parent: String) {
        self.parent = parent
    }

    deinit {
        state.withLock { state in
            guard let folder = state.folder, !state.isKept else { return }
            try? FileManager.default.removeItem(atPath: folder)
        }
    }

    /// Absolute path; nil as long as no file was made.
    var folder: String? { state.withLock { $0.folder } }

    /// Leaves the files: another program reads them later. They go a day after this, at the next call of `add`.
    func keep() {
        state.withLock { $0.isKept = true }
    }

    /// Makes the file of an item, private to this user.
    /// - Returns: its absolute path.
    /// - Throws: `WaftError`; then no file is left.
    func add(_ item: ShareItems.Item) throws(WaftError) -> String {
        let folder = try makeFolder()
        let number = state.withLock { state in
            state.count += 1
            return state.count
        }
        // Each in a folder of its own: two items may have one name.
        let path = "\(folder)/\(number)"
        guard mkdir(path, 0o700) == 0 else { throw failure(path) }
        let raw = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard raw >= 0 else { throw failure(path) }
        defer { close(raw) }
        try item.write(to: item.offered.name.text, in: raw)
        return "\(path)/\(item.offered.name.text)"
    }

    private func makeFolder() throws(WaftError) -> String {
        if let folder = state.withLock({ $0.folder }) { return folder }
        do throws(SystemError) {
            try FolderMaking.make(parent)
        } catch {
            throw WaftError(.unexpected, "\(parent): \(error)")
        }
        OldFiles.sweep(parent, "share.") { try? FileManager.default.removeItem(atPath: parent + "/" + $0) }
        var template = Array((parent + "/share.XXXXXX").utf8CString)
        guard mkdtemp(&template) != nil else { throw failure(parent) }
        let folder = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        state.withLock { $0.folder = folder }
        return folder
    }

    private func failure(_ path: String) -> WaftError { WaftError(.unexpected, "\(path): \(SystemError.last)") }
}

/// Files and folders that an earlier process has left.
enum OldFiles {
    /// Seconds after which a file is surely of a process that ended.
    private static let oldSeconds: TimeInterval = 86_400

    /// - Parameters:
    ///   - prefix: of the names.
    ///   - remove: removes the one of this name.
    static func sweep(_ folder: String, _ prefix: String, remove: (String) -> Void) {
        let files = FileManager.default
        for name in (try? files.contentsOfDirectory(atPath: folder)) ?? [] where name.hasPrefix(prefix) {
            let written =
                (try? files.attributesOfItem(atPath: PathText.joined(folder, name)))?[.modificationDate] as? Date
            if let written, written.timeIntervalSinceNow < -oldSeconds { remove(name) }
        }
    }
}
