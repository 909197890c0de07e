import NIOCore
import NIOHTTP1
import Sharing
import Synchronization

/// The files of an offer, which come in pieces.
extension GuestOffer {
    /// Takes the next piece of a file.
    ///
    /// - Parameters:
    ///   - number: the file's place in the question.
    ///   - offset: where the piece begins.
    ///   - interrupt: ends the request.
    ///   - next: the next bytes, nil at their end. Called in the file's turn only.
    /// - Throws: `Refusal`, or the error of `next`. The bytes before the error stay.
    func take(
        _ number: Int, from offset: UInt64, interrupt: @escaping @Sendable () -> Void,
        next: () async throws -> ByteBuffer?
    ) async throws -> PieceReport {
        let request = try enter(number, offset, interrupt)
        defer { leave(request) }
        let open = await turns.take(.file(number))
        let contents: ScatteredContents
        do {
            contents = try turn(of: number, at: offset, open)
        } catch {
            turns.give(open: state.withLock { $0.fault == nil } ? open : nil)
            throw error
        }
        let stays: Int?
        do {
            if offset == 0, open != number { try begin(number, contents, instead: open) }
            while let bytes = try await next() { try write(bytes, number, contents) }
            stays = try end(number, contents) ? nil : number
        } catch let fault as TransferError {
            fail(number, fault, contents)
            stays = nil
        } catch {
            // The connection broke off. The file stays open, and continues at this place.
            turns.give(open: number)
            throw error
        }
        turns.give(open: stays)
        if state.withLock({ $0.filesLeft == 0 }) { await close(.done, Self.notAll) }
        return piece(of: number)
    }

    /// Enters a request, and ends an earlier one for the same file: its sender has lost it.
    private func enter(
        _ number: Int, _ offset: UInt64, _ interrupt: @escaping @Sendable () -> Void
    ) throws(Refusal) -> Int {
        let (request, earlier) = try state.withLock { state throws(Refusal) in
            try check(number, offset, state)
            let earlier = state.requests.values.filter { $0.file == number }
            state.next += 1
            state.requests[state.next] = (number, interrupt)
            return (state.next, earlier)
        }
        for request in earlier { request.interrupt() }
        return request
    }

    private func check(_ number: Int, _ offset: UInt64, _ state: borrowing State) throws(Refusal) {
        guard state.report.files.indices.contains(number) else {
            throw Refusal(
                status: .notFound, report: PieceReport(offset: 0, state: .failed, message: "there is no such file"))
        }
        let file = state.report.files[number]
        let report = PieceReport(
            offset: file.offset, state: file.state, message: file.message,
            stored: items.files[number].place.path == nil ? state.report.items[file.item].stored : nil)
        // The answer to the last piece was lost: it is given again.
        if file.state == .stored || file.state == .failed {
            throw Refusal(status: offset == file.offset || file.state == .failed ? .ok : .conflict, report: report)
        }
        guard state.report.items[file.item].answer == ItemVerdict.Answer.accepted.rawValue else {
            throw Refusal(status: .forbidden, report: report.saying("it is not accepted"))
        }
        guard state.fault == nil, state.report.state == .answered else {
            throw Refusal(status: .gone, report: report.saying(state.fault?.message ?? "this offer is over"))
        }
    }

    private func leave(_ request: Int) {
        state.withLock { state in
            state.requests[request] = nil
            state.lastActive = .now
        }
    }

    /// Checks in a file's turn that its piece is the next one.
    private func turn(of number: Int, at offset: UInt64, _ open: Int?) throws(Refusal) -> ScatteredContents {
        try state.withLock { state throws(Refusal) in
            try check(number, offset, state)
            let file = state.report.files[number]
            guard file.offset == offset, let contents = state.contents else {
                throw Refusal(status: .conflict, report: PieceReport(offset: file.offset, state: file.state))
            }
            return contents
        }
    }

    /// - Parameter lost: another file that has begun, and was waited for long enough: it begins again when it comes.
    private func begin(_ number: Int, _ contents: ScatteredContents, instead lost: Int?) throws(TransferError) {
        if let lost {
            try contents.drop(TransferError(.interrupted, "the rest of it did not come"))
            state.withLock { state in
                state.report.files[lost].offset = 0
                state.report.files[lost].state = .waiting
            }
        }
        try contents.begin(items.files[number].place)
        state.withLock { $0.report.files[number].state = .coming }
    }

    private func write(_ bytes: ByteBuffer, _ number: Int, _ contents: ScatteredContents) throws(TransferError) {
        if let fault = state.withLock({ $0.fault }) { throw fault }
        try bytes.withUnsafeReadableBytes { (raw) throws(TransferError) in try contents.write(raw) }
        state.withLock { $0.report.files[number].offset += UInt64(bytes.readableBytes) }
    }

    /// - Returns: whether the file is complete, and is stored.
    private func end(_ number: Int, _ contents: ScatteredContents) throws(TransferError) -> Bool {
        let place = items.files[number].place
        guard state.withLock({ $0.report.files[number].offset }) == place.size else { return false }
        try contents.endFile(place)
        do throws(TransferError) {
            try contents.endItem(place)
        } catch {
            settle(number, contents, .failed, error)
            return true
        }
        settle(number, contents, .stored, nil)
        return true
    }

    private func fail(_ number: Int, _ fault: TransferError, _ contents: ScatteredContents) {
        try? contents.drop(fault)
        settle(number, contents, .failed, fault)
    }

    /// A file is stored or has failed. With an item, all its files fail that are still to come.
    private func settle(
        _ number: Int, _ contents: ScatteredContents, _ result: OfferReport.File.State, _ fault: TransferError?
    ) {
        let item = items.files[number].place.item
        let outcome = contents.outcome(of: item)
        change { state in
            state.report.files[number].state = result
            state.report.files[number].message = fault?.message
            state.filesLeft -= 1
            state.settle(item, outcome, items.files[number].place.path == nil ? fault : nil)
            guard let failed = state.report.items[item].failed else { return }
            for index in state.report.files.indices where state.report.files[index].item == item {
                let file = state.report.files[index]
                guard file.state != .stored, file.state != .failed else { continue }
                state.report.files[index].state = .failed
                state.report.files[index].message = failed
                state.filesLeft -= 1
            }
        }
    }

    private func piece(of number: Int) -> PieceReport {
        state.withLock { state in
            let file = state.report.files[number]
            return PieceReport(
                offset: file.offset, state: file.state, message: file.message,
                stored: items.files[number].place.path == nil ? state.report.items[file.item].stored : nil)
        }
    }
}

extension PieceReport {
    fileprivate func saying(_ message: String) -> PieceReport {
        var report = self
        report.message = message
        return report
    }
}
