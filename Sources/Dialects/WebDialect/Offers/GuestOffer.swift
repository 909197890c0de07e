import NIOCore
import NIOHTTP1
import Sharing
import Synchronization

/// An offer of a guest, from its question to its end: it waits for the host, and takes files in pieces.
///
/// Each piece is a request of its own. A connection that breaks off loses nothing that has come: the file stays open, and
/// goes on at its offset. Files are written one after the other (`FileTurns`).
final class GuestOffer: Sendable {
    /// How long it waits for its guest.
    struct Waits: Sendable {
        /// While the host decides.
        var asking: Duration
        /// For the next piece.
        var piece: Duration
        /// While another file wants to begin.
        var turn: Duration
    }

    /// Why a piece is not taken.
    struct Refusal: Error {
        var status: HTTPResponseStatus
        var report: PieceReport
    }

    struct State {
        var report: OfferReport
        /// Files that are accepted and neither stored nor failed.
        var filesLeft = 0
        var contents: ScatteredContents?
        /// The requests for files that are open, and those that follow the state.
        var requests: [Int: (file: Int, interrupt: @Sendable () -> Void)] = [:]
        var pollers: [Int: CheckedContinuation<Void, Never>] = [:]
        var polls = 0
        var next = 0
        var lastActive = ContinuousClock.now
        /// Why nothing more is taken.
        var fault: TransferError?
        var judging: Task<Void, Never>?
        var isClosed = false
    }

    let id = TransferID().text
    let guest: Guest
    let items: GuestItems
    let waits: Waits
    let reception: Reception
    let turns: FileTurns
    let state: Mutex<State>

    private let ended: @Sendable () -> Void

    /// - Parameter ended: called when the offer is over.
    init(
        _ items: GuestItems, of guest: Guest, _ reception: Reception, waits: Waits,
        ended: @escaping @Sendable () -> Void = {}
    ) {
        (self.items, self.guest, self.reception, self.waits, self.ended) = (items, guest, reception, waits, ended)
        turns = FileTurns(patience: waits.turn)
        let early = reception.ineligible(in: items.offer)
        let rows = zip(items.offer.items, early).map { item, verdict in
            OfferReport.Item(
                name: item.name.text, kind: item.kind.rawValue, answer: verdict?.answer.rawValue,
                reason: verdict?.reason ?? "")
        }
        let files = items.files.map { OfferReport.File(item: $0.place.item, name: $0.name) }
        state = Mutex(State(report: OfferReport(items: rows, files: files)))
    }

    var ticket: OfferTicket { OfferTicket(offer: id, items: report.items) }

    var report: OfferReport { state.withLock { $0.report } }

    var isOver: Bool { state.withLock { $0.report.state != .waiting && $0.report.state != .answered } }

    // MARK: The answer

    /// Asks the host, and watches over the guest. Returns at once.
    func start(_ visitor: Visitor, on threads: (any TaskExecutor)?) {
        let task = Task(executorPreference: threads) { [self] in
            let verdict = await reception.judge(items.offer, from: visitor) { [self] in
                state.withLock { $0.fault?.cause } ?? .receiverStopped
            }
            await answer(verdict)
        }
        let isWithdrawn = state.withLock { state in
            state.judging = task
            return state.fault != nil
        }
        if isWithdrawn { task.cancel() }
        Task(executorPreference: threads) { [weak self] in
            while let pause = await self?.closeIfLeft() { try? await Task.sleep(for: pause) }
        }
    }

    private func answer(_ verdict: Verdict) async {
        // The end of the offer waits until the transfer is open: it would find nothing to close.
        _ = await turns.take(.end)
        begin(by: verdict)
        turns.give(open: nil)
        if state.withLock({ $0.contents != nil && $0.filesLeft == 0 }) { await close(.done, Self.notAll) }
    }

    private func begin(by verdict: Verdict) {
        let isWithdrawn = change { state in
            for (index, item) in verdict.items.enumerated() where state.fault == nil || item.answer != .accepted {
                state.report.items[index].answer = item.answer.rawValue
                state.report.items[index].reason = item.reason
            }
            return state.fault != nil
        }
        guard !isWithdrawn else { return }
        guard verdict.acceptsAnything else {
            let isExpired = verdict.items.allSatisfy { $0.answer == .expired }
            change { state in
                state.report.cause = verdict.items.first?.causeForSender
                state.report.state =
                    state.report.cause == .receiverStopped ? .gone : isExpired ? .expired : .done
            }
            return ended()
        }
        do throws(TransferError) {
            try open(verdict)
        } catch {
            change { state in
                for (index, item) in verdict.items.enumerated() where item.answer == .accepted {
                    state.report.items[index].failed = error.message
                }
                state.report.state = .done
            }
            return ended()
        }
    }

