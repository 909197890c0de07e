import DBusClient
import Foundation
import Logging
import TestSupport
import Testing

@testable import Desktop
@testable import Sharing

@Suite("The picture of a notification of an offer", .timeLimit(.minutes(1)))
struct OfferPictureTests {
    private let folder = TemporaryFolder()
    private let queue = ConsentQueue(rule: .ask)
    private let log = RecordingLog.make()

    private var pictures: String { folder / "pictures" }

    /// Shows the offers of the queue on a server while `body` runs.
    private func withServer(isSealed: Bool = false, _ body: (FakeServer) async throws -> Void) async throws {
        let bus = try await TestBus()
        let server = try await FakeServer(bus)
        let notifier = DesktopNotifier(
            environment: bus.environment, burst: 100, pace: .zero, logger: log.logger, surplus: OfferNotice.surplus)
        let pictures = PictureFolder(path: pictures)
        let offers = Task { [queue] in
            await OfferNotifications(
                notifier: notifier, offers: queue, pictures: pictures, isSealed: { isSealed },
                sender: { .stranger($1, $0) }
            ).run()
        }
        try await body(server)
        offers.cancel()
        await offers.value
        await notifier.stop()
    }

    private func ask(_ preview: ItemPreview?) -> Task<[ItemVerdict], Never> {
        var offer = Offer.sample(items: 2)
        offer.items[1].preview = preview
        return Task { [queue] in await queue.consent(to: offer, from: .sample(1), freeRoom: 1_000_000) }
    }

    private var names: [String] { (try? FileManager.default.contentsOfDirectory(atPath: pictures)) ?? [] }

    @Test("is a file that only the user reads, and that goes with the notification")
    func life() async throws {
        try await withServer { server in
            let question = ask(ItemPreview(PreviewSample.jpeg()))
            let call = try await server.notified()
            let path = try #require(call.picture.flatMap { URL(string: $0) }?.path)
            #expect(call.picture?.hasPrefix("file:///") == true && path.hasPrefix(pictures))
            #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == Data(PreviewSample.jpeg()))
            var status = stat()
            #expect(stat(path, &status) == 0 && status.st_mode & 0o777 == 0o600)
            queue.answer(1, accept: true)
            _ = await question.value
            try await server.heard.first { $0 == .close(1) }
        }
        #expect(names == [])
    }

    @Test("is not there while Waft is locked, and neither are the names of the items")
    func sealed() async throws {
        try await withServer(isSealed: true) { server in
            let question = ask(ItemPreview(PreviewSample.jpeg()))
            let call = try await server.notified()
            #expect(call.picture == nil && call.body.contains("waft unlock"), "\(call.body)")
            for item in Offer.sample(items: 2).items { #expect(!call.body.contains(item.name.text)) }
            #expect(names == [])
            queue.answer(1, accept: true)
            _ = await question.value
        }
    }

    @Test("goes when the user dismisses the notification, and the offer waits on")
    func dismissed() async throws {
        try await withServer { server in
            let question = ask(ItemPreview(PreviewSample.png()))
            try await server.notified()
            #expect(names.count == 1)
            server.close(1, reason: 2)
            while !names.isEmpty { await Task.yield() }
            #expect(queue.offers.count == 1)
            queue.answer(1, accept: false)
            _ = await question.value
        }
    }

    @Test("is missing where the offer has no preview or no file can be written, and the notification is there")
    func none() async throws {
        try await withServer { server in
            let question = ask(nil)
            let call = try await server.notified()
            #expect(call.picture == nil)
            queue.answer(1, accept: false)
            _ = await question.value
        }
        let blocked = PictureFolder(path: folder.file("file") + "/pictures")
        let preview = try #require(ItemPreview(PreviewSample.png()))
        #expect(blocked.write(preview) == nil)
    }

    @Test("that a crash has left is removed at the next start")
    func crash() throws {
        try FileManager.default.createDirectory(atPath: pictures, withIntermediateDirectories: true)
        folder.file("pictures/1.png", "left")
        _ = PictureFolder(path: pictures)
        #expect(names == [])
    }
}
