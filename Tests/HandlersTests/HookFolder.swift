import Digests
import Foundation
import Handlers
import Logging
import Sharing
import TestSupport
import Testing

/// A folder with a hook script in it, and ways to hear from the script.
struct HookFolder {
    let folder = TemporaryFolder()

    /// Writes the script; `body` is in the language of `/bin/sh`.
    func script(_ body: String, name: String = "hook") -> String {
        folder.file(name, "#!/bin/sh\n" + body + "\n", mode: 0o755)
    }

    func hook(_ body: String, timeLimit: Duration = .seconds(3_600), grace: Duration = .seconds(3_600)) throws -> Hook {
        try Hook(path: script(body), timeLimit: timeLimit, grace: grace, logger: quiet)
    }

    /// What the script wrote into a file of its folder.
    func text(_ name: String) -> String? {
        FileManager.default.contents(atPath: folder / name).map { String(decoding: $0, as: UTF8.self) }
    }

    /// The parts of a file that end with NUL.
    func parts(_ name: String) -> [String] {
        (text(name) ?? "").split(separator: "\0", omittingEmptySubsequences: false).dropLast().map(String.init)
    }

    func makePipe(_ name: String) {
        #expect(mkfifo(folder / name, 0o600) == 0)
    }

    /// Reads a named pipe until nobody holds its other end any more, and records each line; the end is a nil.
    func listen(to name: String) -> Recorder<String?> {
        let lines = Recorder<String?>()
        let path = folder / name
        // A thread of its own: opening and reading block.
        Thread.detachNewThread {
            let descriptor = open(path, O_RDONLY | O_CLOEXEC)
            var line: [UInt8] = []
            var byte: UInt8 = 0
            while read(descriptor, &byte, 1) == 1 {
                if byte == UInt8(ascii: "\n") {
                    lines.record(String(decoding: line, as: UTF8.self))
                    line = []
                } else {
                    line.append(byte)
                }
            }
            close(descriptor)
            lines.record(nil)
        }
        return lines
    }

    /// Waits until nobody holds the named pipe any more: until every process that has inherited it is gone.
    func end(of name: String, _ lines: Recorder<String?>) async throws {
        // Where the script was ended before it opened the pipe, the listener would wait for a first writer for ever.
        let descriptor = open(folder / name, O_WRONLY | O_NONBLOCK | O_CLOEXEC)
        if descriptor >= 0 { close(descriptor) }
        try await lines.first { $0 == nil }
    }

    /// Lets a script go on that reads from the named pipe.
    func release(_ name: String) {
        let path = folder / name
        Thread.detachNewThread { close(open(path, O_WRONLY | O_CLOEXEC)) }
    }
}

let quiet = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

extension Arrival {
    static func sample(
        _ name: String = "report.pdf",
        kind: ItemKind = .file,
        annotation: [String: String] = [:],
        sender: String = "study"
    ) -> Arrival {
        Arrival(
            transfer: TransferID(),
            itemNumber: 2,
            itemsInOffer: 5,
            item: OfferedItem(kind: kind, name: safe("offered"), type: uniform("com.adobe.pdf"), size: 5),
            stored: StoredItem(name: safe(name), path: "/in/the/Inbox/" + name),
            size: 5,
            digest: .of(.xxh3_128, Array("hello".utf8)),
            peer: .sample(7),
            senderName: sender,
            annotation: annotation
        )
    }
}
