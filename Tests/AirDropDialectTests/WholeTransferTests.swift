import ContentCheck
import Dispatch
import HTTPChannel
import NIOCore
import Sharing
import TestSupport
import Testing
import UniformTypes

@testable import AirDropDialect

/// AirDrop has no answer for single items: the sender gets yes or no for the whole transfer.
@Suite("A transfer by AirDrop is stored whole or not at all", .timeLimit(.minutes(2)))
struct WholeTransferTests {
    private static let elf: [UInt8] = [0x7F, 0x45, 0x4C, 0x46, 2, 1, 1] + Array(repeating: 0, count: 57)

    /// Expects an empty Inbox, an empty staging folder, no delivery and no event of a stored item.
    private func expectNothing(_ receiver: AirDropLoopback) async throws {
        let fault = try await receiver.end()
        #expect(fault != nil)
        #expect(receiver.inbox.stored.isEmpty && receiver.inbox.stagedCount == 0)
        #expect(receiver.delivery.arrivals.count == 0)
        for event in receiver.events.all {
            if case .stored = event { Issue.record("something was stored") }
        }
    }

    @Test(
        "if a file comes twice, an unannounced file follows the announced one, or a file is missing, nothing stays",
        arguments: [["a", "b", "a"], ["a", "a", "b"], ["a", "b", "evil"], ["a", "evil", "b"], ["a"]])
    func refused(names: [String]) async throws {
        try await AirDropLoopback.run { receiver in
            var archive = HandMadeArchive()
            for name in names { archive.add("./" + name, [1]) }
            let answers = try await receiver.send(
                ask: HandMadeAsk.files("a", "b"), pieces: [ByteBuffer(bytes: archive.whole)])
            #expect(answers.upload == 400 || answers.upload == 401)
            try await expectNothing(receiver)
        }
    }

    @Test("nothing stays of a transfer that is cancelled here")
    func cancelled() async throws {
        let (begun, goOn) = (Gate(), DispatchSemaphore(value: 0))
        let inbox = MemoryInbox { operation in
            guard case .beginFile = operation else { return nil }
            begun.open()
            goOn.wait()
            return nil
        }
        try await AirDropLoopback.run(inbox: inbox) { receiver in
            var archive = HandMadeArchive()
            archive.add("./a", [UInt8](repeating: 1, count: 32 << 20))
            let pieces = [ByteBuffer(bytes: archive.whole)]
            async let answers = try? receiver.send(ask: HandMadeAsk.files("a"), pieces: pieces)
            await begun.wait()
            let transfer = try #require(receiver.reception.underWay.first?.offer.transfer)
            #expect(receiver.reception.cancel(transfer))
            goOn.signal()
            #expect(await answers?.upload != 200)
            try await expectNothing(receiver)
        }
    }

    @Test("nor does anything of more items than one commit takes, and many trees wait with nothing open")
    func many() async throws {
        let names = (0..<1_200).map { "n\($0)" }
        try await AirDropLoopback.run { receiver in
            var archive = HandMadeArchive()
            for name in names + ["n0"] { archive.add("./" + name, [1]) }
            let answers = try await receiver.send(
                ask: HandMadeAsk.files(names), pieces: [ByteBuffer(bytes: archive.whole)])
            #expect(answers.upload == 400)
            try await expectNothing(receiver)
        }
    }

    @Test("an archive that breaks off leaves nothing, whole items before that neither")
    func brokenOff() async throws {
        try await AirDropLoopback.run { receiver in
            var archive = HandMadeArchive()
            archive.add("./a", [1])
            archive.add("./b", [1, 2, 3], claimed: 100)
            let answers = try await receiver.send(
                ask: HandMadeAsk.files("a", "b"), pieces: [ByteBuffer(bytes: archive.bytes)])
            #expect(answers.upload != 200)
            try await expectNothing(receiver)
        }
    }

    @Test("a picture that is none, accepted by a rule for pictures, is refused with all that came with it")
    func lying() async throws {
        var accepted = ItemVerdict.accepted
        accepted.admittedAs = [[uniform("public.image")]]
        let png: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A] + Array(repeating: 0, count: 64)
        let svg = Array("<svg xmlns='http://www.w3.org/2000/svg'/>".utf8)
        for (second, isGood) in [
            (Self.elf, false), (Array("export PATH=.\n".utf8), false), (png, true), (svg, false),
        ] {
            let inbox = MemoryInbox(checker: ContentChecker(database: .none))
            try await AirDropLoopback.run(.items([accepted, accepted]), inbox: inbox) { receiver in
                let ask = HandMadeAsk(files: ["a.png", "b.png"].map { .init(name: $0, type: "public.png") }).encoded
                var archive = HandMadeArchive()
                archive.add("./a.png", png, mode: 0o100755)
                archive.add("./b.png", second, mode: 0o100755)
                let answers = try await receiver.send(ask: ask, pieces: [ByteBuffer(bytes: archive.whole)])
                #expect(answers.upload == (isGood ? 200 : 400))
                guard isGood else { return try await expectNothing(receiver) }
                try await receiver.end()
                guard case .file(_, let executable, _)? = receiver.inbox["a.png"]?.entries[""] else {
                    Issue.record("a.png is not there")
                    return
                }
                #expect(!executable)
            }
        }
    }
}
