import Foundation
import HTTPChannel
import NIOCore
import Sharing
import TestSupport
import Testing

@testable import LocalSendDialect

@Suite("Hostile senders by LocalSend", .timeLimit(.minutes(1)))
struct HostileSenderTests {
    /// A question with one file.
    private static func question(size: String = "5", id: String = "a", name: String = "a") -> String {
        #"{"info":{"alias":"x"},"files":{"\#(id)":{"id":"\#(id)","fileName":"\#(name)","size":\#(size)}}}"#
    }

    private func path(_ file: String, in session: LocalSendSession) -> String {
        "upload?sessionId=\(session.sessionId)&fileId=\(file)&token=\(session.files[file] ?? "")"
    }

    @Test("a question of 9 MB is refused with 413, whether its length is announced or not")
    func tooLong() async throws {
        try await LocalSendLoopback.run { receiver in
            let announced = try await RawSender.run(receiver.port) { sender in
                try await sender.begin("prepare-upload", "content-length: 9000000")
                return try await sender.status()
            }
            #expect(announced == 413)
            let unannounced = try await RawSender.run(receiver.port) { sender in
                try await sender.begin("prepare-upload", "transfer-encoding: chunked")
                let piece = "f4240\r\n" + String(repeating: " ", count: 1_000_000) + "\r\n"
                for _ in 0..<9 { try await sender.write(piece) }
                return try await sender.status()
            }
            #expect(unannounced == 413)
        }
    }

