import Foundation
import Synchronization
import Testing

/// Hosts on a separate LAN, made by `Scripts/lab`.
///
/// Without root the tests of a lab do not run, and the runner reports each: `.enabled(if: Lab.isPossible, …)`
/// with ``Lab/excuse``. With root they run, and fail if the lab cannot be made.
struct Lab: Sendable {
    static let isPossible = geteuid() == 0
    static let excuse: Comment = "NOT RUN: hosts are network namespaces, and these need root"

    let name: String

    private static let count = Atomic<Int>(0)
    /// At most four at a time: each starts daemons, and its tests mostly wait for the network.
    private static let slots = Slots(4)

    /// Makes a lab while `body` runs, and always removes it.
    static func with(
        hosts: String,
        avahi: String,
        options: [String] = [],
        _ body: (Lab) async throws -> Void
    ) async throws {
        await slots.take()
        let number = count.add(1, ordering: .relaxed).newValue
        let lab = Lab(name: "t\(ProcessInfo.processInfo.processIdentifier)-\(number)")
        do {
            try await lab.script(["up", lab.name, "--hosts", hosts, "--avahi", avahi] + options)
            try await body(lab)
        } catch {
            await lab.end()
            throw error
        }
        await lab.end()
    }

    private func end() async {
        // In a separate task, because the lab of a cancelled test must be removed too.
        await Task { _ = try? await script(["down", name]) }.value
        await Self.slots.give()
    }

    /// Runs `Scripts/lab` and returns its output.
    @discardableResult
    func script(_ arguments: [String]) async throws -> String {
        try await Self.output(of: arguments)
    }

    /// Runs a command on a host and returns its output.
    @discardableResult
    func run(_ host: String, _ command: String...) async throws -> String {
        try await Self.output(of: ["run", name, host] + command)
    }

    static let scriptPath = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "Scripts/lab").path

    private static func output(of arguments: [String]) async throws -> String {
        let (status, text) = try await execute(arguments)
        try #require(status == 0, "lab \(arguments.joined(separator: " ")): \(text)")
        return text
    }

    /// Runs `Scripts/lab` and returns its exit code.
    static func status(of arguments: [String]) async throws -> Int32 {
        try await execute(arguments).status
    }

    private static func execute(_ arguments: [String]) async throws -> (status: Int32, output: String) {
        let child = try Child(scriptPath, arguments, mergesErrors: true)
        try child.input.close()
        var output = ""
        for await line in child.lines { output += line + "\n" }
        return (try await child.exitCode(), output)
    }
}

/// A counting semaphore for tasks.
private actor Slots {
    private var free: Int
    private var waiting: [CheckedContinuation<Void, Never>] = []

    init(_ count: Int) { free = count }

    func take() async {
        if free > 0 {
            free -= 1
        } else {
            await withCheckedContinuation { waiting.append($0) }
        }
    }

    func give() {
        if waiting.isEmpty {
            free += 1
        } else {
            waiting.removeFirst().resume()
        }
    }
}
