import Foundation
import HandlerCatalog
import Sharing
import Synchronization
import TestSupport
import Testing

@testable import Handlers

/// Clear copies are not made; the state of the data is what a test says.
private final class FakeCopies: ClearCopying {
    private let state: Mutex<Bool?>

    init(_ isAvailable: Bool?) { state = Mutex(isAvailable) }

    var isProtectedDataAvailable: Bool? { state.withLock { $0 } }
    func canOpen(_ protection: ProtectionClass) -> Bool { true }
    func folder(of handler: String) -> String? { nil }
    func open(_ arrivals: [Arrival], for handler: String) throws(ClearCopyError) -> [Arrival] { arrivals }
    func close(_ copies: [Arrival]) -> Set<ArrivalNumber> { [] }
    func remove(_ arrival: Arrival) {}
}

@Suite("Handlers and the lock", .timeLimit(.minutes(1)))
struct LockNoticeTests {
    private func runner(_ place: HookFolder, _ isAvailable: Bool?) -> HandlerRunner {
        HandlerRunner(
            inbox: place.inbox, scratchFolder: place.scratch, copies: FakeCopies(isAvailable),
            grace: .milliseconds(500), launcher: probe, logger: quiet)
    }

    @Test("environment and document say whether protected data is available, only if data protection is set up")
    func state() async throws {
        setenv("WAFT_PROTECTED_DATA_AVAILABLE", "left over", 1)
        defer { unsetenv("WAFT_PROTECTED_DATA_AVAILABLE") }
        for (isAvailable, word) in [(true, "1"), (false, "0"), (nil, "none")] as [(Bool?, String)] {
            let place = HookFolder()
            let program = place.program(
                place.script("printf %s \"${WAFT_PROTECTED_DATA_AVAILABLE-none}\" > word; cat > stdin"))
            let outcome = try await runner(place, isAvailable).run(program, .open(.sample(), attempt: 1))
            #expect(outcome.answer == .yes)
            #expect(place.text("word") == word)
            #expect(try place.json("stdin")["protectedDataAvailable"] as? Bool == isAvailable)
        }
    }

    @Test("a handler that wants it is called for a lock and an unlock, without an item")
    func called() async throws {
        let place = HookFolder()
        var program = place.program(place.script("cat > $1; printf %s \"${WAFT_URL-none} $#\" > $1.url"))
        let calls = HandlerCalls(runner: runner(place, true))
        await calls.tell(.willBecomeUnavailable, to: [program])
        #expect(place.text("protected-data-will-become-unavailable") == nil)
        program.notices = [.willBecomeUnavailable]
        await calls.tell(.willBecomeUnavailable, to: [program])
        await calls.tell(.didBecomeAvailable, to: [program])
        let document = try #require(place.text("protected-data-will-become-unavailable"))
        let line = #"{"call":"protected-data-will-become-unavailable","protectedDataAvailable":true,"v":1}"#
        #expect(document == line + "\n")
        #expect(place.text("protected-data-will-become-unavailable.url") == "none 1")
        #expect(place.text("protected-data-did-become-available") == nil)
    }

    @Test("a resident handler that runs gets a line, during a question too")
    func resident() async throws {
        let place = HookFolder()
        place.makePipe("heard")
        place.makePipe("go")
        let script = """
            exec 9>heard
            while read -r line; do
                echo "$line" >&9
                case $line in
                *protected-data-*) ;;
                *open-url*) cat go; echo '{"answer":"yes"}' ;;
                esac
            done
            """
        var program = place.program(place.script(script), mode: .resident)
        program.notices = [.willBecomeUnavailable]
        let heard = place.listen(to: "heard")
        let calls = HandlerCalls(runner: runner(place, true))
        // One that does not run is not started.
        await calls.tell(.willBecomeUnavailable, to: [program])
        let call = DeliveryCall(
            candidate: HandlerChoice.Candidate(program: program),
            items: [DeliveryCall.Item(arrival: .sample(number: 1), attempt: 1)], isLaunch: true)
        async let answered = calls.call(call)
        _ = try await heard.first { $0?.contains("open-url") == true }
        await calls.tell(.willBecomeUnavailable, to: [program])
        place.release("go")
        guard case .answered(let outcome) = await answered else {
            Issue.record("it was not asked")
            return
        }
        #expect(outcome.answer == .yes, "\(outcome)")
        _ = try await heard.first { $0?.contains("protected-data-will-become-unavailable") == true }
        await calls.stop()
    }
}
