internal import CAvahi
internal import Logging

/// The type that one browse looks for, and the results. Lives on the directory's loop.
final class ActiveBrowse {
    let type: String
    let mailbox: BrowseMailbox
    var ledger = BrowseLedger()
    var session = Session()
    var hasComplained = false

    /// The work of one responder for this browse.
    struct Session {
        var browser: AvahiObject?
        /// Asks the link besides the browser.
        var asking: Task<Void, Never>?
        /// The first question, while its answers count.
        var question: LinkQuestion?
        /// Its answers, by instance, as far as the browser does not know more.
        var answers: [String: DiscoveredService] = [:]
        var assembly = ServiceAssembly()
        /// At work: they continue to listen after their first answer.
        var resolvers: [Sighting: AvahiObject] = [:]
        /// Those of them that have reported a result: they make room for others.
        var reported: Set<Sighting> = []
        /// Waiting, because too many resolvers are at work.
        var line: [Sighting] = []
        /// Seen before "all for now" and not answered yet: the list is complete when all have answered.
        var unanswered: Set<Sighting> = []
        var isAllSeen = false
        var isAllTold = false
    }

    init(type: String, mailbox: BrowseMailbox) {
        self.type = type
        self.mailbox = mailbox
    }
}

extension AvahiDirectory {
    nonisolated func browse(type: String) -> AsyncStream<BrowseEvent> {
        let (stream, mailbox) = BrowseMailbox.open { mailbox in
            Task { await self.endBrowse(mailbox) }
        }
        Task { await beginBrowse(type, mailbox) }
        return stream
    }

    private func beginBrowse(_ type: String, _ mailbox: BrowseMailbox) {
        // The browse may have ended before it began; `endBrowse` has run then.
        guard !mailbox.isFinished else { return }
        guard !type.utf8.contains(0), avahi_is_valid_service_type_strict(type) != 0 else {
            mailbox.post(.failed(DiscoveryError(.invalidDescription, cause: "the service type is not like _name._tcp")))
            return
        }
        if state == .connecting {
            mailbox.post(.failed(DiscoveryError(.responderUnavailable, cause: "avahi-daemon does not run")))
        }
        browses[ObjectIdentifier(mailbox)] = ActiveBrowse(type: type, mailbox: mailbox)
        use()
        startBrowsers()
    }

    private func endBrowse(_ mailbox: BrowseMailbox) {
        guard let browse = browses.removeValue(forKey: ObjectIdentifier(mailbox)) else { return }
        stop(browse)
        resolveNext()
        releaseIfUnused()
    }

    func startBrowsers() {
        guard state?.isUsable == true else { return }
        for browse in browses.values where browse.session.browser == nil { start(browse) }
    }

    func stopBrowsers() {
        browses.values.forEach(stop)
    }

    private func start(_ browse: ActiveBrowse) {
        // The failure of another browse may have dropped the responder.
        guard let responder else { return }
        browse.ledger.beginSession()
        do {
            let identifier = ObjectIdentifier(browse.mailbox)
            browse.session.browser = try responder.makeServiceBrowser(type: browse.type) { [unowned self] event in
                assumeIsolated { $0.browserReported(identifier, event) }
            }
            keepAsking(browse)
        } catch {
            failed(browse, error)
        }
    }

    private func stop(_ browse: ActiveBrowse) {
        liveResolvers -= browse.session.resolvers.count
        browse.session.asking?.cancel()
        browse.session = .init()
    }

    /// The responder works, but not for this browse: the browse is tried again after 5 seconds.
    private func failed(_ browse: ActiveBrowse, _ error: DiscoveryError) {
        guard error.code != .responderUnavailable else { return lost(error) }
        logger.debug("browsing failed", metadata: ["error": "\(error)"])
        stop(browse)
        browse.mailbox.post(.failed(error))
        Task { [weak self] in
            try? await Task.sleep(for: .seconds(5))
            await self?.startBrowsers()
        }
    }

    private func browserReported(_ identifier: ObjectIdentifier, _ event: ServiceBrowserEvent) {
        guard let browse = browses[identifier] else { return }
        switch event {
        case .appeared(let sighting): appeared(sighting, browse)
        case .disappeared(let sighting): disappeared(sighting, browse)
        case .allForNow:
            browse.session.isAllSeen = true
            tellIfAll(browse)
        case .failed(let cause): failed(browse, DiscoveryError(.browsingFailed, cause: cause))
        }
    }

    private func appeared(_ sighting: Sighting, _ browse: ActiveBrowse) {
        guard let interface = network?.interface(sighting.interface), !denied.contains(interface.name),
            !browse.session.assembly.contains(sighting)
        else { return }
        guard browse.session.assembly.add(sighting, interface: interface) else { return complain(sighting, browse) }
        if !browse.session.isAllSeen { browse.session.unanswered.insert(sighting) }
        browse.session.line.append(sighting)
        resolveNext()
    }

    private func disappeared(_ sighting: Sighting, _ browse: ActiveBrowse) {
        guard browse.session.assembly.contains(sighting) else { return }
        browse.session.assembly.remove(sighting)
        browse.session.answers[sighting.instance] = nil
        browse.session.unanswered.remove(sighting)
        if !endResolver(sighting, browse) { browse.session.line.removeAll { $0 == sighting } }
        resolveNext()
        tell(sighting.instance, browse)
        tellIfAll(browse)
    }

