import Foundation
import Testing
import WaftKit

@Suite("The example program over the library", .timeLimit(.minutes(1)))
struct ExampleTests {
    @Test("it sends a text over loopback when the offer is accepted, and lists it where it arrived")
    func exchange() async throws {
        let (kitchen, study) = (TestReceiver(name: "kitchen"), TestReceiver(name: "study"))
        let (home, other) = (kitchen.home, study.home)
        try await kitchen.running { address in
            async let sending = Self.run(["send", other, address, "hello"])
            // Not by the example's `accept`: a program that the receiver's process started may not answer for the user.
            let waft = try Waft(home: home)
            for try await offers in waft.offers() {
                guard let offer = offers.first else { continue }
                try await waft.answer(offer, .accept)
                break
            }
            let sent = try await sending
            #expect(sent.contains("stored"), "\(sent)")
            let listed = try await Self.run(["list", home]).split(separator: "\n")
            #expect(listed.count == 1)
        }
    }

    /// - Returns: the standard output of the example, which is in the same folder as the tests.
    private static func run(_ words: [String]) async throws -> String {
        let own = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        let (program, pipe) = (Process(), Pipe())
        program.executableURL = URL(fileURLWithPath: own).deletingLastPathComponent().appending(path: "send-and-answer")
        (program.arguments, program.standardOutput) = (words, pipe)
        try program.run()
        return await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                let output = pipe.fileHandleForReading.readDataToEndOfFile()
                program.waitUntilExit()
                continuation.resume(returning: String(decoding: output, as: UTF8.self))
            }
        }
    }
}
