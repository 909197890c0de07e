import Glibc
import Synchronization
import Testing

@testable import Executors

@Suite("A thread that writes texts", .timeLimit(.minutes(1)))
struct OutputThreadTests {
    @Test("writes those together that wait for one descriptor, and all in their order")
    func together() throws {
        let (gate, output) = (Semaphore(), OutputThread(name: "waft-test"))
        let (first, second) = (try Packets(), try Packets())
        let ended = Mutex(0)
        func write(_ text: String, to packets: Packets) {
            output.write(text.utf8.count, to: packets.writing, { text }) { number in
                #expect(number == 0)
                ended.withLock { $0 += 1 }
            }
        }
        output.write(
            2, to: first.writing,
            {
                gate.wait()
                return "a\n"
            }, { _ in })
        for text in ["b\n", "c\n"] { write(text, to: first) }
        write("1\n", to: second)
        for text in ["d\n", "e\n"] { write(text, to: first) }
        // The text before it has to wait for its maker, and what comes meanwhile is written after it.
        gate.signal()
        output.flush(pause: 10) { false }
        #expect(first.all().joined() == "a\nb\nc\nd\ne\n")
        #expect(second.all() == ["1\n"])
        #expect(ended.withLock { $0 } == 5)
    }

    @Test("writes a thousand lines in a few pieces")
    func few() throws {
        let (gate, output) = (Semaphore(), OutputThread(name: "waft-test"))
        let packets = try Packets()
        let begun = Semaphore()
        output.write(
            2, to: packets.writing,
            {
                begun.signal()
                gate.wait()
                return "0\n"
            }, { _ in })
        begun.wait()
        for number in 1...1_000 { output.write(1_024, to: packets.writing, { "\(number)\n" }, { _ in }) }
        gate.signal()
        output.flush(pause: 10) { false }
        let all = packets.all()
        #expect(all.joined() == (0...1_000).map { "\($0)\n" }.joined())
        #expect(all.count == 1 + 32, "one by one, then 32 KiB at a time")
    }

    /// A socket that shows what was written at once.
    private final class Packets {
        let writing: Int32
        private let reading: Int32

        init() throws {
            var ends: [Int32] = [-1, -1]
            try #require(
                socketpair(AF_UNIX, Int32(SOCK_SEQPACKET.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0, &ends) == 0)
            (reading, writing) = (ends[0], ends[1])
        }

        deinit {
            close(reading)
            close(writing)
        }

        func all() -> [String] {
            var (packets, buffer) = ([String](), [UInt8](repeating: 0, count: 64 << 10))
            while true {
                let count = recv(reading, &buffer, buffer.count, Int32(MSG_DONTWAIT))
                guard count > 0 else { return packets }
                packets.append(String(decoding: buffer.prefix(count), as: UTF8.self))
            }
        }
    }
}
