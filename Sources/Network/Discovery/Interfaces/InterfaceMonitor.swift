internal import CAvahi
internal import CLinuxShims
internal import Glibc

/// Knows the machine's interfaces and addresses, and reports changes. Lives and is dropped on the loop's thread.
final class InterfaceMonitor {
    private(set) var snapshot: NetworkSnapshot
    private let relay: Relay<Void>
    /// Nil if the kernel gives no such socket (some sandboxes): then no changes are noticed.
    private let watch: AvahiObject?

    init(loop: AvahiLoop, onChange: @escaping () -> Void) {
        // The relay needs its target before the monitor exists.
        let target = Target()
        relay = Relay(loop: loop) { target.monitor?.refresh(onChange) }
        watch = Self.watch(loop: loop, relay: relay)
        // After the watch: a change between both would not be reported.
        snapshot = NetworkSnapshot.current()
        target.monitor = self
    }

    private final class Target {
        weak var monitor: InterfaceMonitor?
    }

    private static func watch(loop: AvahiLoop, relay: Relay<Void>) -> AvahiObject? {
        let file = CLinuxShims_rtnetlink_changes()
        guard file >= 0 else { return nil }
        let poll = loop.pollAPI
        let pointer = poll.pointee.watch_new(
            poll,
            file,
            AVAHI_WATCH_IN,
            { _, file, _, userdata in
                InterfaceMonitor.drain(file)
                Relay<Void>.from(userdata)?.post(())
            },
            relay.userdata
        )
        guard let pointer else {
            close(file)
            return nil
        }
        return AvahiObject(owning: pointer, parent: nil, relay: relay) {
            poll.pointee.watch_free($0)
            close(file)
        }
    }

    /// Takes all messages of the kernel. Their contents do not matter, only their arrival: all interfaces are read again.
    static func drain(_ file: Int32) {
        var buffer = [UInt8](repeating: 0, count: 8_192)
        while true {
            let count = read(file, &buffer, buffer.count)
            // ENOBUFS: the kernel dropped messages, because there were many.
            if count <= 0, !(count < 0 && (errno == ENOBUFS || errno == EINTR)) { break }
        }
    }

    private func refresh(_ onChange: () -> Void) {
        let now = NetworkSnapshot.current()
        guard now != snapshot else { return }
        snapshot = now
        onChange()
    }

    /// An interface by its index. Avahi may know a new one before this monitor: then the interfaces are read again.
    func interface(_ index: UInt32) -> NetworkInterface? {
        if let known = snapshot.interfaces[index] { return known }
        relay.post(())
        return NetworkSnapshot.current().interfaces[index]
    }
}
