import ContentCheck
import HandlerCatalog
import Logging
import Sharing
import Streams
import UniformTypes

/// Gives the events of the engine to the ledger, and carries out its actions.
struct DeliveryLoop {
    private typealias Answered = @Sendable (Arrival, HandlerAnswer) -> Void

    private let engine: DeliveryEngine
    private var ledger: DeliveryLedger
    /// Those who hear the answers; the observer of the engine hears them where there is nobody else.
    private var listeners: [ArrivalNumber: [Answered]] = [:]
    /// The people who wait for a call, by its arrival.
    private var askers: [ArrivalNumber: CheckedContinuation<DeliveryEngine.AskedAnswer, Never>] = [:]
    private var releases: [Int: CheckedContinuation<DeliveryEngine.ReleaseAnswer, Never>] = [:]
    private var lastRelease = 0
    private var timer: Task<Void, Never>?

    var isStopping: Bool { ledger.isStopping }
    /// Whether no handler is being called.
    var isIdle: Bool { ledger.running == 0 }

    init(_ engine: DeliveryEngine) {
        self.engine = engine
        ledger = DeliveryLedger(engine, places: engine.places)
    }

    // MARK: Events

    /// Takes up the deliveries of an earlier run.
    mutating func start(_ group: inout DiscardingTaskGroup) {
        // An unreadable one must not hold up the others; it stays in the journal.
        let deliveries = engine.leftovers.compactMap { delivery in
            engine.arrival(delivery.number).arrival.map { (delivery: delivery, arrival: $0) }
        }
        if !deliveries.isEmpty {
            engine.logger.notice("deliveries resume", metadata: ["count": "\(deliveries.count)"])
        }
        tell(.resumed(deliveries), &group)
        advance(&group)
    }

    mutating func handle(_ event: DeliveryEngine.Event, _ group: inout DiscardingTaskGroup) {
        switch event {
        case .arrived(let arrivals, let answered):
            for arrival in arrivals { listeners[arrival.number] = [answered] }
            tell(.arrived(arrivals), &group)
        case .followed(let arrivals, let answered):
            for arrival in arrivals { follow(arrival, answered) }
        case .transferEnded(let transfer, let peer): tell(.transferEnded(transfer, peer), &group)
        case .called(let call, let result): tell(.called(call, result), &group)
        case .handlersChanged: tell(.handlersChanged, &group)
        case .due: tell(.due, &group)
        case .stop: tell(.stop, &group)
        case .retry(let number, let continuation): continuation.resume(returning: retry(number, &group))
        case .open(let call): open(call, &group)
        case .release(let number, let limit, let answer):
            lastRelease += 1
            releases[lastRelease] = answer
            tell(.release(id: lastRelease, number, limit: limit), &group)
        case .ping(let continuation): continuation.resume()
        }
        if !isStopping { advance(&group) }
    }

    private mutating func tell(_ event: DeliveryLedger.Event, _ group: inout DiscardingTaskGroup) {
        carryOut(ledger.handle(event), &group)
    }

    private mutating func advance(_ group: inout DiscardingTaskGroup) {
        while true {
            let actions = ledger.advance()
            if actions.isEmpty { return }
            carryOut(actions, &group)
        }
    }

    /// Another listener hears the answer: at once, if the sender of the item would know it already. It takes the place of
    /// an earlier follower: a sender may try again without end.
    private mutating func follow(
        _ arrival: Arrival, _ answered: @escaping @Sendable (Arrival, HandlerAnswer?) -> Void
    ) {
        guard let standing = ledger.standing(of: arrival.number) else { return answered(arrival, nil) }
        listeners[arrival.number] = [
            listeners[arrival.number]?.first ?? engine.surroundings.observe, { answered($0, $1) },
        ]
        if standing.state != .pending { answered(arrival, standing) }
    }

    // MARK: Requests of people

    /// The reason that no handler can be called for an arrival.
    private enum Refusal: Error {
        case unknown
        case left
        case fault(String)

        static let lying = Refusal.fault("its content does not match its type: no handler is asked")
    }

    /// - Returns: an arrival, and whether its item is in the Inbox.
    private func find(_ number: ArrivalNumber) throws(Refusal) -> (arrival: Arrival, isThere: Bool) {
        do {
            if let arrival = try engine.journal.arrival(number) {
                return (arrival, try engine.journal.isThere(number))
            }
        } catch {
            throw .fault(error.description)
        }
        throw .unknown
    }

    private mutating func retry(
        _ number: ArrivalNumber, _ group: inout DiscardingTaskGroup
    ) -> DeliveryEngine.RetryAnswer {
        if ledger.isTaken(number) { return .underWay }
        do throws(Refusal) {
            let (arrival, isThere) = try find(number)
            if arrival.content?.outcome == .lying { throw .lying }
            guard isThere else { throw .left }
            if engine.candidates(for: engine.subject(arrival)).isEmpty {
                let name = TypeRegistry.system.description(of: arrival.type).map { "\($0) (\(arrival.type))" }
                return .fault("no handler for this type: \(name ?? arrival.type.identifier)")
            }
            do {
                guard let delivery = try engine.journal.retry(number, at: engine.now) else { return .unknown }
                tell(.retried(delivery, arrival), &group)
                return .begun
            } catch {
                return .fault(error.description)
            }
        } catch {
            switch error {
            case .unknown: return .unknown
            case .left: return .left
            case .fault(let reason): return .fault(reason)
            }
        }
    }

