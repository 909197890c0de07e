internal import CAvahi

/// Owns one object of Avahi and frees it with the last reference; that must happen on the loop's thread.
class AvahiObject {
    /// Owned.
    let pointer: OpaquePointer
    /// The client or server that made the object, which must outlive it. Nil for clients and servers.
    private let parent: AnyObject?
    /// The object behind `userdata` on the C side, which must outlive the Avahi object.
    private let relay: any AvahiRelay
    private let free: (OpaquePointer) -> Void

    init(
        owning pointer: OpaquePointer, parent: AnyObject?, relay: any AvahiRelay,
        free: @escaping (OpaquePointer) -> Void
    ) {
        self.pointer = pointer
        self.parent = parent
        self.relay = relay
        self.free = free
    }

    deinit {
        relay.silence()
        free(pointer)
    }
}

protocol AvahiRelay: AnyObject {
    /// Stops all delivery, also of events that were posted before.
    func silence()
}

/// Passes events from a C callback, which captures nothing, to Swift, after the callback has returned.
final class Relay<Event: Sendable>: AvahiRelay {
    private unowned let loop: AvahiLoop
    private var deliver: ((Event) -> Void)?

    init(loop: AvahiLoop, deliver: @escaping (Event) -> Void) {
        self.loop = loop
        self.deliver = deliver
    }

    /// For `userdata`: not retained, because the relay belongs to the object whose callback gets it.
    var userdata: UnsafeMutableRawPointer { Unmanaged.passUnretained(self).toOpaque() }

    static func from(_ userdata: UnsafeMutableRawPointer?) -> Relay? {
        userdata.map { Unmanaged<Relay>.fromOpaque($0).takeUnretainedValue() }
    }

    func post(_ event: Event) {
        loop.afterCallbacks { self.deliver?(event) }
    }

    func silence() {
        deliver = nil
    }
}
