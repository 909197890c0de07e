package import Sharing
private import Synchronization
package import UniformTypes

/// An activity item in memory, for tests: files and trees, with faults on demand.
package final class MemorySource: ItemSource {
    /// An entry of a tree. A folder's entries follow it in the list, or are in `in`.
    package enum Node: Sendable {
        case file(String, [UInt8], executable: Bool = false, modified: Timestamp? = nil)
        case folder(String, [Node], modified: Timestamp? = nil)
        case link(String, to: String)
    }

    /// The place where reading fails.
    package struct Fault: Sendable {
        /// Bytes of contents that can be read before the fault; nil: the file cannot even be opened.
        var afterBytes: UInt64?
        var fault: SourceError

        /// The file cannot be opened.
        package static func atOpen(_ code: SourceError.Code) -> Fault {
            Fault(afterBytes: nil, fault: SourceError(code, "no such source"))
        }
        /// Reading fails after so many bytes, or at the end of a shorter file.
        package static func after(_ bytes: UInt64, _ code: SourceError.Code = .changed) -> Fault {
            Fault(afterBytes: bytes, fault: SourceError(code, "the source failed"))
        }
    }

    package let offered: OfferedItem
    package var origin: String { "memory:" + offered.name.text }
    /// False for contents from a pipe.
    package var isRepeatable: Bool { offered.size != nil }
    private let readSize: Int

    private let steps: [Step]
    private let fault: Fault?
    private let opened = Counter()

    fileprivate enum Step: Sendable {
        case step(ContentStep)
        case file(FileEntry, [UInt8])
    }

    /// One file.
    /// - Parameters:
    ///   - sizeIsKnown: false for contents from a pipe: neither offer nor entry names a size.
    ///   - claimed: a wrong size for the offer.
    ///   - readSize: maximum bytes of one read: small ones make many frames.
    package static func file(
        _ name: String,
        _ bytes: [UInt8],
        kind: ItemKind = .file,
        type: String = "public.data",
        sizeIsKnown: Bool = true,
        claimed: UInt64? = nil,
        executable: Bool = false,
        modified: Timestamp? = nil,
        fault: Fault? = nil,
        readSize: Int = 256 << 10
    ) -> MemorySource {
        let size = sizeIsKnown ? claimed ?? UInt64(bytes.count) : nil
        let entry = FileEntry(path: nil, executable: executable, modified: modified, size: size)
        return MemorySource(
            offered: OfferedItem(kind: kind, name: safe(name), type: uniform(type), size: size),
            steps: [.file(entry, bytes)],
            fault: fault,
            readSize: readSize
        )
    }

    package static func text(_ text: String, name: String = "text.txt") -> MemorySource {
        file(name, Array(text.utf8), kind: .text, type: "public.utf8-plain-text")
    }

    /// A tree with everything in it, in order.
    package static func tree(
        _ name: String,
        _ nodes: [Node],
        modified: Timestamp? = nil,
        fault: Fault? = nil
    ) -> MemorySource {
        var steps: [Step] = []
        add(nodes, below: nil, to: &steps)
        let entries = UInt64(
            steps.count { if case .step(.folderClosed) = $0 { false } else { true } } + 1)
        steps.append(.step(.folderClosed(nil, modified: modified)))
        let size = steps.reduce(0 as UInt64) { sum, step in
            if case .file(_, let bytes) = step { sum + UInt64(bytes.count) } else { sum }
        }
        return MemorySource(
            offered: OfferedItem(
                kind: .tree, name: safe(name), type: uniform("public.folder"), size: size, entries: entries),
            steps: steps,
            fault: fault
        )
    }

    private init(offered: OfferedItem, steps: [Step], fault: Fault?, readSize: Int = 256 << 10) {
        self.readSize = readSize
        self.offered = offered
        self.steps = steps
        self.fault = fault
    }

    /// The number of times it was opened.
    package var openedCount: Int { opened.count.withLock { $0 } }

    package func open() throws(SourceError) -> any ItemReading {
        opened.count.withLock { $0 += 1 }
        if let fault, fault.afterBytes == nil { throw fault.fault }
        return MemoryReading(steps, readSize: readSize, fault: fault)
    }

    private static func add(_ nodes: [Node], below folder: SafeRelativePath?, to steps: inout [Step]) {
        for node in nodes {
            switch node {
            case .file(let name, let bytes, let executable, let modified):
                let entry = FileEntry(
                    path: path(name, folder), executable: executable, modified: modified, size: UInt64(bytes.count))
                steps.append(.file(entry, bytes))
            case .folder(let name, let inside, let modified):
                let own = path(name, folder)
                steps.append(.step(.folder(own)))
                add(inside, below: own, to: &steps)
                steps.append(.step(.folderClosed(own, modified: modified)))
            case .link(let name, let target):
                let own = path(name, folder)
                guard let target = try? SafeLinkTarget(target, of: own) else {
                    preconditionFailure("\(target) is no safe target; hostile ones are written as frames, by hand")
                }
                steps.append(.step(.link(own, target: target)))
            }
        }
    }

    private static func path(_ name: String, _ folder: SafeRelativePath?) -> SafeRelativePath {
        guard let path = try? folder?.appending(safe(name)) ?? SafeRelativePath(safe(name)) else {
            preconditionFailure("\(name) is too deep; hostile paths are written as frames, by hand")
        }
        return path
    }
}

