import DBusClient
import FakeLogind
import Logging
import TestSupport
import Testing

@testable import Desktop

@Suite("Keeping the machine awake", .serialized, .timeLimit(.minutes(1)))
struct SleepInhibitorTests {
    private func inhibitor(_ address: String, _ log: Recorder<String> = Recorder()) throws -> SleepInhibitor {
        let bus = try #require(BusAddress(address))
        return SleepInhibitor(
            bus: bus, lingering: .milliseconds(1), logger: Logger(label: "test") { _ in Listening(log) })
    }

    @Test("idle and sleep are blocked while something runs, and not after it")
    func held() async throws {
        let logind = try await FakeLogind()
        defer { logind.end() }
        let inhibitor = try inhibitor(logind.address)
        inhibitor.begin()
        try await logind.heard.element(3)
        #expect(logind.heard.all.dropFirst() == [Self.request("idle"), Self.request("sleep")])
        while !inhibitor.isHeld { await Task.yield() }
        // A second thing needs no further locks.
        inhibitor.begin()
        inhibitor.end()
        #expect(!logind.heard.all.contains(.released))
        inhibitor.end()
        #expect(try await logind.heard.element(5) == .released)
        #expect(!inhibitor.isHeld && inhibitor.refusal == nil)
        // And once more.
        inhibitor.begin()
        try await logind.heard.element(7)
        inhibitor.end()
        #expect(try await logind.heard.element(9) == .released)
    }

    @Test("an inhibitor that is over before logind has answered leaves no lock")
    func short() async throws {
        let logind = try await FakeLogind()
        defer { logind.end() }
        let inhibitor = try inhibitor(logind.address)
        inhibitor.begin()
        inhibitor.end()
        try await logind.heard.first { $0 == .released }
        #expect(!inhibitor.isHeld)
    }

    @Test("a hold is taken once, and given back when it is released")
    func hold() async throws {
        let logind = try await FakeLogind()
        defer { logind.end() }
        let inhibitor = try inhibitor(logind.address)
        var hold: WakeHold? = WakeHold(inhibitor)
        hold?.take()
        hold?.take()
        try await logind.heard.element(3)
        #expect(!logind.heard.all.contains(.released))
        hold = nil
        try await logind.heard.first { $0 == .released }
    }

    @Test("without a bus, or where logind refuses, nothing happens but a line in the log")
    func nothingThere() async throws {
        let folder = TemporaryFolder()
        let log = Recorder<String>()
        try inhibitor("unix:path=" + folder / "none", log).begin()
        try await log.first { $0.contains("not kept awake") }
        let logind = try await FakeLogind(refuses: ["idle", "sleep"])
        defer { logind.end() }
        let refused = try inhibitor(logind.address, log)
        refused.begin()
        try await log.element(2)
        #expect(!refused.isHeld && refused.refusal?.what == ["idle", "sleep"])
        // It is not asked about each transfer.
        refused.begin()
        #expect(logind.heard.all.count { $0 == Self.request("idle") } == 1)
    }

    @Test("one lock that logind refuses does not lose the other, and is said once")
    func half() async throws {
        for (refused, granted) in [("sleep", "idle"), ("idle", "sleep")] {
            let logind = try await FakeLogind(refuses: [refused])
            defer { logind.end() }
            let log = Recorder<String>()
            let inhibitor = try inhibitor(logind.address, log)
            for round in 1...2 {
                inhibitor.begin()
                // The refusal is the last line of a request.
                try await log.first { $0 == "debug the machine is kept awake" }
                try await log.element(round * 3 - 1)
                #expect(inhibitor.isHeld && inhibitor.refusal?.what == [refused])
                inhibitor.end()
                try await log.element(round * 3)
                #expect(logind.heard.all.contains(Self.request(granted)))
            }
            #expect(
                log.all.filter { $0.hasPrefix("notice") } == ["notice the machine may sleep during transfers"],
                "\(log.all)")
            #expect(inhibitor.refusal?.words.contains("AccessDenied") == true)
            #expect(await WakeRefusal.probe(try #require(BusAddress(logind.address)))?.what == [refused])
        }
    }

    private static func request(_ what: String) -> FakeLogind.Heard {
        .inhibit([what, "Waft", "Something is being sent or received", "block"])
    }
}

/// A log that a test listens to.
private struct Listening: LogHandler {
    let lines: Recorder<String>
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.debug

    init(_ lines: Recorder<String>) {
        self.lines = lines
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        lines.record("\(event.level) \(event.message)")
    }
}
