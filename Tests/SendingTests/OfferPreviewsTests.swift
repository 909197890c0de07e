import Endpoints
import Foundation
import ItemSources
import Logging
import Settings
import Sharing
import TestSupport
import Testing

@testable import Sending

@Suite("The previews of what is sent", .timeLimit(.minutes(1)))
struct OfferPreviewsTests {
    private let folder = TemporaryFolder()
    private let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    private func maker() throws -> PreviewMaker {
        let environment = ["WAFT_HOME": folder / "home", "XDG_CACHE_HOME": folder / "cache"]
        return PreviewMaker(
            home: try Home(environment: environment), settings: Settings(hostName: "host"), environment: environment,
            thumbnailers: folder / "none", logger: logger)
    }

    /// Sources that have a thumbnail each, after a command.
    private func sources(_ count: Int, _ command: String = ":") throws -> [any ItemSource] {
        try Data(PreviewSample.png()).write(to: URL(fileURLWithPath: folder / "picture"))
        let script = """
            #!/bin/sh
            [ $1 = placeholder ] && echo '{"name": "a", "thumbnail": true, "repeatable": true}' && exit
            \(command)
            echo x >>'\(folder / "calls")'
            cat '\(folder / "picture")'
            """
        let path = folder.program("source", script)
        return try (0..<count).map { _ in
            try #require(try ProgramSource.asking(path, activity: "org.waft.activity.airdrop"))
        }
    }

    private func offer(_ sources: [any ItemSource]) -> Offer {
        Offer(items: sources.map(\.offered), senderName: "a test")
    }

    @Test("are those of the first 16 items, and are made once for all peers")
    func made() async throws {
        let sources = try sources(18)
        let previews = OfferPreviews(sources, rule: .contacts, maker: try maker())
        #expect(!FileManager.default.fileExists(atPath: folder / "calls"))
        // Each offer takes those that are ready within a second: on a slow machine these are not all.
        _ = await previews.offer(offer(sources))
        let second = await previews.offer(offer(sources))
        #expect(second.items[0].preview?.bytes == PreviewSample.png())
        #expect(second.items[16...].compactMap(\.preview).isEmpty)
        let calls = try String(contentsOfFile: folder / "calls", encoding: .utf8).split(separator: "\n").count
        #expect(calls <= 16)
    }

    @Test("are none for more than 100 items, but for the one that is given")
    func many() async throws {
        let one = try #require(try sources(1).first)
        let sources = Array(repeating: one, count: OfferPreviews.maximumItems + 1)
        let given = ItemPreview(PreviewSample.jpeg())
        let previews = OfferPreviews(sources, given: given, rule: .everyone, maker: try maker())
        let items = await previews.offer(offer(sources)).items
        #expect(items[0].preview == given)
        #expect(items.compactMap(\.preview).count == 1)
        #expect(!FileManager.default.fileExists(atPath: folder / "calls"))
    }

    @Test("an offer does not wait for one that takes longer than a second")
    func slow() async throws {
        let sources = try sources(1, "sleep 1000")
        let previews = OfferPreviews(sources, rule: .contacts, maker: try maker())
        #expect(await previews.offer(offer(sources)).hasPreviews == false)
    }

    @Test("a thumbnailer that desktops bring comes before any other, whatever the names")
    func thumbnailerOrder() throws {
        for name in ["aaa", "totem", "gdk-pixbuf-thumbnailer", "librsvg", "zzz"] {
            folder.file("\(name).thumbnailer", "[Thumbnailer Entry]\nExec=/bin/sh \(name)\nMimeType=image/png;\n")
        }
        folder.file("0.txt", "")
        #expect(
            Thumbnailer.all(in: folder.path).map { $0.arguments(pixels: 1) } == [
                ["gdk-pixbuf-thumbnailer"], ["librsvg"], ["totem"], ["aaa"], ["zzz"],
            ])
    }

    @Test("a program of the system is known by its file, with the words for its input and output")
    func thumbnailer() throws {
        let thumbnailer = try #require(
            Thumbnailer(
                """
                [Desktop Entry]
                Exec=/bin/false
                [Thumbnailer Entry]
                TryExec=/usr/bin/a
                Exec=/usr/bin/a -s %s %u %o -i=%i 100%%
                MimeType=image/png;Image/JPEG;
                """))
        #expect(thumbnailer.program == "/usr/bin/a")
        #expect(
            thumbnailer.arguments(pixels: 128)
                == ["-s", "128", "file:///dev/stdin", "/dev/stdout", "-i=/dev/stdin", "100%"])
        #expect(thumbnailer.types == ["image/png", "image/jpeg"])
        for text in ["", "[Thumbnailer Entry]\nExec=a %i", "[Thumbnailer Entry]\nExec=/bin/sh -c 'a %i'"] {
            #expect(Thumbnailer(text) == nil, "\(text)")
        }
    }
}
