import Foundation
import TestSupport
import Testing

/// Previews between two peers, with the real programs.
@Suite("Previews in offers", .serialized, .timeLimit(.minutes(2)))
struct OfferPreviewTests {
    /// Runs a receiver that asks, and whose contact the sender is.
    private func withPair(
        areContacts: Bool = true, _ setting: String? = nil,
        _ body:
            @escaping @Sendable (_ kitchen: Host, _ study: Host, _ running: RunningReceiver, String) async throws ->
            Void
    ) async throws {
        try await withTemporaryFolder { folder in
            let kitchen = Host.loopback(folder + "/kitchen")
            var study = Host.loopback(folder + "/study")
            study.environment["XDG_CACHE_HOME"] = folder + "/cache"
            try await kitchen.becomeVisible()
            if areContacts { try await kitchen.allow(study, "anna") }
            if areContacts { try await study.allow(kitchen, "kitchen") }
            if let setting {
                #expect(try await kitchen.run(arguments: ["config", "set", "previews", setting]).exit == 0)
            }
            let sender = study
            try await kitchen.withReceiver(Programs.waftd, ["--name", "kitchen"]) { running in
                try await body(kitchen, sender, running, folder)
            }
        }
    }

    private func write(_ bytes: [UInt8], _ path: String) throws {
        try Data(bytes).write(to: URL(fileURLWithPath: path))
    }

    @Test("arrive with the offer of a contact, are written byte by byte, and are gone with the offer")
    func whole() async throws {
        try await withPair { kitchen, study, running, folder in
            let picture = PreviewSample.png(padding: 20_000)
            try write(picture, folder + "/small.png")
            for name in ["a.txt", "b.txt"] { try write(Array("hello".utf8), folder + "/" + name) }
            async let sending = study.run(
                arguments: ["send", "a.txt", "b.txt", "--thumbnail", "small.png", "--to", running.address], in: folder)
            _ = try await running.log.first("offer")
            let list = try await kitchen.run(arguments: ["offers"])
            #expect(list.output.contains("  1. a.txt  ") && list.output.contains(", with a preview\n"), "\(list)")
            let shown = try await kitchen.run(arguments: ["offers", "preview", "1.1"])
            #expect(shown.exit == 0 && shown.output == "1.1  a.txt  image/png, 2 by 3 pixels, 20.1 kB\n", "\(shown)")
            for attempt in 1...2 {
                let written = try await kitchen.run(
                    arguments: ["offers", "preview", "1.1", "--out", "copy.png", "--json"], in: folder)
                #expect(written.exit == (attempt == 1 ? 0 : 64), "\(written)")
                #expect(try Data(contentsOf: URL(fileURLWithPath: folder + "/copy.png")) == Data(picture))
            }
            for (words, exit) in [("1.2", 66), ("1.3", 66), ("2.1", 66), ("1.x", 64)] {
                let none = try await kitchen.run(arguments: ["offers", "preview", words])
                #expect(none.exit == exit && none.errors.hasPrefix("waft: "), "\(none)")
            }
            #expect(try await kitchen.run(arguments: ["accept", "1"]).exit == 0)
            #expect(try await sending.exit == 0)
            let gone = try await kitchen.run(arguments: ["offers", "preview", "1.1"])
            #expect(gone.exit == 66 && gone.errors.contains("no offer 1 waits for an answer"), "\(gone)")
        }
    }

    @Test("of strangers are neither sent nor shown, unless the receiver and the sender show everyone's")
    func strangers() async throws {
        for setting in ["contacts", "everyone"] {
            try await withPair(areContacts: false, setting) { kitchen, study, running, folder in
                try write(PreviewSample.jpeg(), folder + "/small.jpg")
                var study = study
                study.environment["WAFT_PREVIEWS"] = "everyone"
                let sender = study
                async let sending = sender.run(
                    arguments: ["send", "--text", "x", "--thumbnail", "small.jpg", "--to", running.address], in: folder)
                _ = try await running.log.first("offer")
                let shown = try await kitchen.run(arguments: ["offers", "preview", "1"])
                #expect(shown.exit == (setting == "everyone" ? 0 : 66), "\(setting): \(shown)")
                #expect(try await kitchen.run(arguments: ["decline", "1"]).exit == 0)
                #expect(try await sending.exit == 12)
            }
        }
    }

