import Discovery
import Glibc
package import Settings
import Streams
import Synchronization

/// The radio backend that the settings choose. One call of it at a time.
package final class Radio: Sendable {
    private let settings: LiveSettings
    private let turnstile = Turnstile()
    private let place = Mutex<String?>(nil)

    package init(_ settings: LiveSettings) { self.settings = settings }

    /// Nil if none is wanted, or none is installed.
    package var backend: RadioBackend? {
        get throws(RadioFault) {
            let airdrop = settings.current.airdrop
            return airdrop.isEnabled ? try RadioBackend.find(airdrop.radio) : nil
        }
    }

    package func probe(_ backend: RadioBackend) async throws(RadioFault) -> RadioProbe {
        try await alone { () throws(RadioFault) in try await backend.probe() }
    }

    package func status(of backend: RadioBackend) async throws(RadioFault) -> RadioStatus {
        try await alone { () throws(RadioFault) in try await backend.status() }
    }

    package func peers(of backend: RadioBackend) async throws(RadioFault) -> [HeardPeer] {
        try await alone { () throws(RadioFault) in try await backend.peers() }
    }

    /// - Parameter seconds: nil: until it is stopped.
    package func start(_ backend: RadioBackend, seconds: Int?) async throws(RadioFault) {
        try await alone { () throws(RadioFault) in try await backend.start(seconds: seconds) }
    }

    package func stop(_ backend: RadioBackend, within time: Duration? = nil) async throws(RadioFault) {
        try await alone { () throws(RadioFault) in try await backend.stop(within: time) }
    }

    /// How long peers on the radio link are looked for: they listen in short bursts. Nil without a link.
    package var finding: Duration? {
        guard RadioLink.current != nil, (try? backend) != nil else { return nil }
        return .seconds(30)
    }

    /// Why the port of the radio link cannot be listened on: one line; nil if it can, or need not.
    package var placeFault: String? { place.withLock { $0 } }

    /// - Returns: whether the fault is new.
    @discardableResult
    func listening(fault: String?) -> Bool {
        place.withLock { place in
            defer { place = fault }
            return place != fault
        }
    }

    private func alone<Value: Sendable>(
        _ body: @Sendable () async throws(RadioFault) -> Value
    ) async throws(RadioFault) -> Value {
        do {
            return try await turnstile.pass(body)
        } catch let fault as RadioFault {
            throw fault
        } catch {
            throw .failed("", "\(error)")
        }
    }
}

/// This machine's end of the radio link.
package struct RadioLink: Hashable, Sendable {
    /// The index of the interface, which is new each time that it appears.
    package var index: UInt32
    /// The link-local address, without a zone.
    package var host: String

    /// Nil while the interface is not up, or has no such address yet.
    package static var current: RadioLink? {
        // Cheaper than a list of all links where there is no radio.
        guard index != 0 else { return nil }
        let link = LocalLink.current(port: 1).first { $0.interface.name == RadioBackend.interface }
        guard let address = link?.addresses.first(where: { $0.reach == .linkLocal }) else { return nil }
        return RadioLink(index: address.scope, host: address.host)
    }

    /// Returns when the interface with an index is gone, or the task is cancelled. One that only is down may come back.
    static func gone(_ index: UInt32) async {
        guard let changes = LinkChanges() else { return await Patience.wait(for: .seconds(86_400)) }
        guard Self.index == index else { return }
        for await _ in changes.stream where Self.index != index { return }
    }

    /// The index of the interface; 0 if there is none.
    package static var index: UInt32 { if_nametoindex(RadioBackend.interface) }
}
