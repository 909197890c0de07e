import Glibc
import SystemCalls
import TestSupport
import Testing

@testable import ServiceManager

@Suite("Notices to the service manager", .timeLimit(.minutes(1)))
struct ServiceManagerTests {
    private let folder = TemporaryFolder()

    private func manager(_ more: [String: String] = [:]) throws -> (NoticeListener, ServiceManager) {
        let listener = NoticeListener(folder / "notify")
        let environment = more.merging(["NOTIFY_SOCKET": listener.address]) { given, _ in given }
        return (listener, try #require(ServiceManager(environment: environment)))
    }

    @Test("arrive at a socket with a path, in one datagram each")
    func path() async throws {
        let (listener, manager) = try manager()
        manager.ready("receiving as kitchen on 9238")
        manager.show("1 transfer")
        manager.stopping()
        try await listener.notices.element(3)
        #expect(
            listener.notices.all
                == [["READY=1", "STATUS=receiving as kitchen on 9238"], ["STATUS=1 transfer"], ["STOPPING=1"]])
    }

    @Test("arrive at a socket with an abstract name")
    func abstract() async throws {
        let listener = NoticeListener("@waft-test-\(getpid())-\(UInt32.random(in: 0 ... .max))")
        let manager = try #require(ServiceManager(environment: ["NOTIFY_SOCKET": listener.address]))
        manager.alive()
        try await listener.first("WATCHDOG=1")
    }

    @Test("a reload has the time by the monotonic clock, in microseconds")
    func reload() async throws {
        let (listener, manager) = try manager()
        manager.reloading()
        let fields = try await listener.first("RELOADING=1")
        let time = try #require(fields.last?.split(separator: "=").last.flatMap { Int64($0) })
        var now = timespec()
        clock_gettime(CLOCK_MONOTONIC, &now)
        let seconds = Int64(now.tv_sec)
        #expect((seconds - 60...seconds + 1).contains(time / 1_000_000))
        #expect(fields.last?.hasPrefix("MONOTONIC_USEC=") == true)
    }

    @Test("a name with a line break adds no field")
    func hostile() async throws {
        let (listener, manager) = try manager()
        manager.show("a\nREADY=1\u{0}b")
        #expect(try await listener.notices.first() == ["STATUS=a READY=1 b"])
    }

    @Test("nobody is told where no manager waits, or its address is no address")
    func absent() {
        for text in [nil, "", "@", "/", "relative", "vsock:2:1", "/" + String(repeating: "x", count: 108)] {
            #expect(ServiceManager(environment: text.map { ["NOTIFY_SOCKET": $0] } ?? [:]) == nil, "\(text ?? "-")")
        }
    }

    @Test("a manager that is gone changes nothing")
    func gone() throws {
        let failures = Recorder<Int32>()
        let manager = try #require(
            ServiceManager(environment: ["NOTIFY_SOCKET": folder / "nobody"]) { failures.record($0.number) })
        manager.ready("x")
        #expect(failures.all == [ENOENT])
    }

    @Test("the watchdog wants a notice in half of its time, if it watches this process")
    func interval() throws {
        #expect(try manager(["WATCHDOG_USEC": "60000000"]).1.watchdogInterval == .seconds(30))
        let own = ["WATCHDOG_USEC": "500000", "WATCHDOG_PID": "\(getpid())"]
        #expect(try manager(own).1.watchdogInterval == .milliseconds(250))
        #expect(try manager(["WATCHDOG_USEC": "500000", "WATCHDOG_PID": "1"]).1.watchdogInterval == nil)
        for text in ["", "0", "-5", "soon", "99999999999999999999"] {
            #expect(try manager(["WATCHDOG_USEC": text]).1.watchdogInterval == nil)
        }
    }

    @Test("a line that changes often is shown at most once in each interval, and the last one in any case")
    func pace() async throws {
        let shown = Recorder<String>()
        let status = PacedStatus(every: .milliseconds(200))
        let changes = Recorder<Void>()
        let start = ContinuousClock.now
        let task = Task {
            await status.run {
                "\(changes.count)"
            } show: {
                shown.record($0)
            }
        }
        for _ in 1...500 {
            changes.record(())
            status.changed()
        }
        try await shown.first { $0 == "500" }
        let most = Int((ContinuousClock.now - start) / .milliseconds(200)) + 2
        #expect(shown.count <= most, "\(shown.all)")
        task.cancel()
        await task.value
    }
}
