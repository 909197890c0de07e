internal import CAvahi

/// Waft's own responder, by avahi-core: for machines on which no avahi-daemon runs.
///
/// It takes part in multicast DNS on UDP port 5353 itself, which needs no privilege. It shares that port with other
/// responders of the machine: programs with their own responder, or avahi-daemon during a move to it. They see each
/// other and are seen by others, because the kernel gives each of them every multicast datagram, also those of its
/// neighbours. A unicast answer reaches only one of them; multicast DNS tolerates that.
final class EmbeddedResponder: Responder {
    private let server: AvahiObject
    private let host: EmbeddedHost
    private let loop: AvahiLoop
    private let core: CAvahi_core
    private let allowed: Set<String>

    /// Opens the sockets and begins to probe for the host name.
    ///
    /// - Parameters:
    ///   - allowed: names of the only interfaces that it ever uses, including later ones.
    ///   - network: the machine's addresses.
    /// - Throws: ``DiscoveryError`` `.responderUnavailable` if the library or port 5353 is not available.
    init(
        loop: AvahiLoop,
        allowed: Set<String>,
        network: NetworkSnapshot,
        onState: @escaping (ResponderState) -> Void
    ) throws(DiscoveryError) {
        let core = try AvahiCore.functions.get()
        var configuration = AvahiServerConfig()
        _ = core.server_config_init(&configuration)
        defer { core.server_config_free(&configuration) }
        // An empty list would allow all; no interface has a name with a slash.
        for name in allowed.isEmpty ? ["/"] : allowed {
            configuration.allow_interfaces = avahi_string_list_add(configuration.allow_interfaces, name)
        }
        // avahi-core announces nothing of the host by itself.
        configuration.publish_addresses = 0
        configuration.publish_hinfo = 0
        configuration.publish_workstation = 0
        configuration.publish_domain = 0
        configuration.enable_wide_area = 0

        let relay = Relay<ResponderState>(loop: loop, deliver: onState)
        var code: Int32 = 0
        let pointer = core.server_new(
            loop.pollAPI,
            &configuration,
            { server, state, userdata in
                // Without its own host records the server is always running; see ``EmbeddedHost``.
                guard state == AVAHI_SERVER_FAILURE else { return }
                let cause = server.map(EmbeddedResponder.message) ?? "no server"
                Relay<ResponderState>.from(userdata)?.post(.failed(cause: cause))
            },
            relay.userdata,
            &code
        )
        guard let pointer else {
            throw DiscoveryError(.responderUnavailable, cause: AvahiValues.message(code))
        }
        self.loop = loop
        self.core = core
        self.allowed = allowed
        server = AvahiObject(owning: pointer, parent: nil, relay: relay) { core.server_free($0) }
        host = EmbeddedHost(server: server, core: core, loop: loop) { relay.post($0) }
        relay.post(.registering)
        networkChanged(to: network)
    }

    func networkChanged(to snapshot: NetworkSnapshot) {
        let interfaces = snapshot.usableInterfaces.filter { allowed.contains($0.name) }
        host.announce(interfaces.reduce(into: []) { $0.formUnion(snapshot.announcedAddresses(on: $1)) })
    }

    func chooseAnotherHostName() {
        host.chooseAnotherName()
    }

