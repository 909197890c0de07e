import Foundation
import HandlerCatalog
import HookSandbox
import Sharing
import Synchronization
import TestSupport
import Testing

@testable import Handlers

/// Every clear copy is too large; the streams come from the test.
private final class Streams: ClearCopying {
    typealias Contents = @Sendable (ClearStream.Sink) throws(ClearCopyError) -> Void

    private let contents: Contents
    /// Those that are open.
    let open = Mutex<[ClearStream]>([])

    init(_ contents: @escaping Contents) { self.contents = contents }

    var isProtectedDataAvailable: Bool? { true }
    func canOpen(_ protection: ProtectionClass) -> Bool { true }
    func folder(of handler: String) -> String? { nil }
    func close(_ copies: [Arrival]) -> Set<ArrivalNumber> { [] }
    func remove(_ arrival: Arrival) {}

    func open(_ arrivals: [Arrival], for handler: String) throws(ClearCopyError) -> [Arrival] {
        throw .tooLarge("too large")
    }

    func stream(_ arrival: Arrival, for handler: String) throws(ClearCopyError) -> ClearStream {
        let stream = ClearStream(arrival, contents: contents)
        open.withLock { $0.append(stream) }
        return stream
    }

    func close(_ stream: ClearStream, of handler: String) { open.withLock { $0.removeAll { $0 === stream } } }
}

@Suite("A handler that takes streams", .timeLimit(.minutes(1)))
struct StreamTests {
    private let place = HookFolder()

    /// Calls a script for a sealed item.
    private func call(
        _ body: String, _ streams: Streams, kind: ItemKind = .file, sandbox: SandboxPlan.Level = .none,
        timeLimit: Duration = .seconds(3_600), change: (inout HandlerProgram) -> Void = { _ in }
    ) async -> CallResult {
        let runner = HandlerRunner(
            inbox: place.inbox, scratchFolder: place.scratch, copies: streams, grace: .milliseconds(500),
            launcher: probe, logger: quiet)
        var program = place.program(place.script(body), timeLimit: timeLimit, sandbox: sandbox)
        program.takesStreams = true
        change(&program)
        var arrival = Arrival.sample(kind: kind)
        arrival.facts.destination = Destination(handler: nil, folder: nil, protection: .unlessOpen)
        let call = DeliveryCall(
            candidate: HandlerChoice.Candidate(program: program),
            items: [DeliveryCall.Item(arrival: arrival, attempt: 1)], isLaunch: true)
        let result = await HandlerCalls(runner: runner).call(call)
        #expect(streams.open.withLock { $0.isEmpty }, "each stream is closed")
        return result
    }

    private func outcome(_ result: CallResult) throws -> AttemptOutcome {
        guard case .answered(let outcome) = result else {
            Issue.record("\(result)")
            throw CancellationError()
        }
        return outcome
    }

    private static let contents = Data((0..<700_001).map { UInt8(truncatingIfNeeded: $0 >> 3 ^ $0) })

    /// Passes some bytes on in pieces.
    private static func pass(_ bytes: Data, _ sink: ClearStream.Sink) {
        for start in stride(from: 0, to: bytes.count, by: 262_144) {
            let piece = Data(bytes[start..<min(bytes.count, start + 262_144)])
            guard piece.withUnsafeBytes(sink) else { return }
        }
    }

    /// Passes zeros on until they are not wanted any more.
    private static func passForEver(_ sink: ClearStream.Sink) {
        let zeros = Data(count: 65_536)
        while zeros.withUnsafeBytes(sink) {}
    }

    @Test(
        "reads all contents from WAFT_FILE or descriptor 3, with the document on its input and no other descriptor",
        arguments: [SandboxPlan.Level.none, .strict], ["cat \"$WAFT_FILE\"", "cat <&3", "cat /dev/fd/3"])
    func whole(sandbox: SandboxPlan.Level, reading: String) async throws {
        let body = """
            cat > stdin
            ls /proc/self/fd > descriptors
            printf %s "$WAFT_FILE $2 $([ -p "$WAFT_FILE" ] && echo pipe)" > facts
            \(reading) > got
            """
        let streams = Streams { sink throws(ClearCopyError) in Self.pass(Self.contents, sink) }
        let outcome = try outcome(await call(body, streams, sandbox: sandbox))
        #expect(outcome == AttemptOutcome(.yes, exitCode: 0))
        #expect(FileManager.default.contents(atPath: place.folder / "got") == Self.contents)
        #expect(place.text("facts") == "/proc/self/fd/3 file:///proc/self/fd/3 pipe")
        // 4 is the folder that ls itself reads.
        #expect(place.text("descriptors") == "0\n1\n2\n3\n4\n")
        let document = try place.json("stdin")
        #expect(document["file"] as? String == "/proc/self/fd/3" && document["stream"] as? Bool == true)
        #expect(document["name"] as? String == "report.pdf" && document["size"] as? Int == 5)
    }

