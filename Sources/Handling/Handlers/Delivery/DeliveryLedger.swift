import HandlerCatalog
import Sharing
import Streams

/// The deliveries that are not finished, and their states. Decides without waiting, without a clock and without a disk:
/// it asks `DeliveryFacts`, and `DeliveryLoop` carries out its actions.
///
/// ```
///    arrived, resumed, retried, asked
///                  │ assign
///      ┌───────────┼──────────────┬───────────────────┐
///      ▼           ▼              ▼                   ▼
///   unhandled    locked        waiting ──(time)──▶ ready ──began──▶ underWay ──called──▶ (done)
///      │           │              │                │   ▲                │
///      │ handlers  │ unlock       │ handlers    no │   │ program        │ later, no for another handler,
///      │ change    │              │ change  program│   │ is back        │ cut short, postponed, locked
///      │           │              │                ▼   │                │
///      │           │              │            suspended                │
///      └───────────┴──── assign ──┴──────────────────────── assign ─────┘
/// ```
///
/// A call that a person asks for takes the place of the usual delivery of its item, which goes on after it; it never is
/// `unhandled`, `locked` or `suspended`: then the person is answered.
///
/// A handler gets one call at a time, in the order of arrival, and an item that waits does not hold up those behind it.
struct DeliveryLedger {
    typealias Candidate = HandlerChoice.Candidate

    enum State: Hashable {
        /// No handler is there for it.
        case unhandled
        /// It cannot be opened; its sender knows.
        case locked
        /// The program of its handler is missing; its sender knows.
        case suspended(Candidate)
        case waiting(Candidate, until: Duration)
        case ready(Candidate)
        case underWay(Candidate, since: Duration)

        var candidate: Candidate? {
            switch self {
            case .unhandled, .locked: nil
            case .suspended(let candidate), .waiting(let candidate, _), .ready(let candidate),
                .underWay(let candidate, _):
                candidate
            }
        }
    }

    enum Event {
        /// New arrivals, of a transfer that may bring more.
        case arrived([Arrival])
        /// The deliveries of an earlier run.
        case resumed([(delivery: WaitingDelivery, arrival: Arrival)])
        case transferEnded(TransferID, PeerID)
        /// A call has ended.
        case called(DeliveryCall, CallResult)
        /// The handlers have changed, or the items that can be opened.
        case handlersChanged
        /// The time of the alarm has come.
        case due
        /// A person restarts a delivery that is not under way; the journal has recorded it.
        case retried(WaitingDelivery, Arrival)
        /// A person asks for a call of a handler, for an item that is not under way.
        case asked(Arrival, handler: String, annotation: [String: String])
        /// An item is about to leave the Inbox.
        /// - Parameters:
        ///   - id: of the request.
        ///   - limit: how long to wait for a handler that has the item.
        case release(id: Int, ArrivalNumber, limit: Duration)
        case stop
    }

    enum Action {
        /// The journal records the beginning of a call; its result comes back by `began`.
        case record(DeliveryCall, isAsked: Bool)
        /// A handler is called; the result comes back as `called`.
        case call(DeliveryCall)
        /// The journal records the end of a call.
        case end([ArrivalNumber], AttemptOutcome, DeliveryStep)
        /// The journal records the end of a delivery without a call.
        case finish(ArrivalNumber, DeliveryState)
        /// The items that are missing after a call have left with the handler.
        case noteDepartures([Arrival], handler: String)
        /// The listeners of an arrival get an answer.
        case answer(Arrival, HandlerAnswer)
        /// A delivery is over: it has no listeners any more.
        case forget(ArrivalNumber)
        /// The person who asked for a call gets the answer.
        case answerAsked(ArrivalNumber, DeliveryEngine.AskedAnswer)
        /// A request for the release of an item gets its answer.
        case answerRelease(id: Int, DeliveryEngine.ReleaseAnswer)
        /// The handler that has an item hears that it leaves.
        case itemWillMove(ArrivalNumber)
        /// A handler has no deliveries any more.
        case rest(handler: String)
        /// Items begin to wait for a program; one line.
        case reportMissing(handler: String, reason: String)
        /// `due` is wanted at this uptime; nil for none.
        case setAlarm(Duration?)
    }

    /// A delivery that is not finished.
    struct Entry {
        var delivery: WaitingDelivery
        /// The arrival that stored the item; see `Arrival.holder`.
        var holder: ArrivalNumber
        var subject: HandlerChoice.Subject
        var state = State.unhandled
        /// The end of the wait of the usual delivery, by the engine's clock.
        var notBefore: Duration?
        /// The call that a person asked for; nil for the usual delivery.
        var asked: Asked?

        var isUnderWay: Bool {
            if case .underWay = state { true } else { false }
        }
    }

    /// A call that a person asked for.
    struct Asked {
        /// The identifier of the handler.
        var handler: String
        var annotation: [String: String]
        /// The facts of the usual delivery, which goes on after it; nil if there was none.
        var usual: HandlerChoice.Subject?
    }

    /// A transfer of one peer.
    struct Source: Hashable {
        var transfer: TransferID
        var peer: PeerID
    }

