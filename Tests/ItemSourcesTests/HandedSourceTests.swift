import Foundation
import Glibc
import Sharing
import TestSupport
import Testing
import UniformTypes

@testable import ItemSources

/// Hands `pieces` over from a thread of its own.
private func handing(_ pieces: [[UInt8]], isWhole: Bool = true) -> @Sendable (any HandedBytes) -> Void {
    { bytes in
        // Not a task: the reader blocks, and there may be no other thread for tasks.
        Thread {
            for piece in pieces {
                var rest = piece[...]
                while !rest.isEmpty {
                    guard let count = rest.withUnsafeBytes({ bytes.write($0) }) else { return }
                    rest = rest.dropFirst(count)
                    if count == 0 { sched_yield() }
                }
            }
            bytes.finish(isWhole: isWhole)
        }.start()
    }
}

private func contents(_ source: HandedSource) throws -> [UInt8] {
    let reading = try source.open()
    _ = try reading.next()
    var all: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 64 << 10)
    while true {
        let count = try buffer.withUnsafeMutableBytes { try reading.read(into: $0) }
        if count == 0 { return all }
        all += buffer[..<count]
    }
}

@Suite("Items that are handed over while they are sent", .timeLimit(.minutes(1)))
struct HandedSourceTests {
    @Test("the bytes come through in order, more than a pipe holds, and the item is offered by its name and size")
    func whole() throws {
        let piece = (0..<(3 << 20)).map { UInt8(truncatingIfNeeded: $0 / 7) }
        let source = try HandedSource(
            name: "a.txt", kind: .file, size: UInt64(2 * piece.count), entries: nil, want: handing([piece, piece]))
        #expect(source.offered.type == .plainText && source.origin == "a.txt" && !source.isRepeatable)
        #expect(try contents(source) == piece + piece)
        #expect(throws: SourceError.self) { try source.open() }
    }

    @Test("nothing is asked for before the item is read")
    func late() throws {
        let wanted = Recorder<Void>()
        let source = try HandedSource(name: "a", kind: .file, size: 1, entries: nil) { bytes in
            wanted.record(())
            _ = [7].withUnsafeBytes { bytes.write($0) }
            bytes.finish(isWhole: true)
        }
        #expect(wanted.count == 0)
        _ = try source.open()
        #expect(wanted.count == 1)
    }

    @Test(
        "bytes that end too early, too late or without a word are no item",
        arguments: [([[1, 2]], true), ([[1, 2, 3, 4]], true), ([[1, 2, 3]], false)] as [([[UInt8]], Bool)])
    func broken(pieces: [[UInt8]], isWhole: Bool) throws {
        let source = try HandedSource(
            name: "a", kind: .file, size: 3, entries: nil, want: handing(pieces, isWhole: isWhole))
        #expect(throws: SourceError.self) { try contents(source) }
    }

    @Test("a name that cannot be sent and a folder without its counts are refused before anything is offered")
    func refusals() {
        for (name, kind) in [("a/b", ItemKind.file), ("..", .file), ("trip", .tree)] {
            #expect(throws: SourceError.self) {
                try HandedSource(name: name, kind: kind, size: 1, entries: nil) { _ in }
            }
        }
    }
}
