import Testing

@testable import Desktop

@Suite("The user's sessions")
struct SessionTableTests {
    private let session = LogindSession(user: 1_000, userClass: "user", type: "wayland", state: "active")

    private func changed(_ change: (inout LogindSession) -> Void) -> LogindSession {
        var session = session
        change(&session)
        return session
    }

    @Test("a server without graphical sessions begins without an event, and a desktop with its state")
    func beginning() {
        var table = SessionTable()
        #expect(table.begin(with: [:]) == nil)
        #expect(table.begin(with: ["/1": changed { $0.type = "tty" }]) == nil)
        #expect(table.begin(with: ["/1": session]) == .unlockedHint)
        #expect(table.begin(with: ["/1": session, "/2": changed { $0.isLocked = true }]) == .locked(.screen))
    }

    @Test(
        "only a session of class user with a screen that is not closing counts",
        arguments: [
            ("greeter", "wayland", "active"), ("lock-screen", "x11", "active"), ("background", "unspecified", "online"),
            ("user", "tty", "active"), ("user", "web", "active"), ("user", "x11", "closing"),
            ("manager", "x11", "active"),
        ])
    func others(_ userClass: String, _ type: String, _ state: String) {
        var table = SessionTable()
        let other = LogindSession(user: 1_000, userClass: userClass, type: type, state: state, isLocked: true)
        #expect(table.begin(with: ["/1": other]) == nil)
        #expect(table.set("/2", other) == nil)
        #expect(table.remove("/2") == nil)
    }

    @Test("x11, wayland and mir are screens", arguments: ["x11", "wayland", "mir"])
    func screens(_ type: String) {
        var table = SessionTable()
        #expect(table.begin(with: ["/1": changed { $0.type = type }]) == .unlockedHint)
        #expect(table.remove("/1") == .locked(.nobody))
    }

    @Test("each session that is locked is an event, and the first that is unlocked is none while another is locked")
    func several() {
        var table = SessionTable()
        _ = table.begin(with: ["/1": session, "/2": session])
        let locked = changed { $0.isLocked = true }
        #expect(table.set("/1", locked) == .locked(.screen))
        #expect(table.set("/1", locked) == nil)
        #expect(table.set("/2", locked) == .locked(.screen))
        #expect(table.set("/1", session) == nil)
        #expect(table.set("/2", session) == .unlockedHint)
    }

    @Test("the end of the last graphical session is a lock, and a login afterwards a hint")
    func nobody() {
        var table = SessionTable()
        _ = table.begin(with: ["/1": session, "/2": session, "/3": changed { $0.type = "tty" }])
        #expect(table.remove("/1") == nil)
        #expect(table.set("/2", changed { $0.state = "closing" }) == .locked(.nobody))
        #expect(table.remove("/2") == nil)
        #expect(table.set("/4", session) == .unlockedHint)
    }

    @Test("the end of a locked session unlocks nothing")
    func lockedEnd() {
        var table = SessionTable()
        _ = table.begin(with: ["/1": session, "/2": changed { $0.isLocked = true }])
        #expect(table.remove("/2") == nil)
        #expect(table.set("/1", session) == nil)
    }

    @Test("a terminal that becomes a desktop is a login")
    func becomesGraphical() {
        var table = SessionTable()
        _ = table.begin(with: ["/1": changed { $0.type = "tty" }])
        #expect(table.set("/1", session) == .unlockedHint)
    }
}