/// Counts events.
private final class Counter: Sendable {
    let count = Mutex(0)
}

private final class MemoryReading: ItemReading {
    private var steps: ArraySlice<MemorySource.Step>
    private var current: ArraySlice<UInt8>?
    /// The whole of the current file.
    private var file: [UInt8] = []
    private var readBytes: UInt64 = 0
    private let readSize: Int
    private var fault: MemorySource.Fault?
    private var hasFailed = false

    init(_ steps: [MemorySource.Step], readSize: Int, fault: MemorySource.Fault?) {
        self.steps = steps[...]
        self.readSize = readSize
        self.fault = fault
    }

    func next() throws(SourceError) -> ContentStep? {
        precondition(!hasFailed, "a reader was used after a fault")
        precondition(current == nil, "the file has not been read to its end: read until it returns 0")
        switch steps.popFirst() {
        case .step(let step)?:
            return step
        case .file(let entry, let bytes)?:
            current = bytes[...]
            file = bytes
            return .file(entry)
        case nil:
            // A fault beyond the last byte shows at the end.
            if let fault { throw fail(fault) }
            return nil
        }
    }

    func read(into buffer: UnsafeMutableRawBufferPointer) throws(SourceError) -> Int {
        precondition(!hasFailed, "a reader was used after a fault")
        precondition(!buffer.isEmpty, "a read into nothing cannot be told from the end of the file")
        guard let bytes = current else { preconditionFailure("no file has been begun: call next first") }
        var most = min(buffer.count, readSize)
        if let fault, let limit = fault.afterBytes {
            if readBytes >= limit { throw fail(fault) }
            most = Int(min(UInt64(most), limit - readBytes))
        }
        let piece = bytes.prefix(most)
        if piece.isEmpty {
            current = nil
            return 0
        }
        buffer.copyBytes(from: piece)
        readBytes += UInt64(piece.count)
        current = bytes.dropFirst(piece.count)
        return piece.count
    }

    func seek(to offset: UInt64) {
        precondition(current != nil, "only in a file that was begun and whose end was not read")
        current = file[min(file.count, Int(offset))...]
    }

    private func fail(_ fault: MemorySource.Fault) -> SourceError {
        hasFailed = true
        return fault.fault
    }
}

/// A name known to be safe.
package func safe(_ name: String) -> SafeName {
    guard let safe = try? SafeName(name) else {
        preconditionFailure("\(name) is no safe name; hostile names are tested through the wire, by hand")
    }
    return safe
}

/// A type identifier known to be well formed.
package func uniform(_ identifier: String) -> UniformType {
    guard let type = UniformType(identifier) else { preconditionFailure("\(identifier) is no type identifier") }
    return type
}
