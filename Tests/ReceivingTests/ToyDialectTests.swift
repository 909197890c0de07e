import Contacts
import Control
import Endpoints
import Executors
import Foundation
import Lines
import Logging
import NIOPosix
import SecureTransport
import Sending
import Settings
import Sharing
import TestSupport
import Testing
import ToyDialect

@testable import Receiving

@Suite("A new dialect", .timeLimit(.minutes(1)))
struct ToyDialectTests {
    private static let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    @Test("needs one module and one line: its items are found, judged, stored and remembered like all others")
    func wholeWay() async throws {
        let folder = TemporaryFolder()
        let home = try Home(environment: ["WAFT_HOME": folder.path])
        let air = ToyAir()
        // The line.
        let kinds = [EndpointKind(.toy) { ToyEndpoint(air, $0) }]
        let (ready, feed) = AsyncStream<Void>.makeStream()
        let times = Recorder<Int>()
        let receiver = Receiver(
            home: home, settings: LiveSettings(settings(named: "kitchen")), visibility: .everyone, kinds: kinds,
            logger: Self.logger
        ) { event in
            guard case .ready(_, _, let port, _, _) = event else { return }
            times.record(port)
            feed.finish()
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await receiver.receive() }
            for await _ in ready {}
            let finder = try finder(kinds, folder)
            let report = try await Sender(finder: finder, ownName: "study").send(
                [MemorySource.file("hello.txt", Array("hello".utf8), type: "public.plain-text")],
                to: .name("kitchen"), options: SendOptions(), cancellation: Cancellation()
            ) { _ in }
            #expect(report.offer.dialect == .toy)
            guard case .acknowledged(let receipt, _) = report.items[0] else {
                Issue.record("\(report.items[0])")
                return
            }
            #expect(receipt.isStored)
            #expect(try String(contentsOfFile: home.inbox + "/hello.txt", encoding: .utf8) == "hello")
            let reply = try await ControlClient.ask(
                .status, at: try ControlSocket(folder: home.run), on: MultiThreadedEventLoopGroup.singleton)
            guard case .status(let status) = reply else {
                Issue.record("\(reply)")
                return
            }
            #expect(status.discovery == "in the air")
            #expect(times.all == [1], "it is ready once, however its announcement goes on")
            group.cancelAll()
        }
    }

    private func settings(named name: String) -> Settings {
        var settings = Settings(hostName: name)
        settings.accept = .everyone
        settings.discovery = false
        settings.notifications = .off
        settings.inhibitsSleep = false
        return settings
    }

    private func finder(_ kinds: [EndpointKind], _ folder: TemporaryFolder) throws -> PeerFinder {
        let parts = EndpointParts(
            settings: LiveSettings(settings(named: "study")), identity: try .make(), contacts: nil,
            blocking: BlockingExecutor(threads: 2), logger: Self.logger)
        return PeerFinder(endpoints: kinds.map { $0.make(parts) }, searches: true)
    }
}
