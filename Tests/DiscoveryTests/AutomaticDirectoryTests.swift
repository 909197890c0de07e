import Logging
import Synchronization
import Testing

@testable import Discovery

/// Tests the choice between both sides, and changes of it, with fakes for both sides and for time.
@Suite("Choosing between avahi-daemon and a responder of one's own", .timeLimit(.minutes(1)))
struct AutomaticDirectoryTests {
    private let embedded = FakeDirectory()
    private let time = ManualSleep()
    private let timeout = AutomaticDirectory.Timeouts(
        firstAnswer: .seconds(2),
        absence: .seconds(5),
        retry: .seconds(1)
    )
    private let abc = ServiceDescription(type: "_waft._tcp", instance: "abc", port: 4711)
    private let gone = DiscoveryError(.responderUnavailable, cause: "test")

    private func make(_ daemon: FakeDirectory) -> AutomaticDirectory {
        AutomaticDirectory(
            daemon: daemon,
            embedded: embedded,
            logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }),
            timeout: timeout,
            sleep: time.sleep
        )
    }

    private func published(_ directory: FakeDirectory) -> [String] { directory.state.withLock { $0.published } }

    @Test("the daemon is used where it answers")
    func daemon() async throws {
        let daemon = FakeDirectory(isAvailable: true)
        let publication = try await make(daemon).publish(abc)
        #expect(published(daemon) == ["abc"] && published(embedded).isEmpty)
        #expect(await publication.instance == "abc")
        await publication.withdraw()
        #expect(published(daemon).isEmpty)
    }

    @Test("the responder of its own is used where the daemon is not there")
    func noDaemon() async throws {
        let daemon = FakeDirectory(isAvailable: false)
        let publication = try await make(daemon).publish(abc)
        #expect(published(daemon).isEmpty && published(embedded) == ["abc"])
        await publication.withdraw()
    }

    @Test("a daemon that does not answer in time is not waited for")
    func silentDaemon() async throws {
        let daemon = FakeDirectory(isAvailable: nil)
        let directory = make(daemon)
        async let publication = directory.publish(abc)
        await time.untilSleeping(timeout.firstAnswer)
        time.wake(timeout.firstAnswer)
        _ = try await publication
        #expect(published(embedded) == ["abc"])
    }

    @Test("when the daemon comes, published services move to it: the farewell comes first")
    func daemonComes() async throws {
        let daemon = FakeDirectory(isAvailable: false)
        let publication = try await make(daemon).publish(abc)
        daemon.become(available: true)
        await daemon.wait { $0.published == ["abc"] }
        #expect(published(embedded).isEmpty)
        await publication.withdraw()
        #expect(published(daemon).isEmpty)
    }

    @Test("a daemon that goes and comes back in time is all that was ever used")
    func daemonRestarts() async throws {
        let daemon = FakeDirectory(isAvailable: true)
        let publication = try await make(daemon).publish(abc)
        daemon.become(available: false)
        await time.untilSleeping(timeout.absence)
        daemon.become(available: true)
        await time.untilNobodySleeps(timeout.absence)
        let second = try await make(daemon).publish(ServiceDescription(type: "_waft._tcp", instance: "def", port: 1))
        let events = embedded.state.withLock { $0.events }
        #expect(events.isEmpty)
        await publication.withdraw()
        await second.withdraw()
    }

    @Test("a daemon that stays away is stood in for, and given way when it comes after all")
    func daemonGoes() async throws {
        let daemon = FakeDirectory(isAvailable: true)
        let publication = try await make(daemon).publish(abc)
        daemon.become(available: false)
        await time.untilSleeping(timeout.absence)
        time.wake(timeout.absence)
        await embedded.wait { $0.published == ["abc"] }
        daemon.become(available: true)
        await daemon.wait { $0.events == ["publish abc", "withdraw abc", "publish abc"] }
        #expect(published(embedded).isEmpty)
        await publication.withdraw()
    }

    @Test("a publisher does not wait for the daemon while it is away")
    func publishInAbsence() async throws {
        let daemon = FakeDirectory(isAvailable: true)
        let directory = make(daemon)
        let first = try await directory.publish(abc)
        daemon.become(available: false)
        daemon.refuse(gone)
        let second = try await directory.publish(ServiceDescription(type: "_waft._tcp", instance: "def", port: 1))
        await embedded.wait { $0.published.sorted() == ["abc", "def"] }
        await first.withdraw()
        await second.withdraw()
    }

    @Test("if neither responder works, the publisher gets an error")
    func neither() async throws {
        embedded.refuse(gone)
        let directory = make(FakeDirectory(isAvailable: false))
        await #expect(throws: gone) { try await directory.publish(abc) }
    }

    @Test("a service that cannot move is tried again")
    func retry() async throws {
        let daemon = FakeDirectory(isAvailable: false)
        let publication = try await make(daemon).publish(abc)
        daemon.refuse(DiscoveryError(.publishingFailed, cause: "test"))
        daemon.become(available: true)
        await time.untilSleeping(timeout.retry)
        daemon.refuse(nil)
        time.wake(timeout.retry)
        await daemon.wait { $0.published == ["abc"] }
        await publication.withdraw()
    }

    @Test("a service that is withdrawn while it moves is announced nowhere")
    func withdrawnWhileMoving() async throws {
        let daemon = FakeDirectory(isAvailable: false)
        let publication = try await make(daemon).publish(abc)
        daemon.refuse(gone)
        daemon.become(available: true)
        await time.untilSleeping(timeout.retry)
        await publication.withdraw()
        daemon.refuse(nil)
        #expect(published(daemon).isEmpty && published(embedded).isEmpty)
    }

    @Test("a browse moves too, and its consumer sees only what changed")
    func browseMoves() async throws {
        let daemon = FakeDirectory(isAvailable: false)
        let events = Consumer(of: make(daemon).browse(type: "_waft._tcp"))
        await embedded.wait { $0.browsers.count == 1 }
        for name in ["a", "b"] { embedded.say(.updated(try Sample.service(name))) }
        embedded.say(.allForNow)
        #expect(await events.next() == .updated(try Sample.service("a")))
        #expect(await events.next() == .updated(try Sample.service("b")))
        #expect(await events.next() == .allForNow)

        daemon.become(available: true)
        await daemon.wait { $0.browsers.count == 1 }
        await embedded.wait { $0.browsers.isEmpty }
        for name in ["b", "c"] { daemon.say(.updated(try Sample.service(name))) }
        daemon.say(.allForNow)
        #expect(await events.next() == .updated(try Sample.service("c")))
        #expect(await events.next() == .removed(instance: "a"))
        #expect(await events.next() == .allForNow)
    }

    @Test("a daemon's failure is not told, one of the responder of its own is")
    func failures() async throws {
        let daemon = FakeDirectory(isAvailable: true)
        let events = Consumer(of: make(daemon).browse(type: "_waft._tcp"))
        await daemon.wait { $0.browsers.count == 1 }
        daemon.say(.failed(gone))
        daemon.become(available: false)
        await time.untilSleeping(timeout.absence)
        time.wake(timeout.absence)
        await embedded.wait { $0.browsers.count == 1 }
        embedded.say(.failed(gone))
        #expect(await events.next() == .failed(gone))
    }

    @Test("when the last use ends both sides are left alone")
    func unused() async throws {
        let daemon = FakeDirectory(isAvailable: false)
        let directory = make(daemon)
        do {
            let consumer = Task { for await _ in directory.browse(type: "_waft._tcp") {} }
            await embedded.wait { $0.browsers.count == 1 }
            consumer.cancel()
            await consumer.value
        }
        await embedded.wait { $0.browsers.isEmpty }
        let publication = try await directory.publish(abc)
        await publication.withdraw()
        while await directory.side != nil { await Task.yield() }
    }
}