    @Test("that is empty reaches its end at once")
    func empty() async throws {
        let result = await call("cat <&3 > got", Streams { _ throws(ClearCopyError) in })
        #expect(try outcome(result).answer == .yes)
        #expect(place.text("got") == "")
    }

    @Test(
        "whose contents cannot all be read is killed before it sees an end, and the reason is kept",
        arguments: [SandboxPlan.Level.none, .strict])
    func cut(sandbox: SandboxPlan.Level) async throws {
        for (error, answer) in [
            (ClearCopyError.failed("it was changed"), AttemptOutcome.Answer.failed), (.later("the disk"), .later),
        ] {
            let streams = Streams { sink throws(ClearCopyError) in
                Self.pass(Self.contents, sink)
                throw error
            }
            let body = "trap 'echo trapped > end' TERM; cat \"$WAFT_FILE\" > got; echo end > end"
            let outcome = try outcome(await call(body, streams, sandbox: sandbox))
            #expect(outcome.answer == answer && outcome.exitCode == nil, "\(outcome)")
            #expect([.failed(outcome.reason), .later(outcome.reason)].contains(error))
            #expect(place.text("end") == nil)
        }
    }

    @Test("that leaves early answers as it likes, and nothing more is read for it")
    func early() async throws {
        for (body, answer) in [
            ("head -c 100000 <&3 > got", AttemptOutcome.Answer.yes), ("exec 3<&-; exit 1", .no), ("exit 75", .later),
        ] {
            let streams = Streams { sink throws(ClearCopyError) in Self.passForEver(sink) }
            #expect(try outcome(await call(body, streams)).answer == answer)
        }
        #expect(place.text("got")?.utf8.count == 100_000)
    }

    @Test("that never reads is ended by its time limit, and then asked later")
    func unread() async throws {
        let streams = Streams { sink throws(ClearCopyError) in Self.passForEver(sink) }
        let outcome = try outcome(await call("sleep 86400", streams, sandbox: .strict, timeLimit: .seconds(1)))
        #expect(outcome.answer == .later && outcome.reason == "out of time after 1.0 seconds")
    }

    @Test("gets no more when the lock comes, also while it does not read, and the attempt does not count")
    func locked() async throws {
        place.makePipe("up")
        let up = place.listen(to: "up")
        let streams = Streams { sink throws(ClearCopyError) in Self.passForEver(sink) }
        async let result = call("echo up > up; sleep 86400; echo end > end", streams)
        try await up.first { $0 == "up" }
        for stream in streams.open.withLock({ $0 }) { stream.lock() }
        guard case .locked = await result else {
            Issue.record("it was not locked")
            return
        }
        #expect(place.text("end") == nil)
    }

    @Test("is asked without a file before its first item")
    func launch() async throws {
        let streams = Streams { sink throws(ClearCopyError) in Self.pass(Self.contents, sink) }
        let body = "cat > $1; echo \"${WAFT_FILE-none}\" >> files; [ $1 != open-url ] || cat <&3 > got"
        let result = await call(body, streams) { $0.calls = [.willFinishLaunching] }
        #expect(try outcome(result).answer == .yes)
        #expect(place.text("files") == "none\n/proc/self/fd/3\n")
        #expect(try place.json("will-finish-launching")["file"] == nil)
        #expect(FileManager.default.contents(atPath: place.folder / "got") == Self.contents)
    }

    @Test("is the only one that gets them, and only files")
    func others() async throws {
        let streams = Streams { sink throws(ClearCopyError) in Self.pass(Self.contents, sink) }
        let folder = try outcome(await call("echo > called", streams, kind: .tree))
        #expect(folder == AttemptOutcome(.later, reason: "too large; a folder cannot be streamed"))
        let other = try outcome(await call("echo > called", streams) { $0.takesStreams = false })
        #expect(other == AttemptOutcome(.later, reason: "too large"))
        let resident = try outcome(await call("echo > called", streams) { $0.mode = .resident })
        #expect(resident == AttemptOutcome(.later, reason: "too large"))
        #expect(place.text("called") == nil)
    }
}
