internal import Glibc

/// A session that a `FakeLogind` lists.
package struct FakeSession: Hashable, Sendable {
    package var id: String
    package var user: UInt32
    package var userClass: String
    package var type: String
    package var state: String
    package var isLocked: Bool

    package init(
        _ id: String, user: UInt32? = nil, userClass: String = "user", type: String = "wayland",
        state: String = "active", isLocked: Bool = false
    ) {
        self.id = id
        self.user = user ?? geteuid()
        self.userClass = userClass
        self.type = type
        self.state = state
        self.isLocked = isLocked
    }

    package var path: String { "/org/freedesktop/login1/session/" + id }
}
