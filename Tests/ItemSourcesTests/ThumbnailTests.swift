import Digests
import Executors
import Foundation
import Sharing
import TestSupport
import Testing

@testable import ItemSources

@Suite("A thumbnail of a source", .timeLimit(.minutes(1)))
struct ThumbnailTests {
    private let folder = TemporaryFolder()
    private let cache = TemporaryFolder()

    private func write(_ bytes: [UInt8], _ path: String) throws {
        let place = URL(fileURLWithPath: path)
        try FileManager.default.createDirectory(
            at: place.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(bytes).write(to: place)
    }

    /// Puts a thumbnail of a file into the cache, as the desktop does.
    private func cache(_ path: String, size: String = "normal", uri: String? = nil, later: Int = 0) throws -> [UInt8] {
        let date = try #require(
            FileManager.default.attributesOfItem(atPath: path)[.modificationDate] as? Date)
        let modified = Int(date.timeIntervalSince1970.rounded(.down))
        let address = CachedThumbnail.uri(path)
        let texts = ["Thumb::URI": uri ?? address, "Thumb::MTime": "\(modified + later)"]
        let bytes = PreviewSample.png(9, 9, texts: texts)
        let name = try #require(MD5.hexadecimal(address))
        try write(bytes, cache / "\(size)/\(name).png")
        return bytes
    }

    @Test("of the desktop's cache is found by the MD5 of the file's URI, the larger one first")
    func found() throws {
        #expect(MD5.hexadecimal("file:///home/jens/photos/me.png") == "c6ee772d9e49320e97ec29a7eb5b1697")
        #expect(CachedThumbnail.uri("/a b/ü;(1)+.png") == "file:///a%20b/%C3%BC%3B(1)+.png")
        let path = folder.file("a b.jpg", "x")
        #expect(CachedThumbnail.find(of: path, in: cache.path) == nil)
        let small = try cache(path)
        #expect(CachedThumbnail.find(of: path, in: cache.path)?.bytes == small)
        let large = try cache(path, size: "large")
        #expect(CachedThumbnail.find(of: folder.path + "/./a b.jpg", in: cache.path)?.bytes == large)
    }

    @Test("that was made of an earlier state of the file, or of another file, is none")
    func stale() throws {
        let path = folder.file("a.jpg", "x")
        _ = try cache(path, later: -1)
        #expect(CachedThumbnail.find(of: path, in: cache.path) == nil)
        _ = try cache(path, uri: "file:///another")
        #expect(CachedThumbnail.find(of: path, in: cache.path) == nil)
    }

    @Test("is in the cache of the desktop, by the variables of the environment")
    func place() {
        #expect(CachedThumbnail.folder(["HOME": "/h"]) == "/h/.cache/thumbnails")
        #expect(CachedThumbnail.folder(["HOME": "/h", "XDG_CACHE_HOME": "/c"]) == "/c/thumbnails")
        #expect(CachedThumbnail.folder(["XDG_CACHE_HOME": "c"]) == nil)
    }

    private func source(_ thumbnail: String, promises: Bool = true) throws -> ProgramSource {
        let script = """
            #!/bin/sh
            case "$1 $2" in
            "placeholder ") echo '{"name": "a", "thumbnail": \(promises)}';;
            "thumbnail 256x256") \(thumbnail);;
            esac
            """
        return try #require(
            try ProgramSource.asking(folder.program("source", script), activity: "org.waft.activity.airdrop"))
    }

    @Test("of a program is its output, if the placeholder promises one and the exit code is 0")
    func program() throws {
        try write(PreviewSample.png(), folder / "picture")
        let output = "cat '\(folder / "picture")'"
        #expect(try source(output).thumbnail()?.bytes == PreviewSample.png())
        #expect(try source(output + "; exit 1").thumbnail() == nil)
        #expect(try source(output, promises: false).thumbnail() == nil)
        #expect(try source("echo text").thumbnail() == nil)
        #expect(try source("kill -9 $$").thumbnail() == nil)
        #expect(try source("head -c 100000 /dev/zero").thumbnail() == nil)
        #expect(try source(#"[ "$WAFT_ACTIVITY" = org.waft.activity.airdrop ] && \#(output)"#).thumbnail() != nil)
    }

    @Test("of a program that is too slow is none, and the program is ended, also if it does not want to end")
    func slow() async throws {
        let source = try source("trap '' TERM; echo $$ >'\(folder / "pid")'; while :; do sleep 1; done")
        #expect(source.thumbnail(within: .seconds(2)) == nil)
        let process = try #require(
            Int32(String(contentsOfFile: folder / "pid", encoding: .utf8).trimmingCharacters(in: .newlines)))
        #expect(kill(process, 0) != 0)
        let asking = Task { await BackgroundThread.run("thumbnail") { source.thumbnail(within: .seconds(3_600)) } }
        asking.cancel()
        let asked = await asking.value
        #expect(asked == .some(nil))
    }
}
