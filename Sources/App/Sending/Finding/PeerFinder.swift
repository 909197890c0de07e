package import Contacts
package import Endpoints
import NIOCore
import NIOPosix
import SecureTransport
package import Sharing
import Streams

/// Finds peers by all dialects.
package struct PeerFinder: Sendable {
    /// In order of preference.
    package let endpoints: [any Endpoint]
    /// Nil if there are no contacts.
    let contacts: ContactBook?
    /// Nil if there are no remembered peers.
    let remembered: RememberedPeers?
    /// Nil if scans are forgotten at once.
    private let scanned: ScannedPeers?
    /// Whether peers can be searched for; otherwise they are reached by address only.
    package var searches: Bool { searching() }
    private let searching: @Sendable () -> Bool
    /// The IP addresses of a host's name; blocks.
    private let addressesOfHost: @Sendable (String) -> [String]

    package init(
        endpoints: [any Endpoint], contacts: ContactBook? = nil, remembered: RememberedPeers? = nil,
        scanned: ScannedPeers? = nil, searches: @escaping @autoclosure @Sendable () -> Bool,
        addressesOfHost: @escaping @Sendable (String) -> [String] = DialAddress.addresses(ofHost:)
    ) {
        self.addressesOfHost = addressesOfHost
        (self.endpoints, self.contacts) = (endpoints, contacts)
        (self.remembered, self.scanned, searching) = (remembered, scanned, searches)
    }

    /// The endpoint that speaks a target's dialect.
    func endpoint(for target: PeerTarget) -> (any Endpoint)? { endpoints.first { $0.dialect == target.dialect } }

    /// Peers as they are found by each endpoint, and those that answer at a remembered address, or where a scan has found
    /// a peer some minutes ago.
    ///
    /// Never reports this peer itself, and reports a peer again only if the facts about it have changed.
    /// - Parameters:
    ///   - limit: how long to look; nil: until the stream is dropped.
    ///   - scanning: whether also each address of the own networks is asked, which can take longer than `limit`.
    ///   - isWatched: whether a person looks at the list of peers: a killed peer then leaves it soon.
    package func peers(
        for limit: Duration?, scanning: Bool = false, isWatched: Bool = false
    ) -> AsyncStream<PeerEvent> {
        AsyncStream { continuation in
            let task = Task {
                if !searches { continuation.yield(.trouble("discovery is off: peers are reached by address only")) }
                await withTaskGroup(of: Void.self) { group in
                    group.addTask {
                        await withDiscardingTaskGroup { tasks in
                            if hasRemembered { tasks.addTask { await askRemembered(continuation, for: limit) } }
                            guard searches else { return }
                            for address in scanned?.recent() ?? [] {
                                tasks.addTask { await askScanned(address, continuation) }
                            }
                            for endpoint in endpoints {
                                tasks.addTask { await endpoint.search(continuation, isWatched: isWatched) }
                            }
                        }
                    }
                    if let limit {
                        group.addTask {
                            async let scan: Void = scanning ? scan(continuation) : ()
                            try? await Task.sleep(for: limit)
                            await scan
                        }
                        await group.next()
                        group.cancelAll()
                    } else if scanning {
                        await scan(continuation)
                    }
                }
                continuation.finish()
            }
            continuation.onTermination = { _ in task.cancel() }
        }
    }

    private func scan(_ found: AsyncStream<PeerEvent>.Continuation) async {
        let (events, feed) = AsyncStream<PeerEvent>.makeStream()
        async let scanning: Void = {
            await withDiscardingTaskGroup { tasks in
                for endpoint in endpoints { tasks.addTask { await endpoint.scan(feed) } }
            }
            feed.finish()
        }()
        for await event in events {
            if case .found(let peer) = event { scanned?.note(peer.target.addresses) }
            found.yield(event)
        }
        await scanning
    }

    /// How long a peer that a scan has found may take to answer.
    private static let answering: Duration = .seconds(2)

    private func askScanned(_ address: DialAddress, _ found: AsyncStream<PeerEvent>.Continuation) async {
        let peer = try? await meet(host: address.host, port: UInt16(clamping: address.port), within: Self.answering)
        if let peer { found.yield(.found(peer)) }
    }

    /// Whether any peer is remembered; true if the file cannot be read.
    private var hasRemembered: Bool { (try? remembered?.all())?.isEmpty != true && remembered != nil }

    /// Finds the peer that `--to` names.
    ///
    /// The name of a contact means its key, the name of a remembered peer its address. Any other name is looked for among the peers in view, by name or beginning
    /// of the id, and beside that as a host's name, which waits a moment for a peer. A name with a dot that is both a
    /// peer's and that of another host means neither: any stranger can take the name of a host.
    /// - Parameter expected: the only key that is meant; nil for any.
    /// - Throws: `SendError`: `notFound`, `ambiguous`, `unreachable`, `cancelled`.
    package func resolve(
        _ reference: PeerReference, expecting expected: PeerID? = nil, within limit: Duration
    ) async throws(SendError) -> PeerTarget {
        let target = try await look(for: reference, expected, within: limit)
        return expected.map(target.expecting) ?? target
    }

    private func look(
        for reference: PeerReference, _ expected: PeerID?, within limit: Duration
    ) async throws(SendError) -> PeerTarget {
        switch reference {
        case .address(let host, let port):
            guard let target = target(host: host, port: port) else {
                throw SendError(.unreachable, "no dialect is spoken at \(reference)")
            }
            return target
        case .name(let name):
            if let contact = try contact(named: name) { return try await find(contact, within: limit) }
            if let peer = try rememberedPeer(named: name), let target = target(host: peer.host, port: peer.port) {
                return target
            }
            let end = ContinuousClock.now + limit
            let host = Task { await addresses(of: name) }
            let search = try await find(name, expected, besides: host, within: limit)
            if let peer = search.peer {
                let isName = expected == nil && name.contains(".") && !peer.id.hasPrefix(name)
                return isName ? try await Self.unlessOther(host, named: name, than: peer, until: end) : peer.target
            }
            if Task.isCancelled { throw SendError(.cancelled, "cancelled") }
            if await !Self.answer(of: host, until: end).isEmpty,
                let target = target(host: name, port: Endpoints.defaultPort)
            {
                return target
            }
            let near = nearName(to: name, in: search).map { "; did you mean \($0)?" } ?? ""
            let way = searches ? near : " (discovery is off: give host:port)" + near
            throw SendError(
                .notFound, "no machine named \(name) was found\(way)",
                advice: searches
                    ? endpoints.flatMap(\.absenceAdvice) + Self.advice(nameless: search.nameless, named: search.names)
                    : [])
        }
    }

    /// Connects to a target and asks it for its name.
    ///
    /// - Parameter limit: for the connection and for the answer, each.
    /// - Throws: `MeetingError`.
    package func meet(_ target: PeerTarget, within limit: Duration) async throws(MeetingError) -> FoundPeer {
        guard let endpoint = endpoint(for: target) else {
            throw MeetingError(.unreachable, "\(target.dialect.title) is not spoken here")
        }
        return try await endpoint.meet(target, within: limit)
    }

    /// Connects to an address, as the other `meet` does.
    ///
    /// - Parameter expected: the only key that may answer; nil for any.
    package func meet(
        host: String, port: UInt16, expecting expected: PeerID? = nil, within limit: Duration
    ) async throws(MeetingError) -> FoundPeer {
        guard let target = target(host: host, port: port) else {
            throw MeetingError(.unreachable, "no dialect is spoken at \(host)")
        }
        do throws(MeetingError) {
            return try await meet(expected.map(target.expecting) ?? target, within: limit)
        } catch {
            guard error.kind == .otherProgram, expected == nil, port != Endpoints.defaultPort,
                let other = await other(than: target, within: limit)
            else { throw error }
            return other
        }
    }

    /// The peer at an address that the user gave, where the first dialect is not spoken: by another one at the same port,
    /// or, for an address without a port, at that dialect's own.
    func other(than target: PeerTarget, within limit: Duration) async -> FoundPeer? {
        guard target.dialect == endpoints.first?.dialect, target.announcement == nil, target.addresses.count == 1,
            let address = target.addresses.first
        else { return nil }
        let port = UInt16(exactly: address.port).flatMap { $0 == Endpoints.defaultPort ? nil : $0 }
        for endpoint in endpoints {
            guard let candidate = endpoint.candidate(host: address.host, port: port) else { continue }
            if let peer = try? await endpoint.meet(candidate, within: limit) { return peer }
        }
        return nil
    }

    func target(host: String, port: UInt16) -> PeerTarget? {
        // The first dialect takes any port, the other dialects only their own port.
        endpoints.reversed().lazy.compactMap { $0.target(host: host, port: port) }.first
    }

    /// How long a second peer of the same name has to make itself known: machines in view are asked at once, and answer
    /// within 120 ms (RFC 6762, 6).
    private static let settling: Duration = .milliseconds(150)
    /// The part of it that begins with the first such peer: both were asked at the same time.
    private static let headStart: Duration = .milliseconds(50)

    /// The end of the wait for a second peer of the same name.
    /// - Parameters:
    ///   - began: when all were asked.
    ///   - found: when the first one was found. One that was not found by the first question may have begun to listen
    ///     since, and a second one with it.
    static func settled(since began: ContinuousClock.Instant, found: ContinuousClock.Instant) -> ContinuousClock.Instant
    {
        found - began < settling ? max(began + settling, found + headStart) : found + settling
    }

    /// How long a peer has to make itself known, once its name is known to be that of a host.
    private static let hostPatience: Duration = .seconds(1)

    /// Names in a line.
    private static let shownNames = 5

    /// The next steps for a user whose peer was not found, one line each.
    /// - Parameters:
    ///   - nameless: peers in view that tell their names to contacts only; one may be the peer that is meant.
    ///   - named: words for the other peers in view.
    static func advice(nameless: Set<PeerID>, named: [String]) -> [String] {
        let more = named.count > shownNames ? " and \(named.count - shownNames) more" : ""
        let view =
            named.isEmpty
            ? "no machine is in view" : "in view: \(named.prefix(shownNames).joined(separator: ", "))\(more)"
        guard let some = nameless.min(by: { $0.text < $1.text }) else {
            return [
                view,
                "is waftd or waft receive running there? An address also works, but not that of an AirDrop device: --to ADDRESS",
                phoneAdvice,
            ]
        }
        let others =
            nameless.count == 1
            ? "1 machine here does not tell its name (\(some.short))"
            : "\(nameless.count) machines here do not tell their names"
        let key = nameless.count == 1 ? String(some.short.prefix(4)) : "KEY-ID"
        return (named.isEmpty ? [] : [view]) + [
            "\(others): if that is it, run there: waft visible everyone --for 10m",
            "or pair: waft pair --accept there, waft pair \(key) here",
        ]
    }

    /// For a phone that was not found. Announcements do not cross routers, and some access points drop them.
    static let phoneAdvice =
        "on a phone, open LocalSend and look for machines there. In another network: --to ADDRESS:53317, or once: "
        + "waft peers add NAME ADDRESS:53317"

    private struct Search {
        var peer: FoundPeer?
        /// Peers in view that do not tell their names.
        var nameless: Set<PeerID> = []
        /// The others in view.
        var named: [PeerID: Introduction] = [:]

        /// A word for each, contacts first: the name, and the key of a stranger that has a contact's name.
        var names: [String] {
            let contacts = Set(named.values.compactMap(\.contact)).sorted()
            let strangers = named.filter { !$0.value.isContact }.map { id, peer in
                peer.claims == nil ? peer.name : "\(id.short) (\(peer.standing))"
            }
            return contacts + Set(strangers).sorted()
        }
    }

    /// The name that was meant by a mistyped one: of a contact or a remembered peer first, then of a peer in view. A
    /// stranger that has a contact's name is never meant.
    private func nearName(to name: String, in search: Search) -> String? {
        let own =
            ((try? contacts?.snapshot())?.contacts ?? []).map(\.name.text)
            + ((try? remembered?.all()) ?? []).map(\.name.text)
        let seen = search.named.values.filter { $0.claims == nil }.map(\.name).sorted()
        return NearWord.closest(to: name, among: own) ?? NearWord.closest(to: name, among: seen)
    }

    /// A peer that has told its name, as the user knows it.
    private func introduction(of peer: PeerID, callingItself name: String?) -> Introduction {
        ((try? contacts?.snapshot()) ?? .empty).introduction(of: peer, callingItself: name)
    }

    private func find(
        _ name: String, _ expected: PeerID?, besides host: Task<[String], Never>, within limit: Duration
    ) async throws(SendError) -> Search {
        var matches: [PeerID: FoundPeer] = [:]
        var nameless: Set<PeerID> = []
        var named: [PeerID: Introduction] = [:]
        let began = ContinuousClock.now
        let (found, feed) = AsyncStream<PeerEvent?>.makeStream()
        let search = Task {
            for await event in peers(for: limit) { feed.yield(event) }
            feed.finish()
        }
        let patience = Task {
            guard await !host.value.isEmpty else { return }
            try? await Task.sleep(for: Self.hostPatience)
            feed.yield(nil)
        }
        defer {
            search.cancel()
            patience.cancel()
        }
        for await event in found {
            guard let event else { break }
            guard case .found(let peer) = event else { continue }
            if peer.card == nil, peer.dialect.provesKeys { nameless.insert(peer.id) } else { nameless.remove(peer.id) }
            if let card = peer.card { named[peer.id] = introduction(of: peer.id, callingItself: card.name) }
            guard Self.matches(peer, name), expected == nil || peer.id == expected else { continue }
            if matches.isEmpty {
                let end = Self.settled(since: began, found: .now)
                Task {
                    await Patience.wait(until: end)
                    feed.yield(nil)
                }
            }
            // A peer without a key that was started again has another id, and its old record may live on for an hour.
            matches = matches.filter { !peer.target.isLaterSighting(of: $0.value.target) }
            matches[peer.id] = peer
        }
        // A key goes before a name that looks like it.
        if matches.count > 1, matches.keys.contains(where: { $0.hasPrefix(name) }) {
            matches = matches.filter { $0.key.hasPrefix(name) }
        }
        // A peer that proves a key goes before a peer that proves none.
        if matches.values.contains(where: { $0.dialect.provesKeys }) {
            matches = matches.filter { $0.value.dialect.provesKeys }
        }
        guard matches.count <= 1 else {
            let people = matches.values.map { introduction(of: $0.id, callingItself: $0.card?.name) }
            throw SendError(
                .ambiguous, "\(matches.count) peers are called \(name); give the beginning of the id",
                advice: people.sorted { $0.isContact && !$1.isContact }.map { person in
                    [person.key, person.name, person.standing].compactMap { $0 }.joined(separator: "  ")
                })
        }
        return Search(peer: matches.values.first, nameless: nameless, named: named)
    }

    private static func matches(_ peer: FoundPeer, _ name: String) -> Bool {
        peer.card.map { TypedName.means(name, $0.name) } ?? false || peer.id.hasPrefix(name)
            || !peer.dialect.provesKeys && peer.target.announcement?.instance == name
    }

    /// The peer, reached at the addresses of the host that has its name too.
    ///
    /// - Throws: `SendError` `ambiguous` if it is at none of them.
    private static func unlessOther(
        _ host: Task<[String], Never>, named name: String, than peer: FoundPeer, until end: ContinuousClock.Instant
    ) async throws(SendError) -> PeerTarget {
        let known = await answer(of: host, until: end)
        guard !known.isEmpty else { return peer.target }
        var target = peer.target
        // A stranger can announce the host's address beside its own.
        target.addresses.removeAll { !known.contains(DialAddress.withoutZone($0.host)) }
        guard target.addresses.isEmpty else { return target }
        throw SendError(
            .ambiguous, "\(name) is a host, and another machine in view calls itself so",
            advice: [
                "the host: --to \(PeerReference.address(host: name, port: Endpoints.defaultPort))",
                "the other machine (\(peer.target.addressTexts.first ?? "no address")): --to \(peer.id.short)",
            ])
    }

    /// The answer of the resolver; empty if there is none by then. A resolver of which no server answers takes long.
    private static func answer(
        of host: Task<[String], Never>, until end: ContinuousClock.Instant
    ) async -> [String] {
        let (answers, feed) = AsyncStream<[String]>.makeStream()
        let asking = Task { feed.yield(await host.value) }
        let timer = Task {
            try? await Task.sleep(until: max(end, .now + settling))
            feed.yield([])
        }
        defer {
            asking.cancel()
            timer.cancel()
        }
        return await answers.first { _ in true } ?? []
    }

    /// The IP addresses of a host's name; empty if nobody knows the name.
    private func addresses(of name: String) async -> [String] {
        guard name.unicodeScalars.allSatisfy({ $0.isASCII && $0.value > 32 }) else { return [] }
        return (try? await NIOThreadPool.singleton.runIfActive { addressesOfHost(name) }) ?? []
    }
}
