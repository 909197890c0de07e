import Foundation
import ItemSources
import Sharing
import Synchronization
import TestSupport
import Testing

@testable import Outbox

@Suite("Sending the jobs of the outbox", .timeLimit(.minutes(1)))
struct EngineTests {
    private let folder = TemporaryFolder()
    private var store: OutboxStore { OutboxStore(folder: folder / "outbox") }

    @Test("a job is sent at once, and the user is notified once")
    func sent() async throws {
        let number = try store.queue(folder.file("a.txt", "x"), folder.file("b.txt", "y"))
        try await withEngine(store, ScriptedSender(ScriptedSender.storing)) { engine, reports in
            let record = try await reports.first()
            #expect(record.number == number)
            #expect(record.standing.state == .done)
            #expect(record.standing.peerName == "Kitchen")
            #expect(engine.summary == .init())
            // A report that was cut off would be made once more at the next start.
            while try !store.record(number).standing.isReported { try await Task.sleep(for: .milliseconds(1)) }
        }
        let again = ScriptedSender(ScriptedSender.storing)
        try await withEngine(store, again) { engine, reports in
            _ = await engine.cancel(JobNumber(99))
            #expect(again.shipments.all.isEmpty)
            #expect(reports.count == 0)
        }
    }

    @Test("a job that comes while the engine runs is sent when the engine is notified")
    func later() async throws {
        try await withEngine(store, ScriptedSender(ScriptedSender.storing)) { engine, reports in
            let number = try store.queue(folder.file("a.txt"))
            engine.lookAgain()
            let last = try await reports.first()
            #expect(last.number == number)
        }
    }

    @Test("without being told it looks once a minute")
    func looking() async throws {
        let clock = ManualClock()
        try await withEngine(store, ScriptedSender(ScriptedSender.storing), clock) { _, reports in
            try await clock.asked.first { $0 == .seconds(60) }
            let number = try store.queue(folder.file("a.txt"))
            clock.advance(.seconds(60))
            let last = try await reports.first()
            #expect(last.number == number)
        }
    }

    @Test("a peer that is not there is tried again after five seconds, ten, and so on, until the time is over")
    func retried() async throws {
        let clock = ManualClock()
        let sender = ScriptedSender(ScriptedSender.failing(.peerNotFound))
        let number = try store.queue(folder.file("a.txt"))
        try await withEngine(store, sender, clock) { _, reports in
            for (attempt, wait) in [5, 10, 20].enumerated() {
                try await sender.shipments.element(attempt + 1)
                try await clock.asked.first { $0 == .seconds(wait) }
                clock.advance(.seconds(wait))
            }
            try await sender.shipments.element(4)
            // The next look at the folder comes before the next attempt.
            try await clock.asked.first { $0 == .seconds(25) }
            clock.advance(.seconds(8 * 86_400))
            let record = try await reports.first()
            #expect(record.standing.failure?.code == .expired)
            #expect(record.standing.state == .failed)
        }
        #expect(try store.record(number).standing.state == .failed)
    }

    @Test("it is tried at once when the peer comes into view, by its key alone if that is known")
    func appearing() async throws {
        let clock = ManualClock()
        let isThere = Mutex(false)
        let sender = ScriptedSender { shipment, cancellation, note in
            guard isThere.withLock({ $0 }) else {
                return OutboxResult(failure: OutboxJobError(.peerNotFound, "nobody", isFinal: false))
            }
            return await ScriptedSender.storing(shipment, cancellation, note)
        }
        let number = try store.queue(folder.file("a.txt"))
        try await withEngine(store, sender, clock) { engine, reports in
            try await sender.shipments.element(1)
            try await clock.asked.first { $0 == .seconds(5) }
            isThere.withLock { $0 = true }
            // Another peer with its name, and then the peer itself.
            sender.appear(bert!, "kitchen")
            sender.appear(anna!, "other")
            let last = try await reports.first()
            #expect(last.number == number)
            #expect(sender.shipments.count == 2)
        }
    }

    @Test("it is tried again at once when the peer comes into view while an attempt ends without it")
    func appearingMeanwhile() async throws {
        let gate = Gate()
        let number = try store.queue(folder.file("a.txt"))
        let other = try store.queue(folder.file("b.txt"), to: "attic", key: bert)
        let sender = ScriptedSender { shipment, cancellation, note in
            guard shipment.job.number == number, gate.isOpen else {
                if shipment.job.number == number { await gate.wait() }
                return OutboxResult(failure: OutboxJobError(.peerNotFound, "nobody", isFinal: false))
            }
            return await ScriptedSender.storing(shipment, cancellation, note)
        }
        try await withEngine(store, sender) { engine, reports in
            try await sender.shipments.element(2)
            sender.appear(anna!)
            // One attempt to each peer at a time: the second one begins after both peers were seen.
            while try store.record(other).standing.state == .sending { try await Task.sleep(for: .milliseconds(1)) }
            sender.appear(bert!)
            try await sender.shipments.element(3)
            gate.open()
            let last = try await reports.first()
            #expect(last.number == number)
        }
    }

