package import Sharing
private import Synchronization

/// The decisions on an offer that need no question.
package final class OfferGate: OfferGating {
    private let book: ContactBook
    private let policy: @Sendable () -> Policy
    private let setting: @Sendable () -> PolicySetting
    private let dayAmount: @Sendable (Offer, PeerID, WallTime) -> UInt64?
    private let permits: TransferPermits
    private let caps: CapKeeper

    /// - Parameters:
    ///   - policy: the current rules.
    ///   - setting: the current time, types, visibility and options of this receiver.
    ///   - dayAmount: bytes received in 24 hours from a peer, including its offer; nil if unknown. Called only if a
    ///     rule or limit needs it; may block on the disk.
    ///   - permits: the transfers that the user lets in by a spoken code.
    package init(
        book: ContactBook,
        policy: @escaping @Sendable () -> Policy,
        setting: @escaping @Sendable () -> PolicySetting,
        dayAmount: @escaping @Sendable (Offer, PeerID, WallTime) -> UInt64? = { _, _, _ in nil },
        permits: TransferPermits = TransferPermits(), caps: QuestionCaps.Bounds = .standard
    ) {
        self.permits = permits
        self.book = book
        self.policy = policy
        self.setting = setting
        self.dayAmount = dayAmount
        self.caps = CapKeeper(caps)
    }

    /// The access that a peer's relation allows, by the same rules that judge its offers. May block on the disk.
    package func access(of peer: PeerID, by dialect: Dialect) -> PeerAccess {
        guard let snapshot = try? book.snapshot() else { return .barred(Self.unknowable) }
        let relation = snapshot.relation(of: peer, by: dialect)
        let setting = setting().seen(by: dialect).permitting(permits.covers(from: peer, at: .now))
        if let refusal = Policy.refusal(to: relation, setting) { return .barred(refusal) }
        return relation == .stranger ? .stranger : .contact
    }

    /// Refuses an offer if no item could be accepted, even by the user. May block on the disk.
    ///
    /// - Returns: one verdict for each item; nil if an item may still be accepted.
    package func refusal(of offer: Offer, from peer: PeerID) -> [ItemVerdict]? {
        guard let snapshot = try? book.snapshot() else {
            return Array(repeating: Self.unknowable, count: offer.items.count)
        }
        let relation = snapshot.relation(of: peer, by: offer.dialect)
        let (policy, setting) = (policy(), setting(for: offer, from: peer))
        if let hindrance = hindrance(of: offer, from: peer, relation, policy, setting, .now) {
            return Array(repeating: Self.tooMany(hindrance), count: offer.items.count)
        }
        // Most policies decline nothing: the offer need not be judged twice.
        guard policy.mayDecline(relation, setting) else { return nil }
        let introduction = snapshot.introduction(of: peer, callingItself: offer.senderName)
        let answer = decided(offer, from: peer, relation, introduction, policy, setting)
        return answer.verdicts.contains { $0 == nil || $0?.answer == .accepted } ? nil : answer.completed()
    }

    /// Judges an offer by the user's rules and settings. May block on the disk.
    ///
    /// If the contacts cannot be read, blocked peers are unknown too: every item is refused as `busy`.
    /// - Parameter now: the time for the caps.
    package func judge(
        _ offer: Offer, from peer: PeerID, now: ContinuousClock.Instant = .now
    ) -> GateAnswer {
        let snapshot: ContactSnapshot
        do {
            snapshot = try book.snapshot()
        } catch {
            return GateAnswer(
                offer: offer,
                introduction: ContactSnapshot.empty.introduction(of: peer, callingItself: offer.senderName),
                all: Self.unknowable, because: error.description)
        }
        let introduction = snapshot.introduction(of: peer, callingItself: offer.senderName)
        let (policy, setting) = (policy(), setting(for: offer, from: peer))
        let relation = snapshot.relation(of: peer, by: offer.dialect)
        if let hindrance = hindrance(of: offer, from: peer, relation, policy, setting, now) {
            return Self.flooded(offer, introduction, hindrance)
        }
        var answer = decided(offer, from: peer, relation, introduction, policy, setting)
        guard answer.asks, relation == .stranger else { return answer }
        switch caps.begin(peer, at: now) {
        case .success(let question): answer.question = question
        case .failure(let hindrance): return Self.flooded(offer, introduction, hindrance)
        }
        return answer
    }

    private func setting(for offer: Offer, from peer: PeerID) -> PolicySetting {
        let isPermitted = permits.covers(offer.transfer, from: peer, at: .now)
        return setting().seen(by: offer.dialect).permitting(isPermitted)
    }

    private func decided(
        _ offer: Offer, from peer: PeerID, _ relation: PeerRelation, _ introduction: Introduction, _ policy: Policy,
        _ setting: PolicySetting
    ) -> GateAnswer {
        let dayAmount = policy.needsDayAmount(for: relation) ? dayAmount(offer, peer, setting.at) : nil
        return GateAnswer(
            offer: offer, introduction: introduction,
            policy.decide(offer, from: relation, setting, dayAmount: dayAmount), setting)
    }

    /// Why the offer, which would cause a question, may not: this stranger's limit of questions is reached. Only the first
    /// item is judged, so that a flood costs little.
    private func hindrance(
        of offer: Offer, from peer: PeerID, _ relation: PeerRelation, _ policy: Policy, _ setting: PolicySetting,
        _ now: ContinuousClock.Instant
    ) -> QuestionCaps.Hindrance? {
        guard relation == .stranger, let first = offer.items.first,
            let hindrance = caps.hindrance(of: peer, at: now),
            policy.decide(first, of: OfferTotals(offer), from: relation, setting).outcome == .ask
        else { return nil }
        return hindrance
    }

    private static let unknowable = ItemVerdict(
        .busy, reason: "the other side cannot read its contacts now", cause: .fault)

    private static func tooMany(_ hindrance: QuestionCaps.Hindrance) -> ItemVerdict {
        switch hindrance {
        case .waiting: .tooManyOffersWait
        case .rate(let time):
            ItemVerdict(.busy, reason: "too many questions in a minute; try again in \(time.wholeSeconds) s")
        }
    }

    private static func flooded(
        _ offer: Offer, _ introduction: Introduction, _ hindrance: QuestionCaps.Hindrance
    ) -> GateAnswer {
        GateAnswer(
            offer: offer, introduction: introduction,
            all: tooMany(hindrance), because: "strangers have offered too much in too short a time")
    }

    /// Number of strangers' questions that wait now.
    package var waitingQuestions: Int { caps.waitingCount }
}