    /// Opens the transfer, and stores the texts and links, which have come with the question.
    private func open(_ verdict: Verdict) throws(TransferError) {
        let transfer = try reception.begin(
            items.offer.transfer, from: guest.peer, binding: .scattered,
            interrupt: { [weak self] in
                guard let self else { return }
                Task {
                    await self.close(.cancelled, TransferError(.stopping, "the receiver takes no more", cause: .rule))
                }
            })
        let isAccepted = verdict.items.map { $0.answer == .accepted }
        var counts: [Int: Int] = [:]
        for file in items.files where isAccepted[file.place.item] { counts[file.place.item, default: 0] += 1 }
        for item in items.texts.keys where isAccepted[item] { counts[item] = 1 }
        let contents = ScatteredContents(transfer, filesLeft: counts)
        for (item, text) in items.texts.sorted(by: { $0.key < $1.key }) where isAccepted[item] {
            let place = OfferedFiles.Member(item: item, size: UInt64(text.count))
            var fault: TransferError?
            do throws(TransferError) {
                try contents.take(place, text)
            } catch {
                fault = error
            }
            change { $0.settle(item, contents.outcome(of: item), fault) }
        }
        change { state in
            state.contents = contents
            state.filesLeft = items.files.count { isAccepted[$0.place.item] }
            state.report.state = .answered
            state.lastActive = .now
        }
    }

    // MARK: Following

    /// The state, when it is another one than `version`, or the time is over.
    func report(after version: Int?, within time: Duration) async -> OfferReport {
        let number = state.withLock { state in
            state.next += 1
            state.polls += 1
            return state.next
        }
        defer {
            state.withLock { state in
                state.polls -= 1
                state.lastActive = .now
            }
        }
        guard let version, time > .zero else { return report }
        let timer = Task { [weak self] in
            try? await Task.sleep(for: time)
            self?.release(number)
        }
        defer { timer.cancel() }
        await withTaskCancellationHandler {
            await withCheckedContinuation { (poller: CheckedContinuation<Void, Never>) in
                let isDue = state.withLock { state in
                    if state.report.version != version || Task.isCancelled { return true }
                    state.pollers[number] = poller
                    return false
                }
                if isDue { poller.resume() }
            }
        } onCancel: {
            release(number)
        }
        return report
    }

    private func release(_ poller: Int) { state.withLock { $0.pollers.removeValue(forKey: poller) }?.resume() }

    /// Changes the state, and tells those that follow it.
    @discardableResult
    func change<Result: Sendable>(_ body: (inout State) -> Result) -> Result {
        let (result, pollers) = state.withLock { state in
            let result = body(&state)
            state.report.version += 1
            defer { state.pollers = [:] }
            return (result, Array(state.pollers.values))
        }
        for poller in pollers { poller.resume() }
        return result
    }

    // MARK: The end

    /// Closes an offer whose guest has left.
    /// - Returns: when to look again; nil if it is over.
    private func closeIfLeft() async -> Duration? {
        let (phase, idle) = state.withLock { state in
            let isActive = state.polls > 0 || !state.requests.isEmpty
            return (state.report.state, isActive ? .zero : ContinuousClock.now - state.lastActive)
        }
        let wait: Duration
        switch phase {
        case .waiting: wait = waits.asking
        case .answered: wait = waits.piece
        default: return nil
        }
        guard idle >= wait else { return min(wait - idle, waits.asking) }
        await close(
            phase == .waiting ? .cancelled : .done, TransferError(.interrupted, "the guest has left", cause: .timeout))
        return nil
    }

    /// Takes nothing more, ends the requests that are open, and closes the transfer.
    /// - Parameter fault: why the rest did not come.
    func close(_ phase: OfferReport.Phase, _ fault: TransferError) async {
        let (interrupts, judging, isFirst) = state.withLock { state in
            let isFirst = state.fault == nil && (state.report.state == .waiting || state.report.state == .answered)
            if isFirst { state.fault = fault }
            // At a good end, the requests that are open get their answers.
            let interrupts = isFirst && phase != .done ? state.requests.values.map(\.interrupt) : []
            return (interrupts, state.judging, isFirst)
        }
        guard isFirst else { return }
        judging?.cancel()
        for interrupt in interrupts { interrupt() }
        _ = await turns.take(.end)
        let contents = state.withLock { $0.contents }
        let receipt = contents?.close(fault, into: reception)
        change { state in
            for (index, item) in (receipt?.items ?? []).enumerated() {
                state.settle(index, item.outcome, state.report.items[index].answer == "accepted" ? fault : nil)
            }
            state.report.cause = phase == .cancelled ? fault.cause : nil
            state.report.state = phase == .cancelled && fault.cause != .senderCancelled ? .gone : phase
        }
        turns.give(open: nil)
        ended()
    }

    static let notAll = TransferError(.interrupted, "not all of it has come")
}

extension GuestOffer.State {
    /// Takes over what became of an item.
    /// - Parameter fault: why it failed if it is neither stored nor said to have failed.
    mutating func settle(_ item: Int, _ outcome: ItemReceipt.Outcome, _ fault: TransferError?) {
        switch outcome {
        case .stored(let name, _, _): report.items[item].stored = name
        case .failed(let reason): report.items[item].failed = reason.message
        case .notSent: if let fault { report.items[item].failed = report.items[item].failed ?? fault.message }
        }
    }
}

extension ScatteredContents {
    /// Takes a file whose contents are here.
    fileprivate func take(_ place: OfferedFiles.Member, _ bytes: [UInt8]) throws(TransferError) {
        try begin(place)
        do throws(TransferError) {
            try ByteBuffer(bytes: bytes).withUnsafeReadableBytes { (raw) throws(TransferError) in try write(raw) }
            try endFile(place)
        } catch {
            try drop(error)
            throw error
        }
        try endItem(place)
    }
}
