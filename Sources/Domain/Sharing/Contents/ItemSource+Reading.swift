extension ItemSource {
    package func open(_ file: SafeRelativePath) throws(SourceError) -> any ItemReading { try walk(to: file) }

    /// Reads a folder up to one file, and passes by all files before it.
    package func walk(to file: SafeRelativePath) throws(SourceError) -> any ItemReading {
        let reading = try open()
        while let step = try reading.next() {
            guard case .file(let entry) = step else { continue }
            if entry.path == file { return BegunReading(entry, reading) }
            try reading.skip(entry)
        }
        throw SourceError(.changed, "\(PathText.joined(origin, file.text)) is no longer there")
    }

    /// The contents of an item that is one file; nil if they have more bytes than `limit`.
    package func contents(upTo limit: Int) throws(SourceError) -> [UInt8]? {
        let reading = try open()
        var contents: [UInt8] = []
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: limit + 1, alignment: 1)
        defer { buffer.deallocate() }
        while let step = try reading.next() {
            guard case .file = step else { continue }
            while case let count = try reading.read(into: buffer), count > 0 {
                guard contents.count + count <= limit else { return nil }
                contents += buffer[..<count]
            }
        }
        return contents
    }

    /// The URL in an item that is a link.
    /// - Throws: `SourceError`, also for contents without a URL.
    package func url() throws(SourceError) -> String {
        guard let contents = try contents(upTo: 2 * InternetShortcut.maximumBytes),
            let url = InternetShortcut.url(in: contents)
        else { throw SourceError(.unreadable, "\(origin) holds no URL") }
        return url
    }
}

extension ItemReading {
    /// Passes by the contents of the file that was begun. Only for sources that are repeatable.
    package func skip(_ entry: FileEntry) throws(SourceError) {
        try seek(to: entry.size ?? .max)
        try withUnsafeTemporaryAllocation(byteCount: 1, alignment: 1) { buffer throws(SourceError) in
            while try read(into: buffer) > 0 {}
        }
    }
}

/// One file of a longer reading, as an item of its own.
private final class BegunReading: ItemReading {
    private var entry: FileEntry?
    private let reading: any ItemReading

    init(_ entry: FileEntry, _ reading: any ItemReading) { (self.entry, self.reading) = (entry, reading) }

    func next() -> ContentStep? { entry.take().map { .file($0) } }

    func read(into buffer: UnsafeMutableRawBufferPointer) throws(SourceError) -> Int { try reading.read(into: buffer) }

    func seek(to offset: UInt64) throws(SourceError) { try reading.seek(to: offset) }
}
