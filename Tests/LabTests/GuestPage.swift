import Foundation
import Subprocess
import Testing

/// A line of `waft web --json`.
struct PageEvent: Decodable, Sendable {
    var event: String
    var url: String?
    var address: String?
    var pin: String?
    var fingerprint: String?
    var plain: Bool?
    var receives: Bool?
    var seconds: Int?
    var browser: String?
    var name: String?
    var whole: Bool?
    var end: String?
    var offer: Int?
    var stored: String?
    var path: String?
}

/// A page for guests, which `waft web` serves.
struct GuestPage: Sendable {
    let running: RunningProgram
    /// The host that serves it.
    let host: Host
    let facts: PageEvent

    /// With the secret, or without it if a PIN is asked for.
    var url: String { facts.url ?? address }
    /// Without the secret.
    var address: String { facts.address ?? "" }

    /// The secret.
    var secret: String { url.split(separator: "/").last.map(String.init) ?? "" }

    /// Waits for the `count`th event of that name that matches.
    @discardableResult
    func event(
        _ name: String, number count: Int = 1, where isMeant: @escaping @Sendable (PageEvent) -> Bool = { _ in true }
    ) async throws -> PageEvent {
        try await running.transcript.first("\(count) events \(name)") { text in
            let found = Self.events(text).filter { $0.event == name && isMeant($0) }
            return found.count >= count ? found[count - 1] : nil
        }
    }

    func count(_ name: String) async -> Int {
        Self.events(await running.transcript.text).count { $0.event == name }
    }

    /// Waits for the `count`th offer, and accepts it, or declines it.
    func answer(_ verb: String = "accept", number count: Int = 1) async throws {
        let offer = try #require(try await event("offer", number: count).offer)
        let outcome = try await host.run(arguments: [verb, "\(offer)"])
        #expect(outcome.exit == 0, "\(outcome.errors)")
    }

    func interrupt() { kill(running.process.value, SIGINT) }

    // MARK: The Inbox of the host

    func path(_ name: String) -> String { host.home + "/Documents/Inbox/" + name }

    func contents(_ name: String) -> Data? { FileManager.default.contents(atPath: path(name)) }

    /// Names in the Inbox except its mark, sorted.
    func names() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: path("")).filter { $0 != ".waft-inbox" }.sorted()
    }

    private static func events(_ text: String) -> [PageEvent] {
        text.split(separator: "\n").compactMap { try? JSONDecoder().decode(PageEvent.self, from: Data($0.utf8)) }
    }
}

extension Host {
    /// Runs `waft web` beside `body`, and ends it with Ctrl-C if it still runs.
    /// - Returns: its exit code.
    @discardableResult
    func withPage(
        _ words: [String], in folder: String, _ body: @Sendable (GuestPage) async throws -> Void
    ) async throws -> Int {
        try await withProgram(Programs.waft, ["web", "--json"] + words, in: folder) { running in
            let facts = try await running.transcript.first("the event page") { text in
                text.split(separator: "\n").lazy
                    .compactMap { try? JSONDecoder().decode(PageEvent.self, from: Data($0.utf8)) }
                    .first { $0.event == "page" }
            }
            let page = GuestPage(running: running, host: self, facts: facts)
            try await body(page)
            // A signal after the last line would meet the program in its own end.
            if await page.count("pageClosed") == 0 { page.interrupt() }
        }.exit
    }
}