    let facts: any DeliveryFacts
    /// The most calls at once.
    let places: Int
    var entries: [ArrivalNumber: Entry] = [:]
    var slots: [String: HandlerSlot] = [:]
    /// Transfers that may bring more items.
    var open: Set<Source> = []
    var released = ReleasedItems()
    /// Programs that were missing when they were to be called, by their handlers. Their deliveries wait for them.
    var absent: [String: HandlerProgram] = [:]
    /// No call begins before this, because the journal could not be written.
    var pausedUntil: Duration?
    var alarm = LoopAlarm()
    private(set) var isStopping = false
    /// The protections that can be opened, as this ledger knows it: it looks once for each event. An unlock in the middle of
    /// one lets no later item overtake earlier ones.
    private var openable: Set<ProtectionClass>
    /// Of the event that is being handled.
    var actions: [Action] = []

    init(_ facts: any DeliveryFacts, places: Int) {
        self.facts = facts
        self.places = places
        openable = Self.openable(by: facts)
    }

    private static func openable(by facts: any DeliveryFacts) -> Set<ProtectionClass> {
        Set(ProtectionClass.allCases.filter(facts.canOpen))
    }

    /// The calls that are under way.
    var running: Int { slots.values.count(where: \.isBusy) }

    /// Whether a delivery is under way, or a person has asked for a call.
    func isTaken(_ number: ArrivalNumber) -> Bool {
        entries[number].map { $0.isUnderWay || $0.asked != nil } ?? false
    }

    /// The answer of a delivery as its sender knows it: nil for one that is not known here, `later` for one that waits for
    /// more than its handler's answer.
    func standing(of number: ArrivalNumber) -> HandlerAnswer? {
        guard let entry = entries[number] else { return nil }
        switch entry.state {
        case .unhandled, .locked, .suspended: return HandlerAnswer(.later)
        case .waiting, .ready, .underWay: return HandlerAnswer(.pending)
        }
    }

    // MARK: Events

    /// - Returns: the actions, to be carried out in this order; then those of `advance` follow.
    mutating func handle(_ event: Event) -> [Action] {
        let openable = Self.openable(by: facts)
        if openable != self.openable {
            self.openable = openable
            chooseAnew()
        }
        switch event {
        case .arrived(let arrivals):
            lookForPrograms()
            for arrival in arrivals { arrived(arrival) }
        case .resumed(let deliveries):
            for (delivery, arrival) in deliveries { enter(delivery, arrival) }
        case .transferEnded(let transfer, let peer): open.remove(Source(transfer: transfer, peer: peer))
        case .called(let call, let result): called(call, result)
        case .handlersChanged: chooseAnew()
        case .due: alarm.rang()
        case .retried(let delivery, let arrival):
            precondition(!isTaken(delivery.number), "a delivery that is taken is not restarted")
            released.endHold(arrival.holder)
            enter(delivery, arrival)
        case .asked(let arrival, let handler, let annotation): ask(arrival, handler, annotation)
        case .release(let id, let number, let limit): release(id, number, within: limit)
        case .stop: stop()
        }
        return takeActions()
    }

    mutating func takeActions() -> [Action] {
        defer { actions = [] }
        return actions
    }

    private mutating func arrived(_ arrival: Arrival) {
        open.insert(Source(transfer: arrival.transfer, peer: arrival.peer))
        enter(
            WaitingDelivery(number: arrival.number, transfer: arrival.transfer, peer: arrival.peer, due: facts.now),
            arrival)
        // For example a received URL whose scheme no handler opens.
        guard entries[arrival.number]?.state == .unhandled else { return }
        finish(arrival, as: .none, HandlerAnswer(.none))
    }

    private mutating func enter(_ delivery: WaitingDelivery, _ arrival: Arrival) {
        let wait = DeliveryBackoff.wait(for: delivery, at: facts.now)
        leaveQueue(delivery.number)
        entries[delivery.number] = Entry(
            delivery: delivery, holder: arrival.holder, subject: facts.subject(arrival),
            notBefore: wait > .zero ? facts.uptime + wait : nil)
        assign(delivery.number)
    }

    private mutating func stop() {
        isStopping = true
        for number in entries.keys.sorted() where entries[number]?.isUnderWay == false {
            endAsked(number, .fault("the receiver is stopping"))
        }
        if alarm.move(to: nil) { actions.append(.setAlarm(nil)) }
    }

    // MARK: Assigning

