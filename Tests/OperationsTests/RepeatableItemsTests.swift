import Foundation
import ItemSources
import Lines
import Outbox
import Settings
import Sharing
import Testing

@testable import Operations

@Suite("Items that several peers can get")
struct RepeatableItemsTests {
    private let kitchen: Kitchen

    init() throws { kitchen = try Kitchen(jobs: 0) }

    /// A file that is handed over once.
    private func handed(_ text: String, isWhole: Bool = true) throws -> [any ItemSource] {
        var sources = SendSources(paths: [])
        sources.handed = [
            HandedItem(name: "a.txt", isFolder: false, size: UInt64(text.utf8.count), entries: nil) { bytes in
                _ = Array(text.utf8).withUnsafeBytes { bytes.write($0) }
                bytes.finish(isWhole: isWhole)
            }
        ]
        return try sources.make()
    }

    private func contents(_ source: any ItemSource) throws -> String {
        let reading = try source.open()
        _ = try reading.next()
        var bytes = [UInt8](repeating: 0, count: 1_000)
        let count = try bytes.withUnsafeMutableBytes { try reading.read(into: $0) }
        return String(decoding: bytes[..<count], as: UTF8.self)
    }

    /// The names of the folders of copies.
    private func drafts() throws -> [String] {
        let names = try? FileManager.default.contentsOfDirectory(atPath: kitchen.home.outbox)
        return (names ?? []).filter { $0.hasPrefix(".new-") }
    }

    @Test("what is handed over once is read again and again, under its name, and the copy goes with the items")
    func copied() throws {
        let handed = try handed("hello")
        do {
            let items = try RepeatableItems(handed, of: kitchen.waft, cancellation: Cancellation())
            let copy = try #require(items.sources.first)
            #expect(copy.isRepeatable && copy.offered == handed[0].offered)
            #expect(try [contents(copy), contents(copy)] == ["hello", "hello"])
            #expect(try drafts().count == 1)
            withExtendedLifetime(items) {}
        }
        #expect(try drafts() == [])
        #expect(try kitchen.store.contents().records.isEmpty)
    }

    @Test("items that can be read again are taken as they are, and nothing is copied")
    func untouched() throws {
        let text = TextSource("hello")
        let items = try RepeatableItems([text], of: kitchen.waft, cancellation: Cancellation())
        #expect(items.sources.first === text)
        #expect(try drafts() == [])
    }

    @Test("a browser that goes away, and a cancellation, leave nothing")
    func broken() throws {
        let gone = #expect(throws: WaftError.self) {
            try RepeatableItems(handed("hel", isWhole: false), of: kitchen.waft, cancellation: Cancellation())
        }
        #expect(gone?.code == .inputMissing)
        let cancellation = Cancellation()
        cancellation.request()
        let cancelled = #expect(throws: WaftError.self) {
            try RepeatableItems(handed("hello"), of: kitchen.waft, cancellation: cancellation)
        }
        #expect(cancelled?.code == .interrupted)
        #expect(try drafts() == [])
    }
}
