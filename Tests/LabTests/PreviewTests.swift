import Foundation
import Testing

/// `waft preview` and `waft inbox preview`, with the real programs.
@Suite("Previews", .serialized)
struct PreviewTests {
    private static let png: [UInt8] =
        [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 13] + Array("IHDR".utf8)
        + [0, 0, 2, 0x80, 0, 0, 1, 0xE0, 8, 2, 0, 0, 0]

    private func write(_ bytes: [UInt8], _ path: String) throws {
        try Data(bytes).write(to: URL(fileURLWithPath: path))
    }

    @Test("a preview of each kind is printed, escaped, and each line of --json keeps the contract")
    func kinds() async throws {
        try await withTemporaryFolder { folder in
            let host = Host.loopback(folder + "/home")
            try write(Array("one\u{1B}[31m\n\ttwo\n".utf8), folder + "/a.txt")
            try write(Self.png, folder + "/photo.png")
            try write(Array("[InternetShortcut]\r\nURL=https://example.org/a?b=c\r\n".utf8), folder + "/x.url")
            try write(Array("BEGIN:VCARD\nFN:A\nEND:VCARD\n".utf8), folder + "/a.vcf")
            try FileManager.default.createDirectory(atPath: folder + "/tree/in", withIntermediateDirectories: true)
            try write([1], folder + "/tree/in/one")
            let files = ["a.txt", "photo.png", "x.url", "a.vcf", "tree"]
            let shown = try await host.run(arguments: ["preview"] + files, in: folder)
            #expect(shown.exit == 0 && shown.errors == "", "\(shown)")
            let lines = shown.output.split(separator: "\n").map(String.init)
            #expect(lines[0] == "a.txt: public.plain-text, 14 bytes, UTF-8", "\(shown)")
            #expect(Array(lines[1...2]) == ["  one\\u{1B}[31m", "          two"])
            #expect(lines.contains("photo.png: public.png, 29 bytes, 640 x 480 pixels"))
            #expect(lines.contains("  host      example.org") && lines.contains("  query     b=c"))
            #expect(lines.contains("a.vcf: public.vcard, 27 bytes, UTF-8") && lines.contains("  FN:A"))
            #expect(lines.contains("tree: public.folder"))
            #expect(lines.last?.hasSuffix("1 byte    one") == true, "\(shown)")
            let json = try await host.run(arguments: ["preview", "--json"] + files, in: folder)
            #expect(json.events.map(\.event) == files.map { _ in "preview" }, "\(json)")
        }
    }

    @Test("nothing to show is 13 with the type")
    func nothing() async throws {
        try await withTemporaryFolder { folder in
            let host = Host.loopback(folder + "/home")
            try write([0, 1, 2, 3, 0xFF, 0, 9], folder + "/a.bin")
            let none = try await host.run(arguments: ["preview", "a.bin"], in: folder)
            #expect(none.exit == 13)
            #expect(none.errors == "waft: a.bin: there is no preview of public.data\n", "\(none)")
        }
    }

    @Test("PDF documents are shown by pdfinfo and pdftotext, and one with another name by neither of them")
    func documents() async throws {
        try await withTemporaryFolder { folder in
            var host = Host.loopback(folder + "/home")
            try FileManager.default.createDirectory(atPath: folder + "/bin", withIntermediateDirectories: true)
            try writeScript("#!/bin/sh\necho 'Title: x'; echo 'Pages:          3'\n", to: folder + "/bin/pdfinfo")
            try writeScript(
                "#!/bin/sh\nhead -c 8 /dev/stdin; printf '\\n\\033[2Jred\\n\\n\\f'\n", to: folder + "/bin/pdftotext")
            host.environment["PATH"] = folder + "/bin:\(BareSystem.programs)"
            for name in ["report.pdf", "report.png"] { try write(Array("%PDF-1.4\n%%EOF\n".utf8), folder + "/" + name) }
            let shown = try await host.run(arguments: ["preview", "report.pdf"], in: folder)
            let lines = ["report.pdf: com.adobe.pdf, 15 bytes, 3 pages", "  %PDF-1.4", "  \\u{1B}[2Jred", ""]
            #expect(shown.output == lines.joined(separator: "\n"), "\(shown)")
            let liar = try await host.run(arguments: ["preview", "report.png"], in: folder)
            #expect(liar.exit == 13 && liar.errors.contains("there is no preview of com.adobe.pdf"), "\(liar)")
            #expect(liar.output.hasPrefix("report.png: ") && liar.output.contains("PDF"), "\(liar)")
        }
    }

    /// Of one pixel.
    private static let picture =
        "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