    @Test("a declined, ineligible or changed item is given up at once")
    func given() async throws {
        for code in [OutboxJobError.Code.declined, .ineligible] {
            let number = try store.queue(folder.file("a.txt"))
            try await withEngine(store, ScriptedSender(ScriptedSender.failing(code, isFinal: true))) { _, reports in
                // Of one before it the user may be told once more.
                let record = try await reports.first { $0.number == number }
                #expect(record.standing.failure?.code == code)
            }
        }
        let number = try store.queue(folder.file("a.txt", "one"))
        folder.file("a.txt", "two!")
        try await withEngine(store, ScriptedSender(ScriptedSender.storing)) { _, reports in
            let last = try await reports.first { $0.number == number }
            #expect(last.standing.failure?.code == .changed)
        }
        #expect(try store.record(number).standing.state == .failed)
    }

    @Test("four at once, and one after another to the same peer")
    func places() async throws {
        for number in 0..<3 { try store.queue(folder.file("\(number)"), to: "same") }
        for number in 0..<6 { try store.queue(folder.file("\(number)"), to: "peer-\(number)", key: nil) }
        let running = Mutex<(now: [String], most: Int, wasDouble: Bool)>(([], 0, false))
        let (begun, gate) = (Recorder<String>(), Recorder<Int>())
        let sender = ScriptedSender { shipment, cancellation, note in
            let peer = shipment.peer?.text ?? shipment.job.destination.text
            running.withLock { state in
                state.wasDouble = state.wasDouble || state.now.contains(peer)
                state.now.append(peer)
                state.most = max(state.most, state.now.count)
            }
            begun.record(peer)
            _ = try? await gate.first()
            running.withLock { state in state.now.removeAll { $0 == peer } }
            return await ScriptedSender.storing(shipment, cancellation, note)
        }
        try await withEngine(store, sender) { engine, reports in
            try await begun.element(4)
            gate.record(1)
            try await reports.element(9)
        }
        let end = running.withLock { $0 }
        #expect(end.most == 4)
        #expect(!end.wasDouble)
    }

    /// A sender that hangs at some peers until it is cancelled, and stores at the others.
    private func hanging(
        at peers: [String], begun: Recorder<String> = Recorder(), broken: Recorder<String> = Recorder()
    ) -> ScriptedSender {
        ScriptedSender { shipment, cancellation, note in
            let peer = shipment.job.destination.text
            guard peers.contains(peer) else { return await ScriptedSender.storing(shipment, cancellation, note) }
            shipment.progressed(1, nil)
            begun.record(peer)
            try? await Task.sleep(for: .seconds(3_600))
            broken.record(peer)
            return OutboxResult(failure: OutboxJobError(.unreachable, "broken off", isFinal: false))
        }
    }

    @Test("a job that hardly moves for five minutes yields to a waiting one, and is tried again after it")
    func stalls() async throws {
        let clock = ManualClock()
        let stalling = (0..<4).map { "stall-\($0)" }
        for peer in stalling { try store.queue(folder.file(peer), to: peer, key: nil) }
        let (begun, broken) = (Recorder<String>(), Recorder<String>())
        let sender = hanging(at: stalling, begun: begun, broken: broken)
        try await withEngine(store, sender, clock) { engine, reports in
            try await begun.element(4)
            // No job waits for a place, so nothing happens.
            clock.advance(.seconds(600))
            let honest = try store.queue(folder.file("honest"), to: "honest", key: nil)
            engine.lookAgain()
            let done = try await reports.first()
            #expect(done.number == honest && done.standing.state == .done)
            #expect(broken.count == 1)
            let left = try store.record(JobNumber(1))
            #expect(left.standing.state == .waiting)
            #expect(left.standing.failure?.code == .noAnswer)
            while sender.shipments.count < 6 { try await clock.advanceMinute() }
            #expect(sender.shipments.all.last?.job.number == JobNumber(1))
        }
    }

