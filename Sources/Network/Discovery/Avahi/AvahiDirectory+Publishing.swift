internal import CAvahi
internal import Logging
internal import Synchronization

/// A service that should be announced, and the state of its announcement. Lives on the directory's loop.
final class AnnouncedService {
    /// Contains the name that is in use.
    var description: ServiceDescription
    /// The announcements, by interface index or ``everyInterface``.
    var announcements: [UInt32: Announcement] = [:]
    /// The service's own host name, if it has one.
    var hostName: String?
    /// The addresses that are announced under that name.
    var addresses: [InterfaceAddress: Announcement] = [:]
    /// The caller that waits until the service is established for the first time.
    var publisher: CheckedContinuation<Void, any Error>?
    /// Ends the wait of `publisher`.
    var deadline: Task<Void, Never>?
    /// Names found taken since the service was last established.
    var collisions = 0

    struct Announcement {
        var object: AvahiObject
        var isEstablished = false
    }

    init(_ description: ServiceDescription, publisher: CheckedContinuation<Void, any Error>) {
        self.description = description
        self.publisher = publisher
        if description.host != .machine { hostName = EmbeddedHost.randomName() }
    }

    /// Ends the announcements; the service stays wanted.
    func withdraw() {
        announcements = [:]
        addresses = [:]
    }

    /// Ends the announcements that are not known to the network yet.
    func withdrawUnestablished() {
        announcements = announcements.filter(\.value.isEstablished)
        addresses = addresses.filter(\.value.isEstablished)
    }
}

