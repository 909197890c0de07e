internal import CAvahi

/// avahi-daemon, over D-Bus through avahi-client.
///
/// The daemon uses the interfaces of its configuration (`allow-interfaces`, `deny-interfaces`). It announces a service
/// on all of them or on one, and reports services on any of them. When the client ends, for any reason, the daemon
/// withdraws the client's announcements.
///
/// The daemon's own limits apply too: 1,024 objects a client, 32 records an entry group.
final class DaemonResponder: Responder {
    private let client: AvahiObject
    private let loop: AvahiLoop

    /// Connects to the system bus, and to the daemon if it runs. If it does not, the state is `.connecting` until it
    /// does. If the daemon does not answer, this blocks the loop's thread as long as the bus allows.
    ///
    /// - Throws: ``DiscoveryError`` `.responderUnavailable` if there is no system bus.
    init(loop: AvahiLoop, onState: @escaping (ResponderState) -> Void) throws(DiscoveryError) {
        let relay = Relay<ResponderState>(loop: loop, deliver: onState)
        var code: Int32 = 0
        let pointer = avahi_client_new(
            loop.pollAPI,
            AVAHI_CLIENT_NO_FAIL,
            { client, state, userdata in
                let relay = Relay<ResponderState>.from(userdata)
                switch state {
                case AVAHI_CLIENT_CONNECTING: relay?.post(.connecting)
                case AVAHI_CLIENT_S_REGISTERING: relay?.post(.registering)
                case AVAHI_CLIENT_S_RUNNING: relay?.post(.running)
                case AVAHI_CLIENT_S_COLLISION: relay?.post(.collision)
                default: relay?.post(.failed(cause: client.map(DaemonResponder.message) ?? "no client"))
                }
            },
            relay.userdata,
            &code
        )
        guard let pointer else {
            throw DiscoveryError(.responderUnavailable, cause: AvahiValues.message(code))
        }
        self.loop = loop
        self.client = AvahiObject(owning: pointer, parent: nil, relay: relay) { avahi_client_free($0) }
    }

    func announce(
        _ service: ServiceDescription,
        at host: String?,
        on interface: UInt32,
        onEvent: @escaping (AnnouncementEvent) -> Void
    ) throws(DiscoveryError) -> AvahiObject? {
        guard let group = makeGroup(onEvent) else { throw failure(.publishingFailed) }
        var code = AvahiValues.withTXTRecord(service.txt) { txt in
            avahi_entry_group_add_service_strlst(
                group.pointer,
                interface == everyInterface ? AvahiValues.unspecified : Int32(bitPattern: interface),
                AvahiValues.unspecified,
                AvahiPublishFlags(rawValue: 0),
                service.instance,
                service.type,
                nil,
                host,
                service.port,
                txt
            )
        }
        if code == 0 { code = avahi_entry_group_commit(group.pointer) }
        if code == AvahiValues.collision { return nil }
        guard code == 0 else { throw Self.failure(.publishingFailed, code) }
        return group
    }

    func announce(
        _ address: InterfaceAddress,
        of host: String,
        onEvent: @escaping (AnnouncementEvent) -> Void
    ) -> AvahiObject? {
        guard let group = makeGroup(onEvent) else { return nil }
        var value = AvahiValues.address(address.bytes)
        let code = avahi_entry_group_add_address(
            group.pointer, Int32(bitPattern: address.interface), AvahiValues.transport(telling: address),
            AVAHI_PUBLISH_NO_REVERSE, host, &value)
        guard code == 0, avahi_entry_group_commit(group.pointer) == 0 else { return nil }
        return group
    }

    private func makeGroup(_ onEvent: @escaping (AnnouncementEvent) -> Void) -> AvahiObject? {
        let relay = Relay<AnnouncementEvent>(loop: loop, deliver: onEvent)
        let pointer = avahi_entry_group_new(
            client.pointer,
            { group, state, userdata in
                let client = group.flatMap { avahi_entry_group_get_client($0) }
                let event = AvahiValues.announcementEvent(
                    state, cause: client.map(DaemonResponder.message) ?? "no client")
                if let event { Relay<AnnouncementEvent>.from(userdata)?.post(event) }
            },
            relay.userdata
        )
        guard let pointer else { return nil }
        return AvahiObject(owning: pointer, parent: client, relay: relay) { _ = avahi_entry_group_free($0) }
    }

    func makeServiceBrowser(
        type: String,
        onEvent: @escaping (ServiceBrowserEvent) -> Void
    ) throws(DiscoveryError) -> AvahiObject {
        let relay = Relay<ServiceBrowserEvent>(loop: loop, deliver: onEvent)
        let pointer = avahi_service_browser_new(
            client.pointer,
            AvahiValues.unspecified,
            AvahiValues.unspecified,
            type,
            nil,
            AVAHI_LOOKUP_USE_MULTICAST,
            { browser, interface, transport, event, name, type, domain, _, userdata in
                let relay = Relay<ServiceBrowserEvent>.from(userdata)
                let client = browser.flatMap { avahi_service_browser_get_client($0) }
                let translated = AvahiValues.browserEvent(
                    event,
                    sighting: AvahiValues.sighting(
                        interface: interface, transport: transport, name: name, type: type, domain: domain
                    ),
                    cause: client.map(DaemonResponder.message) ?? "no client"
                )
                if let translated { relay?.post(translated) }
            },
            relay.userdata
        )
        guard let pointer else { throw failure(.browsingFailed) }
        return AvahiObject(owning: pointer, parent: client, relay: relay) { avahi_service_browser_free($0) }
    }

    func makeServiceResolver(
        _ sighting: Sighting,
        onEvent: @escaping (ServiceResolverEvent) -> Void
    ) throws(DiscoveryError) -> AvahiObject {
        let relay = Relay<ServiceResolverEvent>(loop: loop, deliver: onEvent)
        let pointer = avahi_service_resolver_new(
            client.pointer,
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
        guard let pointer else { throw failure(.browsingFailed) }
        return AvahiObject(owning: pointer, parent: client, relay: relay) { avahi_service_resolver_free($0) }
    }

    func chooseAnotherHostName() {
        // The daemon does this by itself.
    }

    func networkChanged(to snapshot: NetworkSnapshot) {
        // The daemon notices this by itself.
    }

    private func failure(_ code: DiscoveryError.Code) -> DiscoveryError {
        Self.failure(code, avahi_client_errno(client.pointer))
    }

    /// The error of a refusal by the daemon, or of a missing answer, which concerns the daemon and not the request.
    private static func failure(_ code: DiscoveryError.Code, _ number: Int32) -> DiscoveryError {
        let isGone = [AVAHI_ERR_DBUS_ERROR, AVAHI_ERR_DISCONNECTED, AVAHI_ERR_NO_DAEMON, AVAHI_ERR_TIMEOUT]
            .contains { Int32($0) == number }
        return DiscoveryError(isGone ? .responderUnavailable : code, cause: AvahiValues.message(number))
    }

    private static func message(_ client: OpaquePointer) -> String {
        AvahiValues.message(avahi_client_errno(client))
    }
}