    @Test("jobs that wait for the answer of their peers take no place, however many they are")
    func unanswered() async throws {
        let clock = ManualClock()
        let silent = (0..<9).map { "silent-\($0)" }
        for peer in silent { try store.queue(folder.file(peer), to: peer, key: nil) }
        let honest = try store.queue(folder.file("honest"), to: "honest", key: nil)
        let begun = Recorder<String>()
        let sender = ScriptedSender { shipment, cancellation, note in
            let peer = shipment.job.destination.text
            guard silent.contains(peer) else { return await ScriptedSender.storing(shipment, cancellation, note) }
            begun.record(peer)
            try? await Task.sleep(for: .seconds(3_600))
            return OutboxResult(failure: OutboxJobError(.noAnswer, "not yet", isFinal: false))
        }
        try await withEngine(store, sender, clock) { _, reports in
            for round in 1...2 {
                try await begun.element(4 * round)
                // A sleep that begins after the clock has moved would last longer.
                try await clock.asked.element(round)
                clock.advance(OutboxLimits.opening)
            }
            #expect(try await reports.first().number == honest)
        }
    }

    @Test("four that stall do not keep others out, however many of them wait to be tried again")
    func manyStalls() async throws {
        let clock = ManualClock()
        let stalling = (0..<9).map { "stall-\($0)" }
        for peer in stalling { try store.queue(folder.file(peer), to: peer, key: nil) }
        let honest = try store.queue(folder.file("honest"), to: "honest", key: nil)
        let sender = hanging(at: stalling)
        try await withEngine(store, sender, clock) { _, reports in
            while reports.count == 0 { try await clock.advanceMinute() }
            #expect(reports.all[0].number == honest)
        }
        let before = sender.shipments.all.map(\.job.number).prefix { $0 != honest }
        #expect(Set(before).count == before.count, "one was tried twice before the honest one")
    }

    @Test("an engine that is stopped ends its transfer, and the next one resumes the same transfer")
    func stopped() async throws {
        let number = try store.queue(folder.file("a.txt"))
        let sender = ScriptedSender { shipment, _, note in
            try? note(.offering(shipment.transfer, shipment.open, to: anna!, callingItself: nil))
            try? await Task.sleep(for: .seconds(3_600))
            return OutboxResult(failure: OutboxJobError(.unreachable, "broken off", isFinal: false))
        }
        try await withEngine(store, sender) { _, _ in
            _ = try await sender.shipments.element(1)
        }
        #expect(try store.record(number).standing.state == .waiting)
        let next = ScriptedSender(ScriptedSender.storing)
        try await withEngine(store, next) { _, reports in
            try await reports.first()
            let shipment = next.shipments.all[0]
            #expect(shipment.wasOffered)
            #expect(shipment.transfer == sender.shipments.all[0].transfer)
        }
    }

    @Test("a job that is being sent is cancelled: the peer is notified, and its answer is not waited for long")
    func cancelled() async throws {
        let number = try store.queue(folder.file("a.txt"))
        let clock = ManualClock()
        let told = Recorder<Bool>()
        let sender = ScriptedSender { _, cancellation, _ in
            try? await Task.sleep(for: .seconds(3_600))
            told.record(cancellation.isRequested)
            return OutboxResult(failure: OutboxJobError(.unreachable, "cancelled", isFinal: false))
        }
        try await withEngine(store, sender, clock) { engine, _ in
            try await sender.shipments.element(1)
            #expect(await engine.retry(number)?.code == .unfit)
            #expect(await engine.cancel(number) == nil)
            try await clock.asked.first { $0 == .seconds(2) }
            clock.advance(.seconds(2))
            let last = try await told.first()
            #expect(last)
            #expect(await engine.cancel(number)?.code == .unfit)
        }
        #expect(try store.record(number).standing.state == .cancelled)
    }

    @Test(
        "a wall clock that jumps, forward or back, gives up no job, forgets none and stops none from being tried",
        arguments: [60, -60], [0, 3_600])
    func clockJumps(days: Int64, after seconds: Int64) async throws {
        let clock = ManualClock()
        let number = try store.queue(folder.file("a.txt"))
        // One that was given up, with its copy.
        let draft = try OutboxDraft.make(in: store)
        try draft.addCopy(of: ItemSources.make(path: folder.file("b.txt")))
        let failed = try draft.commit(to: .init(text: "nobody"), at: someTime).number
        _ = try store.change(failed) { job, standing in
            standing.end(job, OutboxJobError(.declined, "no", isFinal: true), at: someTime)
            standing.isReported = true
            return true
        }
        let sender = ScriptedSender(ScriptedSender.failing(.unreachable))
        let tries = { sender.shipments.count }
        try await withEngine(store, sender, clock) { engine, reports in
            try await sender.shipments.element(1)
            // Time passes before the clock is set.
            for _ in 0..<(seconds / 60) {
                let asked = clock.asked.count
                clock.advance(.seconds(60))
                try await clock.asked.element(asked + 1)
            }
            clock.setForward(days * 86_400_000)
            if seconds == 0 {
                // It was wrong at the start, and is put right within minutes.
                let asked = clock.asked.count
                clock.advance(.seconds(60))
                try await clock.asked.element(asked + 1)
                clock.setForward(-days * 86_400_000)
            }
            // It is tried again and again.
            let before = tries()
            while tries() < before + 8 {
                // An attempt under way ends first: a thread that stands still would let the days of the job pass.
                while engine.summary.sending > 0 { try await Task.sleep(for: .milliseconds(1)) }
                let asked = clock.asked.count
                clock.advance(.seconds(600))
                try await clock.asked.element(asked + 1)
            }
            #expect(reports.all.filter { $0.number == number }.isEmpty)
            #expect(engine.summary.waiting + engine.summary.sending == 1)
        }
        #expect(try !store.record(number).standing.state.isFinal)
        #expect(FileManager.default.fileExists(atPath: store.path(ofCopy: "0", in: failed)))
    }

