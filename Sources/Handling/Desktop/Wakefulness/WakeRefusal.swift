package import DBusClient
import Foundation

/// The locks for the time of a transfer, as logind has answered.
struct WakeLocks: Sendable {
    var granted: [SleepLock] = []
    var refusal: WakeRefusal?
    /// Why a lock is not granted, also without logind.
    var fault: BusError?

    /// Requests both, one after the other: one that is refused leaves the other.
    static func request(from bus: BusAddress) async -> WakeLocks {
        var locks = WakeLocks()
        for purpose in SleepLock.Purpose.transfer {
            do throws(BusError) {
                locks.granted.append(try await SleepLock.request(purpose, from: bus))
            } catch {
                locks.fault = error
                guard error.isByLogind else { continue }
                locks.refusal = WakeRefusal(what: (locks.refusal?.what ?? []) + [purpose.what], reason: "\(error)")
            }
        }
        return locks
    }
}

/// The locks that logind refused, and why.
package struct WakeRefusal: Hashable, Sendable {
    /// `idle`: idleness may make the machine sleep; `sleep`: a command of a person may. At least one.
    package let what: [String]
    /// One line, not escaped.
    package let reason: String

    /// Asks logind whether it grants the locks, and gives them back at once.
    ///
    /// - Returns: nil if it grants both; also without logind, which lets nothing sleep.
    package static func probe(
        _ bus: BusAddress = .system(ProcessInfo.processInfo.environment)
    ) async -> WakeRefusal? {
        await WakeLocks.request(from: bus).refusal
    }

    /// One line for people, not escaped.
    package var words: String {
        let causes = what.map { $0 == "idle" ? "when it is idle" : "when somebody tells it to" }
        return
            "the machine may sleep during transfers, \(causes.joined(separator: " and ")): logind refuses it (\(reason))"
    }
}

extension BusError {
    /// Whether logind itself has answered: without it, the bus does.
    fileprivate var isByLogind: Bool {
        guard let name = refusalName else { return false }
        return !["ServiceUnknown", "NameHasNoOwner"].contains { name == "org.freedesktop.DBus.Error." + $0 }
    }
}
