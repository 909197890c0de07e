import Contacts
import Foundation
import Sharing
import Synchronization
import TestSupport
import UniformTypes

/// A state folder for one test.
final class Place: Sendable {
    let folder = TemporaryFolder()

    var bookPath: String { folder / "state/contacts.json" }
    var visibilityPath: String { folder / "state/visibility.json" }

    /// The book as another process opens it.
    func book() -> ContactBook { ContactBook(path: bookPath) }

    func write(_ text: String, to path: String) throws {
        try? FileManager.default.createDirectory(atPath: folder / "state", withIntermediateDirectories: true)
        try Data(text.utf8).write(to: URL(fileURLWithPath: path))
    }

    func read(_ path: String) throws -> String { try String(contentsOfFile: path, encoding: .utf8) }
}

func name(_ text: String) throws -> ContactName { try ContactName(text) }

func at(_ milliseconds: Int64) -> WallTime { WallTime(milliseconds: milliseconds) }

/// A time of the day in a zone, such as `2026-03-29 02:30`.
func local(_ text: String, _ zone: String) throws -> (time: WallTime, zone: TimeZone) {
    let zone = TimeZone(identifier: zone) ?? .gmt
    let formatter = DateFormatter()
    formatter.locale = Locale(identifier: "en_US_POSIX")
    formatter.timeZone = zone
    formatter.dateFormat = "yyyy-MM-dd HH:mm"
    guard let date = formatter.date(from: text) else { throw ContactTestError("\(text) is no time") }
    return (WallTime(milliseconds: Int64(date.timeIntervalSince1970) * 1_000), zone)
}

struct ContactTestError: Error {
    let reason: String

    init(_ reason: String) {
        self.reason = reason
    }
}

extension PeerID {
    /// A different peer for each number; there are more numbers than `sample` has.
    static func numbered(_ number: Int) -> PeerID {
        let bytes = withUnsafeBytes(of: UInt64(number).bigEndian) { Array($0) }
        guard let id = PeerID(fingerprint: bytes + Array(repeating: 0xA5, count: 24)) else { return .sample(0) }
        return id
    }
}

extension Verification {
    static let sample = Verification(.comparedCode, at: WallTime(milliseconds: 1_000))
}

extension Contact {
    static func sample(
        _ text: String = "anna",
        id: PeerID = .sample(1),
        policy: PolicyAction = .ask,
        limits: AcceptanceLimits = .none,
        destination: Destination = .usual,
        isBlocked: Bool = false
    ) throws -> Contact {
        Contact(
            id: id, name: try ContactName(text), verification: .sample, policy: policy, limits: limits,
            destination: destination, isBlocked: isBlocked)
    }
}

/// An item of an offer.
func item(
    _ text: String = "photo.jpg", _ type: String = "public.jpeg", size: UInt64? = 1_000
) -> OfferedItem {
    OfferedItem(kind: .file, name: safe(text), type: uniform(type), size: size)
}

func offer(_ items: [OfferedItem], callingItself sender: String = "somebody", takesPart: Bool = false) -> Offer {
    Offer(items: items, senderName: sender, takesPart: takesPart)
}

/// A rule from its stored fields.
func rule(_ fields: [String: PolicyValue]) throws -> PolicyRule {
    try PolicyRule(fields: fields, registry: .system, dialects: .samples)
}

/// The line of the error that `body` throws; nil if it throws none.
func refusal(_ body: () throws -> Void) -> String? {
    do {
        try body()
        return nil
    } catch {
        return "\(error)"
    }
}

/// Clocks that a test sets.
final class SetClocks: Sendable {
    private let state: Mutex<(wall: Int64, steady: ContinuousClock.Instant)>

    init(wall: Int64) {
        state = Mutex((wall, .now))
    }

    var clocks: VisibilityFile.Clocks {
        VisibilityFile.Clocks(
            wall: { WallTime(milliseconds: self.state.withLock { $0.wall }) },
            steady: { self.state.withLock { $0.steady } })
    }

    /// Advances both clocks.
    func pass(_ seconds: Int64) {
        state.withLock { state in
            state.wall += seconds * 1_000
            state.steady += .seconds(seconds)
        }
    }

    /// Sets the system's time.
    func set(wall: Int64) { state.withLock { $0.wall = wall } }
}

extension OfferTotals {
    /// Of an offer whose sender has proved a key.
    init(items: Int, knownSize: UInt64, isSizeKnown: Bool = true, dayAmount: UInt64? = nil) {
        self.init(
            items: items, knownSize: knownSize, isSizeKnown: isSizeKnown, dialect: .keyed, dayAmount: dayAmount)
    }
}
