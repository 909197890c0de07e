/// A change that decides whether protected data may stay readable.
package enum LockEvent: Hashable, Sendable {
    /// The machine is locked, sleeps or is left. An event may be repeated.
    case locked(LockReason)
    /// A person is at the machine: no screen of the user is locked any more, or the first graphical session begins. Anybody
    /// who may call logind can cause it, so it unlocks nothing but a keyring that is open anyway.
    case unlockedHint
    /// The state can no longer be watched.
    case lost(LockWatchLoss)
    /// It can be watched again. The state follows if it is known: `.locked(.screen)` or `.unlockedHint`.
    case back
}

/// Why the machine counts as locked.
package enum LockReason: String, Hashable, Sendable {
    /// The screen of a session is locked (org.freedesktop.login1(5), `LockedHint`).
    case screen
    /// A program asked for the lock of a session of any type, as `loginctl lock-session` does (the signal `Lock`).
    case request
    /// The machine goes to sleep. It waits for the end of the event's handling, within logind's `InhibitDelayMaxSec`
    /// (5 seconds), while a delay is wanted.
    case sleep
    /// The last graphical session has ended.
    case nobody
    /// The screen saver has begun, with or without a lock.
    case screenSaver
}

/// Why the machine can no longer be watched.
package enum LockWatchLoss: String, Hashable, Sendable {
    /// The connection to the system bus has ended.
    case bus
    /// logind has left the bus, or another one has taken its place.
    case logind
}