    func announce(
        _ service: ServiceDescription,
        at host: String?,
        on interface: UInt32,
        onEvent: @escaping (AnnouncementEvent) -> Void
    ) throws(DiscoveryError) -> AvahiObject? {
        let relay = Relay<AnnouncementEvent>(loop: loop, deliver: onEvent)
        let pointer = core.s_entry_group_new(
            server.pointer,
            { server, _, state, userdata in
                let event = AvahiValues.announcementEvent(
                    state, cause: server.map(EmbeddedResponder.message) ?? "no server")
                if let event { Relay<AnnouncementEvent>.from(userdata)?.post(event) }
            },
            relay.userdata
        )
        guard let pointer else { throw DiscoveryError(.publishingFailed, cause: Self.message(server.pointer)) }
        let group = AvahiObject(owning: pointer, parent: server, relay: relay) { [core] in core.s_entry_group_free($0) }
        var code = AvahiValues.withTXTRecord(service.txt) { txt in
            core.server_add_service_strlst(
                server.pointer,
                pointer,
                interface == everyInterface ? AvahiValues.unspecified : Int32(bitPattern: interface),
                AvahiValues.unspecified,
                AvahiPublishFlags(rawValue: 0),
                service.instance,
                service.type,
                nil,
                host ?? self.host.use(),
                service.port,
                txt
            )
        }
        if code == 0 { code = core.s_entry_group_commit(pointer) }
        if code == AvahiValues.collision { return nil }
        guard code == 0 else { throw DiscoveryError(.publishingFailed, cause: AvahiValues.message(code)) }
        return group
    }

    func announce(
        _ address: InterfaceAddress,
        of host: String,
        onEvent: @escaping (AnnouncementEvent) -> Void
    ) -> AvahiObject? {
        self.host.announce(address, of: host, onEvent: onEvent)
    }

    func makeServiceBrowser(
        type: String,
        onEvent: @escaping (ServiceBrowserEvent) -> Void
    ) throws(DiscoveryError) -> AvahiObject {
        let relay = Relay<ServiceBrowserEvent>(loop: loop, deliver: onEvent)
        let pointer = core.s_service_browser_new(
            server.pointer,
            AvahiValues.unspecified,
            AvahiValues.unspecified,
            type,
            nil,
            AVAHI_LOOKUP_USE_MULTICAST,
            { _, interface, transport, event, name, type, domain, _, userdata in
                let translated = AvahiValues.browserEvent(
                    event,
                    sighting: AvahiValues.sighting(
                        interface: interface, transport: transport, name: name, type: type, domain: domain
                    ),
                    cause: "avahi-core gave up browsing"
                )
                if let translated { Relay<ServiceBrowserEvent>.from(userdata)?.post(translated) }
            },
            relay.userdata
        )
        guard let pointer else { throw DiscoveryError(.browsingFailed, cause: Self.message(server.pointer)) }
        return AvahiObject(owning: pointer, parent: server, relay: relay) { [core] in core.s_service_browser_free($0) }
    }

    func makeServiceResolver(
        _ sighting: Sighting,
        onEvent: @escaping (ServiceResolverEvent) -> Void
    ) throws(DiscoveryError) -> AvahiObject {
        let relay = Relay<ServiceResolverEvent>(loop: loop, deliver: onEvent)
        let pointer = core.s_service_resolver_new(
            server.pointer,
            Int32(bitPattern: sighting.interface),
            sighting.transport.rawValue,
            sighting.instance,
            sighting.type,
            sighting.domain,
            // The family of the announcement: one resolver gives one address.
            sighting.transport.rawValue,
            AVAHI_LOOKUP_USE_MULTICAST,
            { _, _, _, event, _, _, _, hostName, address, port, txt, _, userdata in
                let relay = Relay<ServiceResolverEvent>.from(userdata)
                let resolution = AvahiValues.resolution(hostName: hostName, address: address, port: port, txt: txt)
                if event == AVAHI_RESOLVER_FOUND, let resolution {
                    relay?.post(.resolved(resolution))
                } else {
                    relay?.post(.unanswered)
                }
            },
            relay.userdata
        )
        guard let pointer else { throw DiscoveryError(.browsingFailed, cause: Self.message(server.pointer)) }
        return AvahiObject(owning: pointer, parent: server, relay: relay) { [core] in core.s_service_resolver_free($0) }
    }

    private static func message(_ server: OpaquePointer) -> String {
        (try? AvahiCore.functions.get()).map { AvahiValues.message($0.server_errno(server)) } ?? "no avahi-core"
    }
}
