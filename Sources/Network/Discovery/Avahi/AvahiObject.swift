internal import CAvahi

/// Owns one object of Avahi and frees it when the last reference goes; that must happen on the loop's thread.
class AvahiObject {
    /// Owned.
    let pointer: OpaquePointer
    /// The client or server that made the object: it must outlive it. Nil for these themselves.
    private let parent: AnyObject?
    /// What the C side knows as `userdata`: it must outlive the object.
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
    /// Nothing is delivered from here on, not even what was posted before.
    func silence()
}

/// Takes events from a C callback, which captures nothing, to the Swift side, after the callback has returned.
final class Relay<Event: Sendable>: AvahiRelay {
    private unowned let loop: AvahiLoop
    private var deliver: ((Event) -> Void)?

    init(loop: AvahiLoop, deliver: @escaping (Event) -> Void) {
        self.loop = loop
        self.deliver = deliver
    }

    /// For `userdata`: not retained, because the object that C passes it back for owns the relay.
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