    @Test("--out writes a picture of a page by pdftocairo, replaces no file, and - is standard output")
    func pictures() async throws {
        try await withTemporaryFolder { folder in
            var host = Host.loopback(folder + "/home")
            try FileManager.default.createDirectory(atPath: folder + "/bin", withIntermediateDirectories: true)
            let script = """
                #!/bin/sh
                case "$*" in
                *"-f 2 -l 2 -scale-to 64 /dev/stdin -") echo '\(Self.picture)' | base64 -d ;;
                *) echo 'no picture' ;;
                esac
                """
            try writeScript(script + "\n", to: folder + "/bin/pdftocairo")
            host.environment["PATH"] = folder + "/bin:\(BareSystem.programs)"
            try write(Array("%PDF-1.4 report\n".utf8), folder + "/a.pdf")
            try write(Array("%PDF-1.4 report\n".utf8), folder + "/a.png")
            let page = ["preview", "a.pdf", "--page", "2", "--pixels", "64", "--out"]
            let made = try await host.run(arguments: page + ["page.png"], in: folder)
            let line = "a.pdf: image/png, 1 by 1 pixels, 70 bytes\n  written to \(folder)/page.png\n"
            #expect(made.exit == 0 && made.output == line, "\(made)")
            let picture = Data(base64Encoded: Self.picture)
            #expect(FileManager.default.contents(atPath: folder + "/page.png") == picture)
            let again = try await host.run(arguments: page + ["page.png"], in: folder)
            #expect(again.exit == 64 && again.errors.contains("no file is replaced"), "\(again)")
            let nowhere = try await host.run(arguments: page + ["none/page.png"], in: folder)
            #expect(nowhere.exit == 64 && nowhere.errors.contains("make the folder first"), "\(nowhere)")
            let json = try await host.run(arguments: page + ["other.png", "--json"], in: folder)
            #expect(json.events.map(\.event) == ["picture"], "\(json)")
            let piped = try await host.run(
                "/bin/sh", ["-c", "\"$0\" \"$@\" - > piped.png", Programs.waft] + page, in: folder)
            #expect(
                piped.exit == 0 && FileManager.default.contents(atPath: folder + "/piped.png") == picture, "\(piped)")
            // The output of the program is no picture; the file is not what its name says.
            for (name, reason) in [("a.pdf", "could be made"), ("a.png", "not what its name says"), (".", "a folder")] {
                let none = try await host.run(arguments: ["preview", name, "--out", "none.png"], in: folder)
                #expect(none.exit == 13 && none.errors.contains(reason), "\(none)")
            }
            for words in [
                ["a.pdf", "--page", "2"], ["a.pdf", "--out", "x", "--pixels", "8"], ["a.pdf", "a.png", "--out", "x"],
                ["a.pdf", "--out", "-", "--json"], ["a.pdf", "--out", "x", "--window"],
            ] {
                #expect(try await host.run(arguments: ["preview"] + words, in: folder).exit == 64, "\(words)")
            }
            let left = try FileManager.default.contentsOfDirectory(atPath: folder).filter { $0.hasSuffix(".png") }
            #expect(left.sorted() == ["a.png", "other.png", "page.png", "piped.png"])
        }
    }

    @Test("an item of the Inbox is shown by its number and its name, and a liar as what it is, with the warning first")
    func items() async throws {
        try await withTemporaryFolder { folder in
            let (host, sender) = (Host.loopback(folder + "/kitchen"), Host.loopback(folder + "/study"))
            try write(Array("hello\n".utf8), folder + "/a.txt")
            try write(Self.png, folder + "/photo.pdf")
            try await host.withReceiver { running in
                let words = ["send", "a.txt", "photo.pdf", "--to", running.address]
                let sent = try await sender.run(arguments: words, in: folder)
                #expect(sent.exit == 0)
            }
            let shown = try await host.run(arguments: ["inbox", "preview", "1"])
            #expect(shown.output == "1  a.txt: public.plain-text, 6 bytes, UTF-8\n  hello\n", "\(shown)")
            let liar = try await host.run(arguments: ["inbox", "preview", "photo.pdf"])
            let lines = liar.output.split(separator: "\n")
            #expect(lines.count == 2 && lines.first?.hasPrefix("2  photo.pdf: ") == true, "\(liar)")
            #expect(lines.last == "2  photo.pdf: public.png, 29 bytes, 640 x 480 pixels")
            let json = try await host.run(arguments: ["inbox", "preview", "2", "--json"])
            #expect(json.events.first?.arrival == 2 && json.events.first?.type == "public.png", "\(json)")
            #expect(try await host.run(arguments: ["inbox", "preview", "9"]).exit == 66)
        }
    }

    @Test("a link that was received is no liar, and its preview shows its parts")
    func links() async throws {
        try await withTemporaryFolder { folder in
            let (host, sender) = (Host.loopback(folder + "/kitchen"), Host.loopback(folder + "/study"))
            try await host.withReceiver { running in
                let words = ["send", "--url", "https://example.com/x", "--to", running.address]
                let sent = try await sender.run(arguments: words)
                #expect(sent.exit == 0)
            }
            let shown = try await host.run(arguments: ["inbox", "preview", "1"])
            #expect(shown.exit == 0 && shown.output.hasPrefix("1  example.com.url: public.url, 47 bytes\n"), "\(shown)")
            #expect(shown.output.contains("host      example.com\n"))
        }
    }
}
