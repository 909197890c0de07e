import Glibc
import Logging
import Sharing

extension DeliveryEngine: DeliveryFacts {
    var now: WallTime { clock.now() }
    var uptime: Duration { clock.uptime() }

    func canOpen(_ protection: ProtectionClass) -> Bool {
        !protection.isSealed || surroundings.copies?.canOpen(protection) ?? false
    }

    func arrival(_ number: ArrivalNumber) -> JournalledArrival {
        do {
            return try journal.arrival(number).map { .there($0) } ?? .none
        } catch {
            logger.error("an arrival cannot be read", metadata: ["number": "\(number)", "reason": "\(error)"])
            return .unreadable
        }
    }

    func subject(_ arrival: Arrival) -> HandlerChoice.Subject { surroundings.subject(arrival) }

    func candidates(for subject: HandlerChoice.Subject) -> [HandlerChoice.Candidate] {
        surroundings.choice().candidates(for: subject)
    }

    func absence(of program: HandlerProgram) -> String? { caller.absence(of: program) }

    func presence(of arrival: Arrival) -> ItemPresence {
        let presence = presence(atPlaceOf: arrival)
        guard presence == .gone, let moved = surroundings.findAgain(arrival) else { return presence }
        return self.presence(atPlaceOf: moved)
    }

    /// As `presence`, without a search for another place.
    func presence(atPlaceOf arrival: Arrival) -> ItemPresence {
        // Another item may have its name by now. A fault of the journal shows when the call is recorded.
        if (try? journal.isThere(arrival.number)) == false { return .left }
        var status = stat()
        if lstat(arrival.stored.path, &status) == 0 || errno != ENOENT { return .there(arrival) }
        // While the disk of the Inbox is not mounted, the item may still exist.
        return surroundings.isInboxThere() ? .gone : .unknown
    }

    func fits(_ arrivals: [Arrival]) -> Bool { surroundings.copies?.fits(arrivals) ?? true }
}