    /// Resolves the waiting sightings, as far as there is room. A resolver that has reported makes room: it only
    /// listens for changes or for a late answer. A sighting without an answer goes to the end of the line.
    private func resolveNext() {
        while let browse = browses.values.first(where: { !$0.session.line.isEmpty }) {
            if liveResolvers >= DiscoveryLimits.liveResolvers {
                guard let idle = browses.values.first(where: { !$0.session.reported.isEmpty }),
                    let sighting = idle.session.reported.first
                else { return }
                _ = endResolver(sighting, idle)
                if !idle.session.assembly.isResolved(sighting) { idle.session.line.append(sighting) }
            }
            resolve(browse.session.line.removeFirst(), browse)
        }
    }

    private func resolve(_ sighting: Sighting, _ browse: ActiveBrowse) {
        guard let responder else { return }
        do {
            let identifier = ObjectIdentifier(browse.mailbox)
            browse.session.resolvers[sighting] = try responder.makeServiceResolver(sighting) { [unowned self] event in
                assumeIsolated { $0.resolverReported(identifier, sighting, event) }
            }
            liveResolvers += 1
        } catch  where error.code == .responderUnavailable {
            lost(error)
        } catch {
            logger.debug(
                "service cannot be resolved",
                metadata: ["instance": "\(sighting.instance.debugDescription)", "error": "\(error)"]
            )
            browse.session.unanswered.remove(sighting)
            tellIfAll(browse)
        }
    }

    private func resolverReported(
        _ identifier: ObjectIdentifier,
        _ sighting: Sighting,
        _ event: ServiceResolverEvent
    ) {
        guard let browse = browses[identifier] else { return }
        switch event {
        case .resolved(let resolution):
            if resolution.txt == nil { complain(sighting, browse) }
            browse.session.assembly.resolve(sighting, resolution)
        case .unanswered:
            browse.session.assembly.resolve(sighting, nil)
        }
        browse.session.unanswered.remove(sighting)
        browse.session.reported.insert(sighting)
        tell(sighting.instance, browse)
        resolveNext()
        tellIfAll(browse)
    }

    /// Returns false if there is no resolver.
    private func endResolver(_ sighting: Sighting, _ browse: ActiveBrowse) -> Bool {
        browse.session.reported.remove(sighting)
        guard browse.session.resolvers.removeValue(forKey: sighting) != nil else { return false }
        liveResolvers -= 1
        return true
    }

    /// Sends the present state of an instance to the consumer, if it has changed.
    private func tell(_ instance: String, _ browse: ActiveBrowse) {
        let own = network?.snapshot.ownAddresses ?? []
        let answer = browse.session.answers[instance]
        guard let service = browse.session.assembly.service(instance, ownAddresses: own) else {
            // If the machine itself has answered, the browser does not know it yet.
            if answer == nil, let event = browse.ledger.remove(instance) { browse.mailbox.post(event) }
            return
        }
        // The addresses become known one by one; the answer has had them all.
        if let answer, answer.txt == service.txt, Set(service.addresses).isSubset(of: answer.addresses) { return }
        browse.session.answers[instance] = nil
        if let event = browse.ledger.update(service) { browse.mailbox.post(event) }
    }

    /// An answer to the first question. The browser knows better.
    func answered(_ identifier: ObjectIdentifier, _ service: DiscoveredService) {
        let own = network?.snapshot.ownAddresses ?? []
        guard let browse = browses[identifier],
            browse.session.assembly.service(service.instance, ownAddresses: own) == nil,
            browse.session.answers[service.instance] != nil
                || browse.session.answers.count < DiscoveryLimits.services
        else { return }
        var service = service
        // A machine answers on each link, and by each family.
        let known = browse.session.answers[service.instance]?.addresses ?? []
        service.addresses = Array(
            Set(service.addresses + known).sorted().prefix(DiscoveryLimits.addressesPerService))
        browse.session.answers[service.instance] = service
        if let event = browse.ledger.update(service) { browse.mailbox.post(event) }
    }

    /// The browser has heard all that there is: an answer that it does not know was wrong, or has become so.
    func endQuestion(_ identifier: ObjectIdentifier) {
        guard let browse = browses[identifier] else { return }
        let answers = browse.session.answers.keys.sorted()
        browse.session.question = nil
        browse.session.answers = [:]
        answers.forEach { tell($0, browse) }
    }

    private func tellIfAll(_ browse: ActiveBrowse) {
        guard browse.session.isAllSeen, !browse.session.isAllTold, browse.session.unanswered.isEmpty else { return }
        browse.session.isAllTold = true
        browse.ledger.endOfKnown().forEach(browse.mailbox.post)
    }

    /// Logs one line for each browse, regardless of how much the link announces.
    private func complain(_ sighting: Sighting, _ browse: ActiveBrowse) {
        guard !browse.hasComplained else { return }
        browse.hasComplained = true
        logger.warning(
            "the link announces more than is kept; the rest is ignored",
            metadata: ["instance": "\(sighting.instance.debugDescription)", "interface": "\(sighting.interface)"]
        )
    }
}
