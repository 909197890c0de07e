import Digests
import Sharing
import TestSupport
import Testing

@testable import Endpoints

@Suite("A receipt is believed if it fits the sent item", .timeLimit(.minutes(1)))
struct ReceiptTests {
    private static let digest = Digest.of(.xxh3_128, Array("hello".utf8))

    private func send(
        _ source: MemorySource = .text("hello"), name: String, size: UInt64 = 5, digest: Digest = Self.digest
    ) async throws -> Result<SendResult.Item, SendError> {
        let results = Recorder<Result<SendResult.Item, SendError>>()
        try await ScriptedReceiver.run { resource, _, exchange in
            switch resource {
            case "card": try await exchange.answerCard()
            case "offers": try await exchange.answerOffer("accepted")
            default:
                try await exchange.answerReceipt(
                    #"{"state":"stored","name":"\#(name)","size":\#(size),"digest":"\#(digest)"}"#)
            }
        } _: { receiver in
            do throws(SendError) {
                results.record(.success(try await receiver.send(SendOptions(), [source]).items[0]))
            } catch {
                results.record(.failure(error))
            }
        }
        return try await results.first()
    }

    @Test("another safe name was chosen by the receiver", arguments: ["text.txt", "text-1.txt", "x"])
    func names(name: String) async throws {
        guard case .acknowledged(let receipt, _) = try await send(name: name).get() else {
            Issue.record("it was not believed")
            return
        }
        #expect(receipt.outcome == .stored(name: name, size: 5, digest: Self.digest))
    }

    @Test(
        "a name that no item can have is a violation of the protocol",
        arguments: ["../../etc/passwd", "a/b", "..", "", #"a\nb"#, #"\u202etxt"#])
    func unsafeNames(name: String) async throws {
        guard case .failure(let failure) = try await send(name: name) else {
            Issue.record("it was believed")
            return
        }
        #expect(failure.description.contains("a name that no item can have"))
        if case .unreachable = failure.code {} else { Issue.record("\(failure)") }
    }

    @Test("another size or digest is no receipt, also for an item from a pipe")
    func contents() async throws {
        let pipe = MemorySource.file("p", Array("hello".utf8), sizeIsKnown: false)
        for (source, size, digest, code) in [
            (MemorySource.text("hello"), UInt64(7), Self.digest, TransferError.Code.sizeMismatch),
            (pipe, 7, Self.digest, .sizeMismatch),
            (.text("hello"), 5, Digest.of(.xxh3_128, []), .digestMismatch),
        ] {
            guard case .lost(let fault) = try await send(source, name: "x", size: size, digest: digest).get() else {
                Issue.record("it was not believed")
                return
            }
            #expect(fault.code == code)
            #expect(fault.message.contains("the receipt is not believed"))
        }
    }
}