    @Test("a question of a hundred thousand brackets is refused", arguments: ["[", #"{"a":"#])
    func nested(_ bracket: String) async throws {
        try await LocalSendLoopback.run { receiver in
            let body = String(repeating: bracket, count: 100_000)
            let status = try await receiver.postStatus("prepare-upload", body)
            #expect(status == 400)
            let registration = try await receiver.postStatus("register", String(body.prefix(4_000)))
            #expect(registration == 400)
        }
    }

    @Test(
        "a size that is no number of bytes is refused",
        arguments: ["-1", "1.5", "1e400", "\"5\"", "null", "18446744073709551616", "1152921504606846977"])
    func badSize(_ size: String) async throws {
        try await LocalSendLoopback.run { receiver in
            let status = try await receiver.postStatus("prepare-upload", Self.question(size: size))
            #expect(status == 400)
            #expect(receiver.consent.asked.all.isEmpty)
        }
    }

    @Test("sizes whose sum is no number are never accepted", arguments: ["", "t/"])
    func overflow(_ folder: String) async throws {
        try await LocalSendLoopback.run { receiver in
            let files = (0..<40).map { number in
                var file = LocalSendFile.sample(folder + "f\(number)")
                file.size = 1 << 60
                return file
            }
            let reply = try await receiver.ask(files)
            #expect(reply.session == nil)
            #expect([400, 403, 507].contains(reply.status), "\(reply)")
        }
    }

    @Test("100,001 files, and 10,001 that are not in a folder, are refused", arguments: [10_001, 100_001])
    func tooManyFiles(_ count: Int) async throws {
        try await LocalSendLoopback.run { receiver in
            let files = (0..<count).map { #""\#($0)":{"id":"\#($0)","fileName":"\#($0)","size":0}"# }
            let body = #"{"info":{"alias":"x"},"files":{"# + files.joined(separator: ",") + "}}"
            let status = try await receiver.postStatus("prepare-upload", body)
            #expect(status == 400)
            #expect(receiver.consent.asked.all.isEmpty)
        }
    }

    @Test("an id is a key and nothing else: one that is a path names no file")
    func strangeIDs() async throws {
        try await LocalSendLoopback.run { receiver in
            let id = "../../etc/passwd?&=%00"
            let session = try #require(try await receiver.ask([.sample("a", id: id)]).session)
            let token = session.files[id] ?? ""
            let encoded = id.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
            let path = "upload?sessionId=\(session.sessionId)&fileId=\(encoded)&token=\(token)"
            let status = try await receiver.postStatus(path, "hello")
            #expect(status == 200)
            #expect(receiver.inbox.names == ["a"])
            let long = try await receiver.postStatus(
                "prepare-upload", Self.question(id: String(repeating: "x", count: 257)))
            #expect(long == 400)
            let other = #"{"info":{"alias":"x"},"files":{"a":{"id":"b","fileName":"a","size":5}}}"#
            let different = try await receiver.postStatus("prepare-upload", other)
            #expect(different == 400)
        }
    }

    @Test("two uploads for one token: the second is refused, and the file is whole")
    func twice() async throws {
        try await LocalSendLoopback.run { receiver in
            let session = try #require(try await receiver.ask([.sample("a")]).session)
            let first = try await RawSender.run(receiver.port) { sender in
                try await sender.begin(path("a", in: session), "content-length: 5")
                try await sender.write("he")
                while receiver.inbox.everStagedCount == 0 { try await Task.sleep(for: .milliseconds(5)) }
                let second = try await receiver.upload("jello", as: "a", in: session)
                #expect(second == 409)
                try await sender.write("llo")
                return try await sender.status()
            }
            #expect(first == 200)
            #expect(receiver.inbox["a"]?.bytes == Array("hello".utf8))
            let third = try await receiver.upload("jello", as: "a", in: session)
            #expect(third == 403)
        }
    }

    @Test("a token counts in its own session only")
    func foreignToken() async throws {
        try await LocalSendLoopback.run { receiver in
            let one = try #require(try await receiver.ask([.sample("a")]).session)
            let two = try #require(try await receiver.ask([.sample("a", id: "b")]).session)
            let foreign = try await receiver.upload("hello", as: "a", in: one, token: two.files["b"])
            #expect(foreign == 403)
            let moved = LocalSendSession(sessionId: two.sessionId, files: one.files)
            let other = try await receiver.upload("hello", as: "a", in: moved)
            #expect(other == 403)
            #expect(receiver.inbox.names.isEmpty)
        }
    }

    @Test("a file that comes slowly delays no other sender, and one that stops is dropped")
    func slow() async throws {
        var waits = LocalSendServer.Waits()
        waits.silence = .milliseconds(300)
        try await LocalSendLoopback.run(waits: waits) { receiver in
            let slow = try #require(try await receiver.ask([.sample("slow")]).session)
            let status = try await RawSender.run(receiver.port) { sender in
                try await sender.begin(path("slow", in: slow), "content-length: 5")
                try await sender.write("he")
                while receiver.inbox.everStagedCount == 0 { try await Task.sleep(for: .milliseconds(5)) }
                let other = try #require(try await receiver.ask([.sample("quick")]).session)
                let quick = try await receiver.upload("hello", as: "quick", in: other)
                #expect(quick == 200)
                return try await sender.status()
            }
            #expect(status != 200)
            while receiver.inbox.stagedCount > 0 { try await Task.sleep(for: .milliseconds(5)) }
            #expect(receiver.inbox.names == ["quick"])
            // The sender may try again.
            let again = try await receiver.upload("hello", as: "slow", in: slow)
            #expect(again == 200)
        }
    }

    @Test("an accepted offer whose files never come is over after its time")
    func neverComes() async throws {
        var waits = LocalSendServer.Waits()
        waits.file = .milliseconds(100)
        try await LocalSendLoopback.run(waits: waits) { receiver in
            let session = try #require(try await receiver.ask([.sample("t/a"), .sample("t/b")]).session)
            let end = try await receiver.events.first { if case .ended = $0 { true } else { false } }
            guard case .ended(_, _, let receipt, let fault) = end else { return }
            #expect(receipt.items.allSatisfy { !$0.isStored })
            #expect(fault?.code == .interrupted)
            let late = try await receiver.upload("hello", as: "t-a", in: session)
            #expect(late == 403)
            #expect(receiver.inbox.stagedCount == 0)
        }
    }

    @Test("a query with too much in it, and one that cannot be read, is as one without")
    func oddQueries() async throws {
        try await LocalSendLoopback.run { receiver in
            let many = String(repeating: "a=b&", count: 1_000)
            for query in [
                many + "sessionId=1&fileId=a&token=x", "sessionId=%FF&fileId=%&token=x", "", "&&&", "sessionId",
            ] {
                let status = try await receiver.postStatus("upload?" + query)
                #expect(status == 400, "\(query.suffix(40))")
            }
        }
    }
}
