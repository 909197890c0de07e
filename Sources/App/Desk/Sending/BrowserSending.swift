import Foundation
import Glibc
import NIOCore
import Synchronization
import SystemCalls
import WebPages

/// Items of a browser on their way to a peer.
final class BrowserSending: Sendable {
    /// Items of one sending.
    static let items = 1_000

    private struct Course {
        var task: Task<DeskProgram.End, Never>?
        var isCancelled = false
        /// Numbers of the items whose bytes are asked for, until they come.
        var asked: Set<Int> = []
    }

    struct Wanted: Decodable, Sendable {
        struct Item: Codable, Sendable {
            var name: String
            var size: UInt64?
            /// `file`, or `tree` for a folder, whose bytes are a tar archive.
            var kind: String?
            /// Of a folder: its files and folders, itself included.
            var entries: UInt64?
        }

        /// The peer: its id, its name, or an address.
        var to: String?
        /// Whether the items wait in the outbox for a peer that is away.
        var queue: Bool?
        /// As `--wait` of `waft send`.
        var wait: String?
        /// The activity of the share sheet that gets the items, if no peer does.
        var activity: String?
        var items: [Item]
        var subject: String?
    }

    let name = WebSecret.make()
    private let course = Mutex(Course())
    private let wanted: Wanted
    private let program: DeskProgram
    private let folder: String

    /// - Throws: an error of the disk.
    init(_ wanted: Wanted, _ program: DeskProgram, below parent: String) throws {
        (self.wanted, self.program) = (wanted, program)
        folder = parent + "/" + name
        try systemCall { mkdir(folder, 0o700) }
        do {
            try systemCall { mkfifo(folder + "/wanted", 0o600) }
            for (number, item) in wanted.items.enumerated() {
                try systemCall { mkfifo(folder + "/data-\(number)", 0o600) }
                let placeholder = try JSONEncoder().encode(item)
                guard
                    FileManager.default.createFile(
                        atPath: folder + "/placeholder-\(number)", contents: placeholder,
                        attributes: [.posixPermissions: 0o600]),
                    FileManager.default.createFile(
                        atPath: source(number), contents: Data(script(number).utf8),
                        attributes: [.posixPermissions: 0o700])
                else { throw SystemError.last }
            }
        } catch {
            remove()
            throw error
        }
    }

    private func source(_ number: Int) -> String { folder + "/item-\(number)" }

    /// The folder's name has no characters that a shell knows: it is made of a setting's folder and of a secret.
    private func script(_ number: Int) -> String {
        """
        #!/bin/sh
        cd "${0%/*}" || exit 2
        case $1 in
        placeholder) exec cat placeholder-\(number) ;;
        item) echo \(number) >wanted; exec cat data-\(number) ;;
        esac
        exit 2

        """
    }

    /// Ends the program that sends, as Ctrl-C does.
    func cancel() {
        course.withLock { course in
            course.isCancelled = true
            course.task?.cancel()
        }
    }

    func remove() { try? FileManager.default.removeItem(atPath: folder) }

    /// Offers the items, and follows the sending to its end.
    /// - Parameters:
    ///   - take: gets the lines of `waft send --json`.
    ///   - isWanted: called when the bytes of an item are to come.
    func run(
        take: @escaping @Sendable ([UInt8]) async throws -> Void, isWanted: @escaping @Sendable (Int) async -> Void
    ) async -> DeskProgram.End {
        var words = ["send", "--json", "--to=\(wanted.to ?? "")"]
        words.append(wanted.queue == true ? "--queue" : "--partial")
        if let wait = wanted.wait { words.append("--wait=\(wait)") }
        if let activity = wanted.activity { words = ["share", "--json", "--activity=\(activity)"] }
        if let subject = wanted.subject { words.append("--subject=\(subject)") }
        words += sources
        // Open for writing too: the pipe has no end between two programs.
        let pipe = open(folder + "/wanted", O_RDWR | O_CLOEXEC | O_NONBLOCK)
        guard pipe >= 0 else { return DeskProgram.End(exit: 1, errors: "\(SystemError.last)") }
        let watch = Task {
            // By the only reader: its number may be another file's as soon as it is closed.
            defer { close(pipe) }
            var text = ""
            while !Task.isCancelled {
                var bytes = [UInt8](repeating: 0, count: 256)
                let count = read(pipe, &bytes, bytes.count)
                if count > 0 {
                    text += String(decoding: bytes[..<count], as: UTF8.self)
                    while let end = text.firstIndex(of: "\n") {
                        if let number = Int(text[..<end]) {
                            course.withLock { _ = $0.asked.insert(number) }
                            await isWanted(number)
                        }
                        text = String(text[text.index(after: end)...])
                    }
                } else {
                    try? await Task.sleep(for: .milliseconds(50))
                }
            }
        }
        defer { watch.cancel() }
        let call = words
        let task = Task { [program] in await program.run(call, take: take) }
        course.withLock { course in
            course.task = task
            if course.isCancelled { task.cancel() }
        }
        return await withTaskCancellationHandler {
            await task.value
        } onCancel: {
            task.cancel()
        }
    }

    /// `F_SETPIPE_SZ`, which the Glibc module does not export.
    private static let setPipeSize: Int32 = 1_031

    private var sources: [String] { wanted.items.indices.flatMap { ["--source", source($0)] } }

    /// Lists the activities that can take the items. Peers are none of them here.
    func listActivities(take: @escaping @Sendable ([UInt8]) async throws -> Void) async -> DeskProgram.End {
        await program.run(
            ["share", "--list", "--json", "--exclude-activity", "org.waft.activity.airdrop"] + sources, take: take)
    }

    /// Whether the bytes of an item are asked for, and have not come.
    func asks(for number: Int) -> Bool { course.withLock { $0.asked.contains(number) } }

    /// Opens the pipe into which the bytes of an item go; nil if nothing reads there yet: the program asks for the bytes
    /// a moment before it opens its end.
    func pipe(for number: Int) -> Int32? {
        let pipe = open(folder + "/data-\(number)", O_WRONLY | O_CLOEXEC | O_NONBLOCK)
        guard pipe >= 0 else { return nil }
        // Of two that bring the bytes of one item, the first has the pipe.
        guard course.withLock({ $0.asked.remove(number) }) != nil else {
            close(pipe)
            return nil
        }
        // Room for the bytes between two looks at the pipe. A smaller pipe is slower, and does too.
        _ = fcntl(pipe, Self.setPipeSize, Int32(1 << 20))
        return pipe
    }
}