    private mutating func open(_ call: AskedCall, _ group: inout DiscardingTaskGroup) {
        if isStopping { return call.answer.resume(returning: .fault("the receiver is stopping")) }
        if ledger.isTaken(call.number) { return call.answer.resume(returning: .underWay) }
        do throws(Refusal) {
            let (arrival, isThere) = try find(call.number)
            guard isThere else { throw .left }
            if arrival.content?.outcome == .lying { throw .lying }
            askers[call.number] = call.answer
            tell(.asked(arrival, handler: call.handler, annotation: call.annotation), &group)
        } catch {
            switch error {
            case .unknown: call.answer.resume(returning: .unknown)
            case .left: call.answer.resume(returning: .left)
            case .fault(let reason): call.answer.resume(returning: .fault(reason))
            }
        }
    }

    // MARK: Actions

    private mutating func carryOut(_ actions: [DeliveryLedger.Action], _ group: inout DiscardingTaskGroup) {
        let engine = engine
        for action in actions {
            switch action {
            case .record(let call, let isAsked):
                carryOut(ledger.began(call, attempts: record(call, isAsked: isAsked)), &group)
            case .call(let call):
                group.addTask { engine.mailbox.post(.called(call, await engine.caller.call(call))) }
            case .end(let numbers, let outcome, let step):
                // After a failed write only memory has the result: a restart repeats the call, which is the lesser evil.
                attempt("a handler's answer cannot be stored") { () throws(JournalError) in
                    try engine.journal.ended(numbers, outcome, next: step, at: engine.now)
                }
            case .finish(let number, let state):
                attempt("a delivery cannot be stored") { () throws(JournalError) in
                    try engine.journal.end([number], as: state)
                }
            case .noteDepartures(let arrivals, let handler): noteDepartures(arrivals, handler)
            case .answer(let arrival, let answer):
                for listener in listeners[arrival.number] ?? [engine.surroundings.observe] { listener(arrival, answer) }
            case .forget(let number): listeners[number] = nil
            case .answerAsked(let number, let answer): askers.removeValue(forKey: number)?.resume(returning: answer)
            case .answerRelease(let id, let answer): releases.removeValue(forKey: id)?.resume(returning: answer)
            case .itemWillMove(let number): Task { await engine.caller.itemWillMove(number) }
            case .rest(let handler): group.addTask { await engine.caller.rests(handler) }
            case .reportMissing(let handler, let reason):
                engine.logger.warning(
                    "items wait for a handler's program",
                    metadata: ["handler": "\(handler)", "reason": "\(ShownText.escaped(reason))"])
            case .setAlarm(let due): setTimer(due)
            }
        }
    }

    private func record(_ call: DeliveryCall, isAsked: Bool) -> [Int]? {
        attempt("a delivery cannot be stored") { () throws(JournalError) in
            try engine.journal.began(
                call.numbers, handler: call.candidate.program.identifier, isAsked: isAsked, at: engine.now)
        }
    }

    /// - Returns: nil if the journal could not be written; that is logged.
    @discardableResult
    private func attempt<Result>(_ failure: Logger.Message, _ write: () throws(JournalError) -> Result) -> Result? {
        do {
            return try write()
        } catch {
            engine.logger.error(failure, metadata: ["reason": "\(error)"])
            return nil
        }
    }

    /// Handlers may move and delete items: an item that is missing after a call was taken by the handler.
    private func noteDepartures(_ arrivals: [Arrival], _ handler: String) {
        let taken = arrivals.filter { engine.caller.hasTaken($0.number) }
        defer { for arrival in taken { engine.surroundings.copies?.remove(arrival) } }
        let gone =
            taken
            + arrivals.filter { arrival in
                // Under its present name: another protection may have given it another one.
                let place = engine.presence(atPlaceOf: engine.arrival(arrival.number).arrival ?? arrival)
                return !taken.contains(arrival) && [.left, .gone].contains(place)
            }
        guard !gone.isEmpty else { return }
        attempt("a departure cannot be stored") { () throws(JournalError) in
            let departure = Departure(.handler, at: engine.now, toward: handler)
            // With --now the user may have taken it before.
            let new = Set(try engine.journal.departed(gone.map(\.number), departure))
            for arrival in gone where new.contains(arrival.number) { engine.surroundings.left(arrival, departure) }
        }
    }

    private mutating func setTimer(_ due: Duration?) {
        timer?.cancel()
        timer = due.map { [engine] due in
            Task {
                try? await engine.clock.sleep(due - engine.uptime)
                if !Task.isCancelled { engine.mailbox.post(.due) }
            }
        }
    }
}
