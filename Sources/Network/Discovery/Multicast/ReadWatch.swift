internal import CAvahi

/// Reports that a descriptor can be read. Lives and is dropped on the loop's thread.
final class ReadWatch {
    private let watch: AvahiObject

    /// - Parameters:
    ///   - file: open until this watch is dropped.
    ///   - onReadable: called on the loop's thread, again and again while there is something to read.
    /// - Returns: nil if there is no memory.
    init?(loop: AvahiLoop, file: Int32, onReadable: @escaping () -> Void) {
        let relay = Relay<Void>(loop: loop, deliver: onReadable)
        let poll = loop.pollAPI
        let pointer = poll.pointee.watch_new(
            poll, file, AVAHI_WATCH_IN, { _, _, _, userdata in Relay<Void>.from(userdata)?.post(()) }, relay.userdata)
        guard let pointer else { return nil }
        watch = AvahiObject(owning: pointer, parent: nil, relay: relay) { poll.pointee.watch_free($0) }
    }
}
