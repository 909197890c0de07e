import Foundation

/// The output of `Tests/LocalSendStandIn`.
struct AppEvent: Decodable, Sendable {
    var event: String
    var alias: String?
    var how: String?
    var fingerprint: String?
    var status: Int?
    var message: String?
    var count: Int?
    var fine: Int?
    var name: String?
    var names: [String]?
    var digests: Int?
    var certificate: Bool?
    var reason: String?
    var text: String?
    var port: Int?
    var bytes: Int?
    var first: String?
    var seconds: Int?
}

/// A program that stands in for LocalSend's app, or for a hostile machine.
struct AppStandIn: Sendable {
    let running: RunningProgram
    let folder: String

    /// Waits for the `count`th event of that name that matches.
    @discardableResult
    func event(
        _ name: String, number count: Int = 1, where isMeant: @escaping @Sendable (AppEvent) -> Bool = { _ in true }
    ) async throws -> AppEvent {
        try await running.transcript.first("\(count) events \(name)") { text in
            let found = Self.events(text).filter { $0.event == name && isMeant($0) }
            return found.count >= count ? found[count - 1] : nil
        }
    }

    var events: [AppEvent] { get async { Self.events(await running.transcript.text) } }

    func events(_ name: String) async -> [AppEvent] { await events.filter { $0.event == name } }

    private static func events(_ text: String) -> [AppEvent] {
        text.split(separator: "\n").compactMap { try? JSONDecoder().decode(AppEvent.self, from: Data($0.utf8)) }
    }

    /// Gives an order, as the scripts say.
    func order(_ json: String) async throws { try await running.type(json + "\n") }

    /// Sends files, and waits for the answer to the question.
    /// - Parameter more: further keys.
    func send(_ files: [String], to address: String, _ more: String = "") async throws -> AppEvent {
        let before = await events("answer").count
        let list = files.map { "\"\($0)\"" }.joined(separator: ",")
        try await order(#"{"do":"send","to":"\#(address)","files":[\#(list)]\#(more)}"#)
        return try await event("answer", number: before + 1)
    }

    /// The file of that name that it has received.
    func received(_ name: String) -> String { folder + "/in/" + name }
}

extension Host {
    private static let scripts = Programs.root + "/Tests/LocalSendStandIn/"

    /// Runs a device with LocalSend's app beside `body`.
    /// - Parameters:
    ///   - version: `1.18` or `1.17`.
    ///   - rules: as the script says.
    @discardableResult
    func withApp<Result: Sendable>(
        _ version: String, at address: String, _ rules: String = "{}",
        _ body: @Sendable @escaping (AppStandIn) async throws -> Result
    ) async throws -> Result {
        try await withStandIn(["standin.py", version, home + "/app", address, rules], folder: home + "/app", body)
    }

    /// Runs a hostile machine beside `body`.
    func withHostile(
        at address: String, _ body: @Sendable @escaping (AppStandIn) async throws -> Void
    ) async throws {
        try await withStandIn(["hostile.py", home + "/hostile", address], folder: home + "/hostile", body)
    }

    private func withStandIn<Result: Sendable>(
        _ words: [String], folder: String, _ body: @Sendable @escaping (AppStandIn) async throws -> Result
    ) async throws -> Result {
        let arguments = ["python3", "-B", Self.scripts + words[0]] + words.dropFirst()
        return try await withProgram("/usr/bin/env", arguments) { running in
            let app = AppStandIn(running: running, folder: folder)
            try await app.event("listening")
            return try await body(app)
        }.result
    }
}
