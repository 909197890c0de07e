import Foundation
import HandlerCatalog
import HookSandbox
import Sharing
import Synchronization
import TestSupport
import Testing

@testable import Handlers

/// Clear copies of the class complete, which their programs have moved away; the lock comes when a test says so.
private final class CompleteCopies: ClearCopying {
    private let tell = Mutex<(@Sendable () -> Void)?>(nil)
    private let wasLocked: Bool

    /// - Parameter wasLocked: whether the lock comes before the program can be told.
    init(wasLocked: Bool = false) { self.wasLocked = wasLocked }

    func lock() { tell.withLock { $0 }?() }

    var isProtectedDataAvailable: Bool? { true }
    func canOpen(_ protection: ProtectionClass) -> Bool { true }
    func folder(of handler: String) -> String? { nil }
    func open(_ arrivals: [Arrival], for handler: String) throws(ClearCopyError) -> [Arrival] { arrivals }
    func close(_ copies: [Arrival]) -> Set<ArrivalNumber> { Set(copies.map(\.number)) }
    func remove(_ arrival: Arrival) {}

    func whenLocked(_ copies: [Arrival], of handler: String, _ tell: @escaping @Sendable () -> Void) {
        self.tell.withLock { $0 = tell }
        if wasLocked { tell() }
    }
}

@Suite("A handler that has a clear copy when the lock comes", .timeLimit(.minutes(1)))
struct LockedCallTests {
    private let place = HookFolder()

    private func calls(_ copies: CompleteCopies) -> HandlerCalls {
        HandlerCalls(
            runner: HandlerRunner(
                inbox: place.inbox, scratchFolder: place.scratch, copies: copies, grace: .milliseconds(500),
                launcher: probe, logger: quiet))
    }

    private func call(_ script: String, mode: LaunchRules.Mode) -> DeliveryCall {
        var arrival = Arrival.sample(number: 1)
        arrival.facts.destination = Destination(handler: nil, folder: nil, protection: .complete)
        let program = place.program(place.script(script), mode: mode, sandbox: .strict)
        return DeliveryCall(
            candidate: HandlerChoice.Candidate(program: program),
            items: [DeliveryCall.Item(arrival: arrival, attempt: 1)], isLaunch: true)
    }

    @Test(
        "is asked to leave and then killed with its processes; its answer does not count, and it has taken nothing",
        arguments: [LaunchRules.Mode.perItem, .perTransfer, .resident],
        ["trap 'echo term > term; exit 0' TERM", "trap '' TERM; (exec sleep 86400) &"])
    func ended(mode: LaunchRules.Mode, trap: String) async throws {
        let copies = CompleteCopies()
        let calls = calls(copies)
        place.makePipe("up")
        let up = place.listen(to: "up")
        async let result = calls.call(
            call("\(trap)\nread -r line\necho up > up\nwhile :; do sleep 0.05; done", mode: mode))
        try await up.first { $0 == "up" }
        copies.lock()
        guard case .locked = await result else {
            Issue.record("the lock did not end it")
            return
        }
        #expect((place.text("term") == "term\n") == trap.contains("exit 0"))
        #expect(!calls.hasTaken(ArrivalNumber(1)))
        await calls.stop()
    }

    @Test("does not start if the lock came first")
    func early() async throws {
        let calls = calls(CompleteCopies(wasLocked: true))
        guard case .locked = await calls.call(call("echo > called", mode: .perItem)) else {
            Issue.record("it was called")
            return
        }
        #expect(place.text("called") == nil)
    }
}
