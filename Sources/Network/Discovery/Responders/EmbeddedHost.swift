internal import CAvahi

/// The host records of an ``EmbeddedResponder``: a name, and the machine's addresses under it.
///
/// avahi-core could announce them itself. But for each address it also announces a reverse record with the host name,
/// which is unique: another responder of this machine, as avahi-daemon is when it starts, would find its own name taken
/// and rename the machine. So this class announces them, without reverse records.
///
/// The name is random: listeners on the link learn nothing from it (security rule 14). It is announced once a service is
/// at it, so that a machine whose services have host names of their own is not known by this one.
final class EmbeddedHost {
    private struct Announcement {
        var object: AvahiObject
        var isEstablished = false
    }

    private let server: AvahiObject
    private let core: CAvahi_core
    private let loop: AvahiLoop
    private let onState: (ResponderState) -> Void
    private var announcements: [InterfaceAddress: Announcement] = [:]
    private var wanted: Set<InterfaceAddress> = []
    private var isRunning = false
    private var isUsed = false

    /// `waft-`, 16 hexadecimal digits, `.local`.
    private var name = EmbeddedHost.randomName()

    /// - Parameter onState: called before a method returns, and by events.
    init(server: AvahiObject, core: CAvahi_core, loop: AvahiLoop, onState: @escaping (ResponderState) -> Void) {
        self.server = server
        self.core = core
        self.loop = loop
        self.onState = onState
    }

    static func randomName() -> String {
        let digits = String(UInt64.random(in: .min ... .max), radix: 16)
        return "waft-" + String(repeating: "0", count: 16 - digits.count) + digits + ".local"
    }

    /// The name, for a service that is at this host.
    func use() -> String {
        if !isUsed {
            isUsed = true
            announce(wanted)
        }
        return name
    }

    /// Announces exactly these addresses, once the host is used.
    func announce(_ addresses: Set<InterfaceAddress>) {
        wanted = addresses
        let addresses = isUsed ? addresses : []
        announcements = announcements.filter { addresses.contains($0.key) }
        for address in addresses where announcements[address] == nil {
            announcements[address] = announce(address).map { Announcement(object: $0) }
        }
        establish()
    }

    func chooseAnotherName() {
        announcements = [:]
        isRunning = false
        name = Self.randomName()
        onState(.registering)
        announce(wanted)
    }

    /// Nil if avahi-core refuses: then the address is not announced.
    private func announce(_ address: InterfaceAddress) -> AvahiObject? {
        announce(address, of: name) { [unowned self] event in changed(address, event) }
    }

    /// Announces an address under any host name.
    func announce(
        _ address: InterfaceAddress, of name: String, onEvent: @escaping (AnnouncementEvent) -> Void
    ) -> AvahiObject? {
        let relay = Relay<AnnouncementEvent>(loop: loop, deliver: onEvent)
        let pointer = core.s_entry_group_new(
            server.pointer,
            { _, _, state, userdata in
                let event = AvahiValues.announcementEvent(state, cause: "avahi-core gave up the address")
                if let event { Relay<AnnouncementEvent>.from(userdata)?.post(event) }
            },
            relay.userdata
        )
        guard let pointer else { return nil }
        let group = AvahiObject(owning: pointer, parent: server, relay: relay) { [core] in core.s_entry_group_free($0) }
        var value = AvahiValues.address(address.bytes)
        let code = core.server_add_address(
            server.pointer,
            pointer,
            Int32(bitPattern: address.interface),
            AvahiValues.transport(telling: address),
            AVAHI_PUBLISH_NO_REVERSE,
            name,
            &value
        )
        guard code == 0, core.s_entry_group_commit(pointer) == 0 else { return nil }
        return group
    }

    private func changed(_ address: InterfaceAddress, _ event: AnnouncementEvent) {
        switch event {
        case .established:
            announcements[address]?.isEstablished = true
            establish()
        case .collision: onState(.collision)
        case .failed:
            announcements[address] = nil
            establish()
        }
    }

    private func establish() {
        guard !isRunning, announcements.values.allSatisfy(\.isEstablished) else { return }
        isRunning = true
        onState(.running)
    }
}
