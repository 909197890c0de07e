import Contacts
import Endpoints
package import Lines
package import Sending
package import Sharing

extension Waft {
    /// The peers on the network, and those whose addresses are remembered.
    package var peers: Peers { Peers(waft: self) }

    /// Searches with the identity, contacts and settings of this home.
    /// - Throws: `WaftError` if the key cannot be read or made, or discovery cannot begin.
    package func finder() throws(WaftError) -> PeerFinder {
        do {
            return try PeerFinder.make(home: home, settings: settings, logger: logger)
        } catch {
            throw WaftError(.unexpected, "\(error)")
        }
    }
}

/// The peers on the network, and those whose addresses are remembered.
package struct Peers: Sendable {
    /// An event of a search.
    package enum News: Sendable {
        /// The peer was found, or the facts about it have changed.
        case found(FoundLine, Person)
        case lost(LostLine, PeerID)
        case away(AwayLine)
        /// The search is hampered: one line, not escaped.
        case trouble(String)
    }

    fileprivate let waft: Waft

    /// - Parameters:
    ///   - limit: how long to look; nil: until the task is cancelled.
    ///   - scanning: whether each address of the own networks is asked too, which can take longer than `limit`.
    /// - Throws: `WaftError` if it cannot begin.
    package func search(
        for limit: Duration?, scanning: Bool = false
    ) throws(WaftError) -> some AsyncSequence<News, Never> & Sendable {
        let people = waft.people
        return try waft.finder().peers(for: limit, scanning: scanning, isWatched: true).map { News($0, people) }
    }

    /// Whether a text is an address, for which nothing has to be found; nil if it names no peer.
    package static func isAddress(_ text: String) -> Bool? {
        (try? PeerReference(text)).map { if case .address = $0 { true } else { false } }
    }

    /// Whether a machine is remembered by this name. False if they cannot be read. May block on the disk.
    package func isRemembered(_ name: String) -> Bool { (try? waft.home.rememberedPeers.peer(named: name)) != nil }

    /// The names of the machines that are remembered; empty if they cannot be read. May block on the disk.
    package var rememberedNames: [String] { ((try? waft.home.rememberedPeers.all()) ?? []).map(\.name.text) }

    /// Remembers the address of a peer. One of the same name is replaced.
    /// - Throws: `WaftError` `usage` for a name or an address that cannot be used.
    package func remember(_ name: String, at address: String) throws(WaftError) -> RememberedLine {
        try Self.doing { () throws(RememberedPeerError) in
            let peer = try RememberedPeer(name: name, address: address)
            let former = try waft.home.rememberedPeers.remember(peer)
            return RememberedLine(name: peer.name.text, address: peer.addressText, former: former?.addressText)
        }
    }

    /// - Throws: `WaftError` `inputMissing` if no peer is remembered by this name.
    package func forget(_ name: String) throws(WaftError) -> RememberedLine {
        try Self.doing { () throws(RememberedPeerError) in
            let peer = try waft.home.rememberedPeers.forget(name)
            return RememberedLine(name: peer.name.text, address: peer.addressText, isRemoved: true)
        }
    }

    private static func doing<Value>(
        _ body: () throws(RememberedPeerError) -> Value
    ) throws(WaftError) -> Value {
        do throws(RememberedPeerError) {
            return try body()
        } catch {
            switch error.code {
            case .unfit: throw WaftError(.usage, error.description)
            case .unknown: throw WaftError(.inputMissing, error.description, hint: "see: waft peers")
            case .full, .damaged, .storage: throw WaftError(.unexpected, error.description)
            }
        }
    }
}

extension PeerReference {
    /// - Throws: `WaftError` `usage` for a text that names no peer.
    init(typed text: String) throws(WaftError) {
        do {
            try self.init(text)
        } catch {
            throw WaftError(.usage, error.description)
        }
    }
}

extension Peers.News {
    init(_ event: PeerEvent, _ people: KnownPeers) {
        switch event {
        case .found(let peer):
            let person = people.person(peer.id, callingItself: peer.card?.name)
            let line = FoundLine(
                person, device: peer.card?.device, via: peer.dialect, at: peer.target.addressTexts,
                rememberedAs: peer.remembered)
            self = .found(line, person)
        case .gone(let id): self = .lost(LostLine(id), id)
        case .away(let name, let address, let reason):
            self = .away(AwayLine(name: name, address: address, reason: reason))
        case .trouble(let reason): self = .trouble(reason)
        }
    }
}