extension AvahiDirectory {
    func publish(_ service: ServiceDescription) async throws -> any Publication {
        try service.validate()
        let identifier = makeIdentifier()
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                begin(service, identifier, continuation)
            }
        } onCancel: {
            Task { await self.cancel(identifier) }
        }
        let publication = AvahiPublication(
            directory: self,
            identifier: identifier,
            name: name(of: identifier) ?? service.instance
        )
        // Cancelled just when the service was established.
        guard !Task.isCancelled else {
            await publication.withdraw()
            throw CancellationError()
        }
        return publication
    }

    private func begin(
        _ service: ServiceDescription,
        _ identifier: UInt64,
        _ publisher: CheckedContinuation<Void, any Error>
    ) {
        guard !Task.isCancelled else { return publisher.resume(throwing: CancellationError()) }
        guard state != .connecting else {
            let error = DiscoveryError(.responderUnavailable, cause: "avahi-daemon does not run")
            return publisher.resume(throwing: error)
        }
        let announced = AnnouncedService(service, publisher: publisher)
        announced.deadline = Task { [weak self] in
            guard (try? await Task.sleep(for: DiscoveryLimits.establishing)) != nil else { return }
            let error = DiscoveryError(.publishingFailed, cause: "neither announced nor refused for too long")
            await self?.abandon(identifier, error)
        }
        publications[identifier] = announced
        use()
        announce(identifier)
        establish(announced)
    }

    private func cancel(_ identifier: UInt64) {
        abandon(identifier, CancellationError())
    }

    /// Ends a publication whose caller still waits for it.
    private func abandon(_ identifier: UInt64, _ error: any Error) {
        guard let service = publications[identifier], let publisher = service.publisher else { return }
        service.deadline?.cancel()
        service.publisher = nil
        publications[identifier] = nil
        publisher.resume(throwing: error)
        releaseIfUnused()
    }

    /// Ends publications whose callers still wait; the others wait for the next responder.
    func refusePublications(_ error: DiscoveryError) {
        for (identifier, publication) in publications where publication.publisher != nil {
            abandon(identifier, error)
        }
    }

    func name(of identifier: UInt64) -> String? {
        publications[identifier]?.description.instance
    }

    func withdraw(_ identifier: UInt64) async {
        guard publications.removeValue(forKey: identifier) != nil else { return }
        releaseIfUnused()
        // avahi-daemon knows already, and a responder that ends sends its remaining messages. A responder that
        // continues sends the farewell in its next turns, as avahi-core schedules them; the code cannot observe that.
        if backend == .embedded, responder != nil {
            // In a task of its own, because the caller's task is often being cancelled.
            await Task { try? await Task.sleep(for: .milliseconds(100)) }.value
        }
    }

    func withdrawAll() {
        publications.values.forEach { $0.withdraw() }
    }

    func announceAll() {
        for identifier in Array(publications.keys) { announce(identifier) }
    }

    /// The interfaces to announce on: all at once, if that is allowed.
    ///
    /// An embedded responder uses allowed interfaces only. avahi-daemon may be using denied ones, and has no "all
    /// except": then a service is announced on each allowed interface separately. This is done only if necessary, as it
    /// costs farewells: avahi-core (0.8) sends none on an interface while the same record is announced on another one.
    /// So only the last withdrawal sends it, and loopback is left out if there is any other. On a machine with several
    /// networks, the other networks see the service go when its records expire, after two minutes.
    private var targets: [UInt32] {
        guard backend == .daemon, let interfaces = network?.snapshot.usableInterfaces,
            interfaces.contains(where: { denied.contains($0.name) })
        else { return [everyInterface] }
        let allowed = interfaces.filter { !denied.contains($0.name) }
        let linked = allowed.filter { !$0.isLoopback }
        return (linked.isEmpty ? allowed : linked).map(\.index).sorted()
    }

    /// Announces a service on each missing interface, and withdraws it from interfaces that are not targets.
    private func announce(_ identifier: UInt64) {
        guard canAnnounce, let responder else { return }
        let interfaces = targets
        // Renaming may give up, and then removes the service.
        while let service = publications[identifier] {
            service.announcements = service.announcements.filter { interfaces.contains($0.key) }
            let missing = interfaces.filter { service.announcements[$0] == nil }
            do {
                guard try announceHost(of: service, identifier, by: responder) else { return }
                guard try !announce(service, identifier, on: missing, by: responder) else { return }
            } catch {
                return failed(identifier, error)
            }
            guard rename(identifier) else { return }
        }
    }

    /// Returns false if another program of this machine has the name.
    private func announce(
        _ service: AnnouncedService,
        _ identifier: UInt64,
        on interfaces: [UInt32],
        by responder: any Responder
    ) throws(DiscoveryError) -> Bool {
        for index in interfaces {
            let object = try responder.announce(service.description, at: service.hostName, on: index) {
                [unowned self] event in
                assumeIsolated { $0.announcementChanged(identifier, index, event) }
            }
            guard let object else { return false }
            service.announcements[index] = .init(object: object)
        }
        return true
    }

    /// Announces the addresses of a host name that belongs to only one service. Without addresses the service is not
    /// announced either, until the network changes: under another host name it would tell more than it should.
    ///
    /// - Returns: whether the service has a host.
    private func announceHost(
        of service: AnnouncedService, _ identifier: UInt64, by responder: any Responder
    ) throws(DiscoveryError) -> Bool {
        guard let host = service.hostName, let snapshot = network?.snapshot else { return true }
        let wanted = snapshot.usableInterfaces.filter { !denied.contains($0.name) }
            .reduce(into: Set<InterfaceAddress>()) { wanted, interface in
                wanted.formUnion(
                    service.description.host == .ownOnLink
                        ? snapshot.onLinkAddresses(on: interface) : snapshot.announcedAddresses(on: interface))
            }
        service.addresses = service.addresses.filter { wanted.contains($0.key) }
        for address in wanted where service.addresses[address] == nil {
            let object = responder.announce(address, of: host) { [unowned self] event in
                assumeIsolated { $0.addressChanged(identifier, address, event) }
            }
            service.addresses[address] = object.map { .init(object: $0) }
        }
        guard service.addresses.isEmpty else { return true }
        service.announcements = [:]
        guard wanted.isEmpty else { throw DiscoveryError(.publishingFailed, cause: "every address is refused") }
        return false
    }

    private func addressChanged(_ identifier: UInt64, _ address: InterfaceAddress, _ event: AnnouncementEvent) {
        guard let service = publications[identifier] else { return }
        switch event {
        case .established:
            service.addresses[address]?.isEstablished = true
        case .collision:
            // The name is random: a collision is deliberate.
            service.collisions += 1
            guard service.collisions <= DiscoveryLimits.alternativeNames else {
                return failed(identifier, DiscoveryError(.namesExhausted, cause: service.hostName ?? ""))
            }
            service.withdraw()
            service.hostName = EmbeddedHost.randomName()
            return announce(identifier)
        case .failed:
            service.addresses[address] = nil
        }
        establish(service)
    }

    private func announcementChanged(_ identifier: UInt64, _ index: UInt32, _ event: AnnouncementEvent) {
        guard let service = publications[identifier] else { return }
        switch event {
        case .established:
            service.announcements[index]?.isEstablished = true
            establish(service)
        case .collision:
            if rename(identifier) { announce(identifier) }
        case .failed(let cause):
            failed(identifier, DiscoveryError(.publishingFailed, cause: cause))
        }
    }

    /// Withdraws the present name everywhere, as one service has one name, and takes the next alternative. Returns
    /// false if it gives up.
    ///
    /// Avahi advises to reuse its entry groups, since it slows down a program that collides too often. The code makes
    /// new ones, so that late events of the old groups about the old name are not delivered. The number of alternatives
    /// is bounded instead.
    private func rename(_ identifier: UInt64) -> Bool {
        guard let service = publications[identifier] else { return false }
        let taken = service.description.instance
        service.announcements = [:]
        service.collisions += 1
        guard service.collisions <= DiscoveryLimits.alternativeNames, let next = avahi_alternative_service_name(taken)
        else {
            failed(identifier, DiscoveryError(.namesExhausted, cause: taken.debugDescription))
            return false
        }
        defer { avahi_free(next) }
        service.description.instance = String(cString: next)
        logger.debug(
            "instance name is taken",
            metadata: [
                "taken": "\(taken.debugDescription)", "next": "\(service.description.instance.debugDescription)",
            ]
        )
        return true
    }

    private func failed(_ identifier: UInt64, _ error: DiscoveryError) {
        guard error.code != .responderUnavailable else { return lost(error) }
        guard let service = publications[identifier], service.publisher == nil else {
            return abandon(identifier, error)
        }
        // It was announced once: it stays wanted, and is announced when the responder or the interfaces change.
        logger.warning("service is not announced any more", metadata: ["error": "\(error)"])
        service.withdraw()
        service.collisions = 0
    }

    func establishAll() {
        publications.values.forEach(establish)
    }

    /// Resumes the publisher when the service is announced on all interfaces and its host name is established.
    private func establish(_ service: AnnouncedService) {
        guard state == .running, service.announcements.values.allSatisfy(\.isEstablished),
            service.addresses.values.allSatisfy(\.isEstablished)
        else { return }
        service.collisions = 0
        service.deadline?.cancel()
        service.publisher?.resume()
        service.publisher = nil
    }
}

private final class AvahiPublication: Publication {
    private let directory: AvahiDirectory
    private let identifier: UInt64
    /// The last name that was read: it remains available after the withdrawal.
    private let lastName: Mutex<String>

    init(directory: AvahiDirectory, identifier: UInt64, name: String) {
        self.directory = directory
        self.identifier = identifier
        lastName = Mutex(name)
    }

    deinit {
        let (directory, identifier) = (directory, identifier)
        Task { await directory.withdraw(identifier) }
    }

    var instance: String {
        get async {
            let name = await directory.name(of: identifier)
            return lastName.withLock {
                if let name { $0 = name }
                return $0
            }
        }
    }

    func withdraw() async {
        await directory.withdraw(identifier)
    }
}