    /// Queues the delivery at its next handler. Without one it waits until a handler is installed.
    /// - Parameter isStale: whether its protection may be another one than its subject says.
    mutating func assign(_ number: ArrivalNumber, isStale: Bool = false) {
        guard var entry = entries[number] else { return }
        // The user may have changed the protection of an item that waits.
        if isStale || entry.state == .locked, let arrival = facts.arrival(number).arrival {
            guard openable.contains(arrival.protection) else { return lock(number) }
            // The contents could not be read while it was locked.
            let chosen = entry.subject.chosen
            entry.subject = facts.subject(arrival)
            entry.subject.chosen = chosen
            entries[number] = entry
        }
        guard openable.contains(entry.subject.protection) else { return lock(number) }
        let candidate = facts.candidates(for: entry.subject).first { candidate in
            let handler = candidate.program.identifier
            return entry.asked.map { $0.handler == handler } ?? !entry.delivery.refusedBy.contains(handler)
        }
        guard let candidate else {
            if let asked = entry.asked {
                return endAsked(number, .fault("there is no enabled handler \(asked.handler)"))
            }
            move(number, to: .unhandled)
            // A handler has refused it, and there is no other.
            if !entry.delivery.refusedBy.isEmpty, let arrival = facts.arrival(number).arrival {
                finish(arrival, as: .no, HandlerAnswer(.no))
            }
            return
        }
        let handler = candidate.program.identifier
        var slot = slots[handler] ?? HandlerSlot(program: candidate.program)
        // A changed program must answer its launch questions again.
        if !slot.program.isSame(as: candidate.program) { slot.isLaunched = false }
        slot.program = candidate.program
        slots[handler] = slot
        if case .suspended = entry.state, missing(handler) != nil { return move(number, to: .suspended(candidate)) }
        let wait = entry.asked == nil ? entry.notBefore : nil
        let until = [wait, released.held(entry.holder)].compactMap(\.self).filter { $0 > facts.uptime }.max()
        move(number, to: until.map { .waiting(candidate, until: $0) } ?? .ready(candidate))
    }

    /// A locked item waits for the unlock. That is no attempt; its sender gets to know that it is not opened yet.
    private mutating func lock(_ number: ArrivalNumber) {
        if entries[number]?.asked != nil { return endAsked(number, .locked) }
        guard entries[number]?.state != .locked else { return }
        guard let arrival = facts.arrival(number).arrival else { return move(number, to: .unhandled) }
        move(number, to: .locked)
        actions.append(.answer(arrival, HandlerAnswer(.later)))
    }

    /// The handlers have changed, or the items that can be opened: deliveries that have not begun are assigned again.
    private mutating func chooseAnew() {
        for handler in slots.keys { slots[handler]?.queue.removeUnbegun() }
        for number in entries.keys.sorted() where entries[number]?.isUnderWay == false { assign(number) }
    }

    // MARK: States

    /// Changes the state of a delivery, and its place in the queue of its handler.
    mutating func move(_ number: ArrivalNumber, to state: State) {
        guard let old = entries[number]?.state else { return }
        entries[number]?.state = state
        guard let handler = state.candidate?.program.identifier else { return leaveQueue(number, of: old) }
        if old.candidate?.program.identifier != handler { leaveQueue(number, of: old) }
        switch state {
        case .unhandled, .locked, .suspended: slots[handler]?.queue.remove(number)
        case .waiting(_, let until): slots[handler]?.queue.put(number, notBefore: until)
        case .ready: slots[handler]?.queue.put(number)
        case .underWay: slots[handler]?.queue.begin(number)
        }
    }

    private mutating func leaveQueue(_ number: ArrivalNumber, of old: State? = nil) {
        guard let handler = (old ?? entries[number]?.state)?.candidate?.program.identifier else { return }
        slots[handler]?.queue.remove(number)
    }

    mutating func drop(_ number: ArrivalNumber) {
        leaveQueue(number)
        entries[number] = nil
        actions.append(.forget(number))
    }

    /// Ends a delivery without a call of a handler.
    mutating func finish(_ arrival: Arrival, as state: DeliveryState, _ answer: HandlerAnswer) {
        actions += [.finish(arrival.number, state), .answer(arrival, answer)]
        drop(arrival.number)
    }

    // MARK: Calls that a person asked for

    /// Queues a call that a person asked for, in the place of the usual delivery.
    private mutating func ask(_ arrival: Arrival, _ handler: String, _ annotation: [String: String]) {
        let number = arrival.number
        precondition(!isTaken(number) && !isStopping, "a call is asked for while the delivery can be called")
        leaveQueue(number)
        let old = entries[number]
        var subject = facts.subject(arrival)
        subject.chosen = handler
        let delivery = WaitingDelivery(
            number: number, transfer: arrival.transfer, peer: arrival.peer, due: facts.now)
        entries[number] = Entry(
            delivery: old?.delivery ?? delivery, holder: arrival.holder, subject: subject, notBefore: old?.notBefore,
            asked: Asked(handler: handler, annotation: annotation, usual: old?.subject))
        assign(number)
    }

    /// Answers the person who asked. The usual delivery goes on, if there was one that the answer has not ended.
    mutating func endAsked(_ number: ArrivalNumber, _ answer: DeliveryEngine.AskedAnswer) {
        guard let asked = entries[number]?.asked else { return }
        actions.append(.answerAsked(number, answer))
        if case .answered(let outcome) = answer, outcome.answer == .yes { return drop(number) }
        guard let usual = asked.usual else { return drop(number) }
        move(number, to: .unhandled)
        entries[number]?.asked = nil
        entries[number]?.subject = usual
        if !isStopping { assign(number, isStale: true) }
    }
}