    @Test("how far a job is is known as long as it is being sent")
    func progress() async throws {
        let number = try store.queue(folder.file("a.txt"))
        let (isThere, gate) = (Recorder<Bool>(), Recorder<Bool>())
        let sender = ScriptedSender { shipment, cancellation, note in
            shipment.progressed(3, 5)
            isThere.record(true)
            _ = try? await gate.first()
            return await ScriptedSender.storing(shipment, cancellation, note)
        }
        try await withEngine(store, sender) { engine, reports in
            try await isThere.first()
            #expect(engine.progress == [OutboxProgress(job: number, bytes: 3, total: 5)])
            gate.record(true)
            try await reports.first()
            #expect(engine.progress == [])
        }
    }

    @Test("a job that was cancelled and removed while it is being sent is forgotten when that has ended")
    func removed() async throws {
        let number = try store.queue(folder.file("a.txt"))
        let (isThere, gate) = (Recorder<Bool>(), Recorder<JobNumber>())
        let sender = ScriptedSender { shipment, _, _ in
            isThere.record(true)
            _ = try? await gate.first { $0 == shipment.job.number }
            return OutboxResult(failure: OutboxJobError(.unreachable, "cancelled", isFinal: false))
        }
        try await withEngine(store, sender) { engine, reports in
            try await isThere.first()
            #expect(await engine.cancel(number) == nil)
            try store.remove(number)
            gate.record(number)
            let next = try store.queue(folder.file("b.txt"))
            engine.lookAgain()
            // To one peer one after another: this one begins when the other has ended.
            try await sender.shipments.first { $0.job.number == next }
            while engine.summary != .init(waiting: 0, sending: 1, failed: 0) { await Task.yield() }
        }
    }

    @Test("a failed job can be tried again")
    func again() async throws {
        let number = try store.queue(folder.file("a.txt"))
        let isOpen = Mutex(false)
        let sender = ScriptedSender { shipment, cancellation, note in
            isOpen.withLock { $0 }
                ? await ScriptedSender.storing(shipment, cancellation, note)
                : OutboxResult(failure: OutboxJobError(.declined, "no", isFinal: true))
        }
        try await withEngine(store, sender) { engine, reports in
            let last = try await reports.first()
            #expect(last.standing.state == .failed)
            #expect(engine.summary.failed == 1)
            isOpen.withLock { $0 = true }
            #expect(await engine.retry(number) == nil)
            let done = try await reports.first { $0.standing.state == .done }
            #expect(done.number == number)
        }
    }

    @Test("a job that is tried again while its failure is being reported has its later end reported too")
    func againAtOnce() async throws {
        let number = try store.queue(folder.file("a.txt"))
        let isOpen = Mutex(false)
        let gate = Recorder<Bool>()
        let sender = ScriptedSender { shipment, cancellation, note in
            isOpen.withLock { $0 }
                ? await ScriptedSender.storing(shipment, cancellation, note)
                : OutboxResult(failure: OutboxJobError(.declined, "no", isFinal: true))
        }
        let slowly: @Sendable (OutboxStore.Record) async -> Void = { record in
            if record.standing.state == .failed { _ = try? await gate.first() }
        }
        try await withEngine(store, sender, reporting: slowly) { engine, reports in
            try await reports.first()
            isOpen.withLock { $0 = true }
            #expect(await engine.retry(number) == nil)
            while try store.record(number).standing.state != .done { try await Task.sleep(for: .milliseconds(1)) }
            #expect(try !store.record(number).standing.isReported)
            gate.record(true)
            try await reports.first { $0.standing.state == .done }
            while try !store.record(number).standing.isReported { try await Task.sleep(for: .milliseconds(1)) }
            #expect(reports.count == 2)
        }
    }
}
