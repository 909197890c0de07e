import Executors
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
    private let opening: @Sendable () -> Void
    private let asking: @Sendable () -> Void

    /// - Parameters:
    ///   - opening: called while a copy is made.
    ///   - asking: called for each question about the lock; a program that starts asks one.
    init(
        _ isAvailable: Bool?, opening: @escaping @Sendable () -> Void = {}, asking: @escaping @Sendable () -> Void = {}
    ) {
        state = Mutex(isAvailable)
        (self.opening, self.asking) = (opening, asking)
    }

    var isProtectedDataAvailable: Bool? {
        asking()
        return state.withLock { $0 }
    }
    func canOpen(_ protection: ProtectionClass) -> Bool { true }
    func folder(of handler: String) -> String? { nil }
    func open(_ arrivals: [Arrival], for handler: String) throws(ClearCopyError) -> [Arrival] {
        opening()
        return arrivals
    }
    func close(_ copies: [Arrival]) -> Set<ArrivalNumber> { [] }
    func remove(_ arrival: Arrival) {}
}

@Suite("Handlers and the lock", .timeLimit(.minutes(1)))
struct LockNoticeTests {
    private func runner(_ place: HookFolder, _ isAvailable: Bool?) -> HandlerRunner {
        runner(place, FakeCopies(isAvailable))
    }

    private func runner(_ place: HookFolder, _ copies: FakeCopies) -> HandlerRunner {
        HandlerRunner(
            inbox: place.inbox, scratchFolder: place.scratch, copies: copies, grace: .milliseconds(500),
            launcher: probe, logger: quiet)
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

    @Test("a resident handler that starts gets a line about the lock that came meanwhile")
    func starting() async throws {
        let place = HookFolder()
        place.makePipe("heard")
        var program = place.program(place.script("exec cat >heard"), mode: .resident)
        program.notices = [.willBecomeUnavailable]
        program.keepsRunning = true
        let heard = place.listen(to: "heard")
        let (begun, told) = (Semaphore(), Semaphore())
        let isFirst = Mutex(true)
        let copies = FakeCopies(
            true,
            asking: {
                let isStart = isFirst.withLock { first in
                    defer { first = false }
                    return first
                }
                guard isStart else { return }
                begun.signal()
                told.wait()
            })
        let handler = ResidentHandler(program: program, runner: runner(place, copies))
        let kept = Task(executorPreference: blocking) { await handler.keep() }
        await Task(executorPreference: blocking) { begun.wait() }.value
        await handler.tell(.willBecomeUnavailable)
        told.signal()
        await kept.value
        _ = try await heard.first { $0?.contains("protected-data-will-become-unavailable") == true }
        await handler.stop()
    }

    @Test("settings that change while a clear copy is made are those of the call, and stay")
    func settingsMeanwhile() async throws {
        let place = HookFolder()
        place.makePipe("heard")
        let script = "exec 9>heard\nwhile read -r line; do echo \"$line\" >&9; echo '{\"answer\":\"yes\"}'; done"
        var program = place.program(place.script(script), mode: .resident)
        program.settings = ["size": .integer(1)]
        let heard = place.listen(to: "heard")
        let (begun, changed) = (Semaphore(), Semaphore())
        let calls = HandlerCalls(
            runner: runner(
                place,
                FakeCopies(true) {
                    begun.signal()
                    changed.wait()
                }))
        var arrival = Arrival.sample(number: 1)
        arrival.facts.destination = Destination(handler: nil, folder: nil, protection: .unlessOpen)
        let call = DeliveryCall(
            candidate: HandlerChoice.Candidate(program: program),
            items: [DeliveryCall.Item(arrival: arrival, attempt: 1)], isLaunch: true)
        let answered = Task(executorPreference: blocking) { await calls.call(call) }
        await Task(executorPreference: blocking) { begun.wait() }.value
        var newer = program
        newer.settings = ["size": .integer(2)]
        await calls.useSettings(of: [newer])
        changed.signal()
        guard case .answered(let outcome) = await answered.value else {
            Issue.record("it was not asked")
            return
        }
        #expect(outcome.answer == .yes, "\(outcome)")
        let line = try await heard.first { $0?.contains("open-url") == true }
        #expect(line?.contains(#""size":2"#) == true)
        await calls.stop()
    }
}

private let blocking = BlockingExecutor(threads: 2)
