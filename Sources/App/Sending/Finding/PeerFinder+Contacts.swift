import Contacts
import Endpoints
import Sharing

extension PeerFinder {
    /// The result of one search for a contact.
    private enum Clue: Sendable {
        case target(PeerTarget)
        /// Another peer answers at the contact's address or under its name: the place, and the key.
        case stranger(String, PeerID?)
        case nothing
    }

    /// Known addresses that are tried.
    private static let triedAddresses = 4
    /// How long the known addresses are tried before the whole link is searched as well.
    private static let headStart: Duration = .milliseconds(100)

    /// The contact of a name, or of a whole id, as a group has it; nil if there is none.
    ///
    /// - Throws: `SendError` if the contacts cannot be read: the name may be that of a contact.
    func contact(named name: String) throws(SendError) -> Contact? {
        do {
            let snapshot = try contacts?.snapshot()
            return snapshot?.contact(named: name) ?? PeerID(text: name).flatMap { snapshot?[$0] }
        } catch {
            throw SendError(.unreachable, "\(error)")
        }
    }

    /// Finds a contact by its key only: at its last addresses and at the remembered address of its name, and a moment later
    /// by mDNS as well. A peer with the same name and another key is not the contact.
    ///
    /// - Throws: `SendError` `notFound`; `unreachable` if another peer answered in its place.
    func find(_ contact: Contact, within limit: Duration) async throws(SendError) -> PeerTarget {
        let clues = await withTaskGroup(of: Clue.self) { group -> [Clue] in
            var places = contact.addresses.prefix(Self.triedAddresses).map { ($0.host, $0.port) }
            if let peer = try? rememberedPeer(named: contact.name.text) { places.append((peer.host, peer.port)) }
            for (host, port) in places { group.addTask { await look(at: host, port, for: contact, within: limit) } }
            if searches {
                let headStart = places.isEmpty ? .zero : Self.headStart
                group.addTask {
                    guard (try? await Task.sleep(for: headStart)) != nil else { return .nothing }
                    return await look(for: contact, within: limit)
                }
            }
            var clues: [Clue] = []
            for await clue in group {
                clues.append(clue)
                if case .target = clue { break }
            }
            group.cancelAll()
            return clues
        }
        var strangers: [(place: String, key: PeerID?)] = []
        for clue in clues {
            switch clue {
            case .target(let target): return target
            case .stranger(let place, let key): strangers.append((place, key))
            case .nothing: continue
            }
        }
        if Task.isCancelled { throw SendError(.cancelled, "cancelled") }
        if let (place, key) = strangers.first {
            let other = key.map { "another key (\($0.short))" } ?? "another key"
            throw SendError(
                .unreachable,
                "\(place) answers with \(other) than that of \(contact.name.text) (\(contact.id.short)): nothing was sent",
                advice: ["if its key has changed, forget the contact and pair again"])
        }
        throw SendError(
            .notFound, "\(contact.name.text) (\(contact.id.short)) was not found",
            advice: ["is waftd or waft receive running there?", Self.phoneAdvice])
    }

    private func look(
        at host: String, _ port: UInt16, for contact: Contact, within limit: Duration
    ) async -> Clue {
        for endpoint in endpoints {
            let candidate = port == Endpoints.defaultPort ? nil : endpoint.candidate(host: host, port: port)
            let place = endpoint.target(host: host, port: port) ?? candidate
            guard let target = place?.expecting(contact.id) else { continue }
            switch await endpoint.probe(target, within: limit) {
            case .expected: return .target(target)
            case .other(let key): return .stranger(target.addressTexts.joined(), key)
            case .nothing: continue
            }
        }
        return .nothing
    }

    private func look(for contact: Contact, within limit: Duration) async -> Clue {
        var clue = Clue.nothing
        for await event in peers(for: limit) {
            guard case .found(let peer) = event else { continue }
            if peer.id == contact.id { return .target(peer.target) }
            if let name = peer.card?.name, (try? ContactName(name)) == contact.name {
                clue = .stranger("the \(name) in view", peer.id)
            }
        }
        return clue
    }
}
