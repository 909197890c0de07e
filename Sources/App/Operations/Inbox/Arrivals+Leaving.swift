import Control
import Endpoints
import Inbox
import Journal
package import Lines
import Settings
package import Sharing

// Items leave the Inbox one after another: each is moved on the disk, recorded, and reported.
extension Arrivals {
    private struct Ending {
        var toward = ""
        /// Problems beside the success.
        var remarks: [String] = []
        /// Whether it is out of the Inbox.
        var hasLeft = true
        var wasGone = false
    }

    /// Deletes an item. The journal forgets one that is gone already.
    /// - Parameter now: does not wait for handlers that read it.
    /// - Returns: a failure: `inputMissing` if it has left before, `noAnswer` if a handler still reads it after five
    ///   seconds, `contentChanged` if something else is in its place, `unexpected` for the disk.
    /// - Throws: `WaftError` if the journal or the receiver cannot be asked.
    package func remove(_ item: ChosenItem, now: Bool = false) async throws(WaftError) -> Result<RemovedLine, WaftError>
    {
        let inbox = try place()
        let gone = Ending(wasGone: true)
        return try await leave(item, .removed, now: now, whenReplaced: gone) { arrival throws(LeavingError) in
            try InboxLeaving.remove(arrival, inbox: inbox) ? Ending() : gone
        }.map { RemovedLine(ItemName($0), wasGone: $1.wasGone, remarks: $1.remarks) }
    }

    /// Moves an item out of the Inbox, with the modes of the user's own files. A sealed one is opened on its way.
    /// - Parameters:
    ///   - folder: an existing folder outside the Inbox.
    ///   - name: the new name; nil for its own, with a number if that is taken.
    ///   - now: does not wait for handlers that read it.
    ///   - copied: called with the bytes that were copied since the last call.
    /// - Returns: a failure: as `remove`; `usage` if the folder or the name cannot be used, `noRoom`, `locked`.
    /// - Throws: as `remove`.
    package func take(
        _ item: ChosenItem, to folder: String, name: SafeName? = nil, now: Bool = false,
        copied: (Int) -> Void = { _ in }
    ) async throws(WaftError) -> Result<TakenLine, WaftError> {
        let (inbox, keys) = (try place(), waft.receiver.fileKeys)
        return try await leave(item, .taken, now: now) { arrival throws(LeavingError) in
            let taken = try InboxLeaving.take(
                arrival, inbox: inbox, to: folder, name: name, keys: keys, copied: copied)
            return Ending(toward: taken.path, remarks: [taken.remark].compactMap(\.self), hasLeft: taken.hasLeft)
        }.map { TakenLine(ItemName($0), toward: $1.toward, remarks: $1.remarks) }
    }

    /// - Parameter whenReplaced: the ending of an item that is gone, and whose place a later item has; nil: a failure.
    private func leave(
        _ item: ChosenItem, _ how: Departure.How, now: Bool, whenReplaced: Ending? = nil,
        _ leave: (Arrival) throws(LeavingError) -> Ending
    ) async throws(WaftError) -> Result<(Arrival, Ending), WaftError> {
        // It may have left since it was chosen.
        guard let chosen = item.entry, let entry = try entry(chosen.arrival.number) else {
            if case .unknown(let word) = item { return .failure(WaftError(.inputMissing, Self.unknown(word))) }
            return .failure(WaftError(.inputMissing, "it is no longer in the journal"))
        }
        let number = entry.arrival.number
        if let leaving = entry.leaving { return .failure(WaftError(.inputMissing, "\(entry.head): \(leaving)")) }
        switch try await waft.receiver.askIfRunning(.release(arrival: number.value, now: now)) {
        case .done, nil: break
        case .beingRead(let handler, let seconds): return .failure(.beingRead(entry, by: handler, seconds))
        case .refused(let reason): throw WaftError(.unexpected, reason)
        default: throw .noAnswer
        }
        // Another program may have moved it, and a later item may have its place.
        let isThere = try read { reader throws(JournalError) in try reader.isThere(number) }
        guard isThere || whenReplaced != nil else {
            return .failure(
                WaftError(
                    .inputMissing, "\(entry.head): it is gone, and a later item has its place",
                    hint: "waft inbox remove \(number) forgets it, and leaves the later one alone"))
        }
        var ending: Ending
        do throws(LeavingError) {
            ending = try Self.keepingHandlersAway(renew: { [receiver = waft.receiver] in
                _ = try? await receiver.askIfRunning(.release(arrival: number.value, now: true))
            }) { () throws(LeavingError) in
                if !isThere, let whenReplaced { return whenReplaced }
                return try leave(entry.arrival)
            }
        } catch {
            return .failure(WaftError(error))
        }
        if ending.hasLeft {
            do throws(WaftError) {
                try await record(number, how, toward: ending.toward)
            } catch {
                ending.remarks.append("the journal still lists it: \(error.reason)")
            }
        }
        return .success((entry.arrival, ending))
    }

    /// Keeps handlers from an item until it has left: the receiver does so for half a minute, and a copy to another disk
    /// can take longer.
    /// - Parameters:
    ///   - period: time between two renewals.
    ///   - renew: called on another thread than `leave`, which blocks.
    static func keepingHandlersAway<Result>(
        every period: Duration = .seconds(10), renew: @escaping @Sendable () async -> Void,
        _ leave: () throws(LeavingError) -> Result
    ) throws(LeavingError) -> Result {
        let renewal = Task {
            while true {
                try await Task.sleep(for: period)
                await renew()
            }
        }
        defer { renewal.cancel() }
        return try leave()
    }

    private func record(_ number: ArrivalNumber, _ how: Departure.How, toward: String) async throws(WaftError) {
        let folder = waft.home.state
        let request = ControlRequest.departed(arrival: number.value, how: how, toward: toward)
        _ = try await waft.receiver.change(request) { () throws(WaftError) in
            do throws(JournalError) {
                try Journal(folder: folder, dialects: .known).departed(
                    [number], Departure(how, at: .now, toward: toward))
            } catch {
                throw WaftError(.unexpected, error.description)
            }
        }
    }
}