    @Test("come from a source program, and from a thumbnailer of the system in the sandbox")
    func made() async throws {
        let hasThumbnailer = FileManager.default.fileExists(
            atPath: "/usr/share/thumbnailers/gdk-pixbuf-thumbnailer.thumbnailer")
        try await withPair { kitchen, study, running, folder in
            try write(PreviewSample.jpeg(7, 9), folder + "/own.jpg")
            try writeScript(
                """
                #!/bin/sh
                case $1 in
                placeholder) echo '{"name": "a.txt", "thumbnail": true}';;
                thumbnail) cat '\(folder)/own.jpg';;
                item) echo x;;
                esac
                """, to: folder + "/source")
            try write(Self.picture, folder + "/photo.bmp")
            var (number, hasAll) = (0, false)
            // An offer waits a second for its previews: on a busy machine they are not all in the first one.
            while !hasAll {
                number += 1
                async let sending = study.run(
                    arguments: ["send", "photo.bmp", "--source", "./source", "--to", running.address], in: folder)
                try await eventually { await running.log.count("offer") == number }
                let own = try await kitchen.run(arguments: ["offers", "preview", "\(number).2"])
                let photo = try await kitchen.run(arguments: ["offers", "preview", "\(number).1"])
                hasAll = own.exit == 0 && (photo.exit == 0 || !hasThumbnailer)
                #expect(try await kitchen.run(arguments: [hasAll ? "accept" : "decline", "\(number)"]).exit == 0)
                #expect(try await sending.exit == (hasAll ? 0 : 12))
                guard hasAll else { continue }
                let facts = "image/jpeg, 7 by 9 pixels, \(PreviewSample.jpeg().count) bytes\n"
                #expect(own.output == "\(number).2  a.txt  " + facts, "\(own)")
                guard hasThumbnailer else { continue }
                #expect(photo.output.hasPrefix("\(number).1  photo.bmp  image/png, 128 by 128 pixels"), "\(photo)")
            }
        }
    }

    /// A bitmap of 200 by 200 pixels.
    private static var picture: [UInt8] {
        var bytes: [UInt8] = Array("BM".utf8)
        func add(_ number: UInt32) {
            for shift in [0, 8, 16, 24] as [UInt32] { bytes.append(UInt8(truncatingIfNeeded: number >> shift)) }
        }
        // The sizes of the file and of its headers, 200 by 200 pixels, one plane of 24 bits, and the resolution.
        for number in [54 + 120_000, 0, 54, 40, 200, 200, 1 + (24 << 16), 0, 120_000, 2_835, 2_835, 0, 0] as [UInt32] {
            add(number)
        }
        for number in 0..<40_000 as Range<UInt32> { bytes += [UInt8(truncatingIfNeeded: number), 0x80, 0x40] }
        return bytes
    }

    @Test("--thumbnail of another file, or with --queue, is refused before anything is sent")
    func words() async throws {
        try await withTemporaryFolder { folder in
            let study = Host.loopback(folder + "/study")
            try write(PreviewSample.png(60_000, 60_000), folder + "/a.png")
            let wide = try await study.run(
                arguments: ["send", "--text", "x", "--thumbnail", "a.png", "--to", "x"], in: folder)
            #expect(wide.exit == 64 && wide.errors.split(separator: "\n").count == 1, "\(wide)")
            let queued = try await study.run(
                arguments: ["send", "--text", "x", "--thumbnail", "a.png", "--queue", "--to", "x"], in: folder)
            #expect(queued.exit == 64 && queued.errors.contains("--queue"), "\(queued)")
        }
    }
}
