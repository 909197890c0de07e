import Sharing
import WebPages

/// The guests of a session, in the order in which they were last heard of; at most `WebLimits.guests`.
///
/// One person with the code can come in as any number of guests. So when there is no room, a guest of the address that has
/// the most of them is forgotten: the one that was not heard of for the longest time, and never one that is at work.
struct Guests {
    private struct Entry {
        let guest: Guest
        let address: AddressKey?
        /// Its requests that are being answered.
        var requests = 0
    }

    private var entries: [Entry] = []

    var isEmpty: Bool { entries.isEmpty }

    /// The guest of a token; nil if it is unknown.
    func guest(_ token: String) -> Guest? {
        entries.first { WebSecret.areEqual($0.guest.token, token) }?.guest
    }

    /// - Parameter isAtWork: whether an offer of a guest is not over.
    /// - Returns: whether there was room.
    mutating func add(_ guest: Guest, at address: AddressKey?, isAtWork: (Guest) -> Bool) -> Bool {
        if entries.count >= WebLimits.guests {
            let counts = Dictionary(entries.map { ($0.address, 1) }, uniquingKeysWith: +)
            let resting = entries.indices.filter { entries[$0].requests == 0 && !isAtWork(entries[$0].guest) }
            guard
                let place = resting.min(by: {
                    (-counts[entries[$0].address, default: 0], $0) < (-counts[entries[$1].address, default: 0], $1)
                })
            else { return false }
            entries.remove(at: place)
        }
        entries.append(Entry(guest: guest, address: address))
        return true
    }

    /// A request of a guest begins. It is the last of all to be forgotten.
    /// - Returns: whether it is counted, until `endRequest`; false for a guest that was forgotten.
    mutating func beginRequest(_ guest: Guest) -> Bool {
        guard let place = entries.firstIndex(where: { $0.guest == guest }) else { return false }
        var entry = entries.remove(at: place)
        entry.requests += 1
        entries.append(entry)
        return true
    }

    mutating func endRequest(_ guest: Guest) {
        guard let place = entries.firstIndex(where: { $0.guest == guest }) else { return }
        entries[place].requests -= 1
    }
}