/// A stranger's question. It counts as waiting until this object is released.
package final class CountedQuestion: Sendable {
    private let peer: PeerID
    private let caps: CapKeeper

    fileprivate init(_ peer: PeerID, _ caps: CapKeeper) {
        self.peer = peer
        self.caps = caps
    }

    deinit {
        caps.end(peer)
    }
}

private final class CapKeeper: Sendable {
    private let caps: Mutex<QuestionCaps>

    init(_ bounds: QuestionCaps.Bounds) {
        caps = Mutex(QuestionCaps(bounds))
    }

    func begin(_ peer: PeerID, at now: ContinuousClock.Instant) -> Result<CountedQuestion, QuestionCaps.Hindrance> {
        let hindrance = caps.withLock { $0.begin(peer, at: now) }
        return hindrance.map { .failure($0) } ?? .success(CountedQuestion(peer, self))
    }

    func hindrance(of peer: PeerID, at now: ContinuousClock.Instant) -> QuestionCaps.Hindrance? {
        caps.withLock { $0.hindrance(of: peer, at: now) }
    }

    func end(_ peer: PeerID) { caps.withLock { $0.end(peer) } }

    var waitingCount: Int { caps.withLock { $0.waitingCount } }
}

/// The decisions on an offer's items before the user is asked.
package struct GateAnswer: Sendable {
    /// The sender, for display.
    package let introduction: Introduction
    /// The verdict on each item; nil if the user must be asked.
    package let verdicts: [ItemVerdict?]
    /// The reason and the destination of each item; empty if the offer as a whole was refused.
    package let decisions: [PolicyDecision]
    /// The reason for the user, one line, if the offer as a whole was refused; otherwise nil.
    package let refusal: String?
    /// Keep it while the offer waits: see `CountedQuestion`.
    package internal(set) var question: CountedQuestion?

    /// The numbers of the items about which the user must be asked.
    package var open: [Int] { verdicts.indices.filter { verdicts[$0] == nil } }

    package var asks: Bool { verdicts.contains { $0 == nil } }

    init(offer: Offer, introduction: Introduction, all verdict: ItemVerdict, because refusal: String) {
        self.introduction = introduction
        verdicts = Array(repeating: verdict, count: offer.items.count)
        decisions = []
        self.refusal = refusal
    }

    init(offer: Offer, introduction: Introduction, _ decisions: [PolicyDecision], _ setting: PolicySetting) {
        self.introduction = introduction
        self.decisions = decisions
        refusal = nil
        // Most items are accepted for the same reason and share one verdict.
        var accepted = ItemVerdict.accepted
        let verdicts = decisions.map { decision -> ItemVerdict? in
            let admittedAs = decision.admittedAs
            if accepted.admittedAs != admittedAs {
                accepted = .accepted
                accepted.admittedAs = admittedAs
            }
            return switch decision.outcome {
            case .accept: accepted
            case .ask: nil
            case .decline: decision.refusal(setting)
            }
        }
        self.verdicts = Self.whole(verdicts, takesPart: offer.takesPart)
    }

    /// The offer with only those items about which the user must be asked.
    package func rest(of offer: Offer) -> Offer {
        var rest = offer
        rest.items = open.map { offer.items[$0] }
        return rest
    }

    /// The answers to all items. The user may accept some items and refuse others against the sender's wish.
    ///
    /// - Parameter answers: the answers to `open`, in its order. A missing answer is a refusal.
    /// - Returns: the verdicts. An accepted item has its destination: the one in the user's answer, or else the one
    ///   from the user's rules.
    package func completed(with answers: [ItemVerdict] = []) -> [ItemVerdict] {
        var verdicts = verdicts.map { $0 ?? .leftOut }
        for (number, index) in open.enumerated() where number < answers.count { verdicts[index] = answers[number] }
        for (index, decision) in decisions.enumerated() where verdicts[index].answer == .accepted {
            let destination = verdicts[index].destination.or(decision.destination)
            // Most verdicts have no destination. Setting an equal one would allocate memory for each.
            if destination != verdicts[index].destination { verdicts[index].destination = destination }
        }
        return verdicts
    }

    /// If a sender wants all or nothing and one item is refused, all are refused without a question.
    private static func whole(_ verdicts: [ItemVerdict?], takesPart: Bool) -> [ItemVerdict?] {
        guard !takesPart, verdicts.contains(where: { $0.map { $0.answer != .accepted } ?? false }) else {
            return verdicts
        }
        return verdicts.map { verdict in
            guard let verdict, verdict.answer != .accepted else { return .leftOut }
            return verdict
        }
    }
}

/// Asks the user only about undecided items. Stands between a `Reception` and the port that asks people.
package struct GatedConsent: ConsentAsking {
    private let gate: OfferGate
    private let asking: any ConsentAsking
    private let observe: @Sendable (Offer, PeerID, GateAnswer) -> Void

    /// - Parameters:
    ///   - asking: receives the items that no rule decides.
    ///   - observe: called with the gate's decisions, before the user is asked.
    package init(
        _ gate: OfferGate,
        asking: any ConsentAsking,
        observe: @escaping @Sendable (Offer, PeerID, GateAnswer) -> Void = { _, _, _ in }
    ) {
        self.gate = gate
        self.asking = asking
        self.observe = observe
    }

    package func consent(
        to offer: Offer, from peer: PeerID, freeRoom: UInt64, waits: @escaping @Sendable () -> Void
    ) async -> [ItemVerdict] {
        let answer = gate.judge(offer, from: peer)
        observe(offer, peer, answer)
        guard answer.asks else { return answer.completed() }
        let answers = await asking.consent(to: answer.rest(of: offer), from: peer, freeRoom: freeRoom, waits: waits)
        // The question counts as waiting until here.
        return withExtendedLifetime(answer.question) { answer.completed(with: answers) }
    }
}
