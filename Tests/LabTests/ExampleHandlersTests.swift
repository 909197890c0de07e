import Foundation
import Testing

@Suite("The example photos-by-date", .timeLimit(.minutes(3)))
struct PhotosByDateTests {
    private static let modified = Date(timeIntervalSince1970: 1_000_000_000)  // 2001-09-09
    private let other = [UInt8]("something else".utf8)

    @Test("photos and movies are filed by the day on which the camera says they were taken")
    func byCamera() async throws {
        try await withExample("photos-by-date") { example in
            let fill: [UInt8] = [0xFF, 0xFF, 0xE0, 0, 4, 1, 1]
            let tiff = DatedFiles.tiff("2016:02:29 23:59:59", .big)
            let files: [(name: String, bytes: [UInt8], day: String)] = [
                ("little.jpg", DatedFiles.jpeg("2024:05:17 10:20:30"), "2024/05-17"),
                ("big.JPG", DatedFiles.jpeg("1999:12:31 23:59:59", .big), "1999/12-31"),
                ("fill.jpg", DatedFiles.jpeg(exif: tiff, after: fill), "2016/02-29"),
                ("scan.jpg", DatedFiles.jpeg(exif: DatedFiles.tiff("2010:01:02 00:00:00", tag: 0x9004)), "2010/01-02"),
                ("raw.nef", tiff, "2016/02-29"),
                ("phone.heic", DatedFiles.heic("2023:07:08 01:02:03"), "2023/07-08"),
                ("film.mp4", DatedFiles.movie(Date(timeIntervalSince1970: 1_600_000_000)), "2020/09-13"),
                ("plain.png", other, "2001/09-09"),
            ]
            for (item, file) in files.enumerated() {
                try example.put(file.name, file.bytes, modified: Self.modified)
                let outcome = try await example.call(.init(file.name, item: item))
                #expect(outcome.exit == 0, "\(file.name): \(outcome.errors)")
                let path = "\(example.target)/\(file.day)/\(file.name)"
                #expect(try example.bytes(path) == file.bytes, "\(file.name)")
                #expect(try mode(of: path) == 0o666 & ~umaskOfTests, "it can be edited")
                let attributes = try FileManager.default.attributesOfItem(atPath: path)
                #expect(attributes[.modificationDate] as? Date == Self.modified)
            }
            #expect(try example.files(in: example.target).count == files.count)
            #expect(try example.files(in: example.inbox) == [])
        }
    }

    @Test("an impossible date, in a file whose content contradicts its name, is replaced by the file's own time")
    func hostile() async throws {
        try await withExample("photos-by-date") { example in
            let good = DatedFiles.jpeg("2024:05:17 10:20:30")
            let size = [UInt8](repeating: 0xFF, count: 4)
            let files: [[UInt8]] = [
                [], [0xFF, 0xD8], Array(good.prefix(40)), Array(good.prefix(20)) + size + good.dropFirst(24),
                // A directory that points to itself, to the first one, behind the end.
                DatedFiles.jpeg(exif: DatedFiles.tiff("2024:05:17 10:20:30", pointer: 26, loop: 26)),
                DatedFiles.jpeg(exif: DatedFiles.tiff("2024:05:17 10:20:30", pointer: 8)),
                DatedFiles.jpeg(exif: DatedFiles.tiff("2024:05:17 10:20:30", pointer: .max)),
                DatedFiles.jpeg("0000:00:00 00:00:00"), DatedFiles.jpeg("2023:02:29 00:00:00"),
                DatedFiles.jpeg("9999:01:01 00:00:00"), DatedFiles.jpeg("../../../../../../"),
                DatedFiles.jpeg("2024:05:17"), DatedFiles.heic("2024:05:17 10:20:30", items: 0),
                [0xFF, 0xD8] + [UInt8](repeating: 0xFF, count: 1 << 20),
                [0, 0, 0, 0] + Array("ftypheic".utf8), [0, 0, 0, 1] + Array("ftypheic".utf8) + size + size,
                [0, 0, 0, 12] + Array("ftypisom".utf8) + [0, 0, 0, 0] + Array("moov".utf8) + [0, 0, 0, 1],
            ]
            for (item, bytes) in files.enumerated() {
                try example.put("\(item).jpg", bytes, modified: Self.modified)
                let outcome = try await example.call(.init("\(item).jpg", item: item))
                #expect(outcome.exit == 0, "\(item): \(outcome.errors)")
                #expect(try example.bytes("\(example.target)/2001/09-09/\(item).jpg") == bytes)
            }
        }
    }

    @Test("no cut and no changed byte of a photo makes it fail or wait")
    func fuzz() async throws {
        try await withExample("photos-by-date") { example in
            let samples = [
                DatedFiles.jpeg("2024:05:17 10:20:30"), DatedFiles.tiff("2024:05:17 10:20:30", .big),
                DatedFiles.heic("2024:05:17 10:20:30"), DatedFiles.movie(Self.modified),
            ]
            for (number, sample) in samples.enumerated() { try example.put("\(number)", sample) }
            let script = """
                import datetime, importlib.machinery, os, sys, types
                sys.dont_write_bytecode = True
                loader = importlib.machinery.SourceFileLoader("photos", sys.argv[1])
                photos = types.ModuleType("photos")
                loader.exec_module(photos)
                count = 0
                for path in sys.argv[2:]:
                    whole = open(path, "rb").read()
                    variants = [whole[:length] for length in range(len(whole))]
                    for value in (0, 1, 0x7F, 0xFF):
                        for at in range(len(whole)):
                            variants.append(whole[:at] + bytes([value]) + whole[at + 1:])
                            variants.append(whole[:at] + bytes([value]) * 4 + whole[at + 4:])
                    for variant in variants:
                        file = os.memfd_create("sample")
                        os.write(file, variant)
                        day = photos.day_of(photos.Window(file, 0, len(variant)), 0)
                        assert isinstance(day, datetime.date)
                        os.close(file)
                        count += 1
                print(count)
                """
            try example.addStub("fuzz", "#!/usr/bin/env python3\n" + script)
            var fuzz = example
            fuzz.become(example.stubs + "/fuzz")
            let words = [example.program] + samples.indices.map { "\(example.inbox)/\($0)" }
            let outcome = try await fuzz.run(words, ["PATH": example.path, "HOME": example.data])
            #expect(outcome.exit == 0, "\(outcome.errors)")
            #expect(Int(outcome.output.trimmingCharacters(in: .whitespacesAndNewlines)) ?? 0 > 4_000)
        }
    }

    @Test("nothing is replaced, and an item that is there already is not stored again")
    func names() async throws {
        try await withExample("photos-by-date") { example in
            let contents = ["one", "two", "one", "three", "two"]
            for (item, content) in contents.enumerated() {
                try example.put("a.tif", Array(content.utf8), modified: Self.modified)
                #expect(try await example.call(.init("a.tif", item: item)).exit == 0)
                #expect(try example.files(in: example.inbox) == [])
            }
            let day = example.target + "/2001/09-09"
            #expect(try example.files(in: day) == ["a-1.tif", "a-2.tif", "a.tif"])
            #expect(try example.text(day + "/a.tif") == "one")
            #expect(try example.text(day + "/a-1.tif") == "two")
            // The same under another name; a link, a folder and a pipe in the way.
            try FileManager.default.createSymbolicLink(atPath: day + "/b", withDestinationPath: "/nowhere")
            try FileManager.default.createDirectory(atPath: day + "/b-1", withIntermediateDirectories: true)
            #expect(mkfifo(day + "/b-2", 0o600) == 0)
            try example.put("b", other, modified: Self.modified)
            #expect(try await example.call(.init("b", item: 10)).exit == 0)
            #expect(try example.bytes(day + "/b-3") == other)
            try example.put("c", other, modified: Self.modified)
            #expect(try await example.call(.init("c", item: 11)).exit == 0)
            #expect(!FileManager.default.fileExists(atPath: day + "/c"))
            #expect(try example.files(in: example.inbox) == [])
        }
    }

    @Test("odd names are names, the longest too, when they are taken")
    func oddNames() async throws {
        try await withExample("photos-by-date") { example in
            let day = example.target + "/2001/09-09"
            for (item, name) in (ExampleHandler.oddNames + [".waft-1-1"]).enumerated() {
                for round in 0..<2 {
                    try example.put(name, Array("\(item) \(round)".utf8), modified: Self.modified)
                    let outcome = try await example.call(.init(name, item: item * 2 + round))
                    #expect(outcome.exit == 0, "\(name): \(outcome.errors)")
                }
            }
            let files = try example.files(in: day)
            #expect(files.count == 2 * (ExampleHandler.oddNames.count + 1))
            #expect(Set(files).isSuperset(of: ExampleHandler.oddNames))
            #expect(files.contains(String(repeating: "n", count: 251) + "-1.x"))
            #expect(try example.files(in: example.data) == ["photos-by-date"])
            #expect(try example.files(in: example.bundle) == ["Info.plist"])
        }
    }

    @Test("ended at any step and called again, it has filed the photo once and left nothing behind")
    func ended() async throws {
        let photo = DatedFiles.jpeg("2024:05:17 10:20:30") + [UInt8](repeating: 7, count: 3 << 20)
        let steps = try await endingAtEachStep("photos-by-date") { example in
            try example.put("a", photo)
        } check: { example, when in
            let files = try example.files(in: example.target)
            #expect(files == ["2024/05-17/a"], "\(when)")
            #expect(try example.bytes(example.target + "/2024/05-17/a") == photo, "\(when)")
            #expect(try example.files(in: example.inbox) == [], "\(when)")
        }
        #expect(steps > 15)
    }

    @Test("on a file system without links it replaces nothing either, ended at any step")
    func withoutLinks() async throws {
        _ = try await endingAtEachStep("photos-by-date") { example in
            example.environment["NO_LINKS"] = "1"
            try FileManager.default.createDirectory(
                atPath: example.target + "/2001/09-09", withIntermediateDirectories: true)
            try Data(other).write(to: URL(fileURLWithPath: example.target + "/2001/09-09/a"))
            try example.put("a", Array("photo".utf8), modified: Self.modified)
        } check: { example, when in
            let files = try example.files(in: example.target + "/2001/09-09")
            #expect(files == ["a", "a-1"], "\(when)")
            #expect(try example.bytes(example.target + "/2001/09-09/a") == other, "\(when)")
            #expect(try example.files(in: example.inbox) == [], "\(when)")
        }
    }

    @Test("a second call for an arrival leaves another file alone that has got its name since")
    func nameGivenAgain() async throws {
        try await withExample("photos-by-date") { example in
            try example.put("a", [1], modified: Self.modified)
            #expect(try await example.call(.init("a", item: 1)).exit == 0)
            try example.put("a", [2], modified: Self.modified)
            #expect(try await example.call(.init("a", item: 1)).exit == 0)
            #expect(try example.files(in: example.inbox) == ["a"])
            #expect(try await example.call(.init("a", item: 2)).exit == 0)
            #expect(try example.files(in: example.target) == ["2001/09-09/a", "2001/09-09/a-1"])
        }
    }

    @Test("a missing item that was not filed is a failure, a folder a no, an unmounted folder later")
    func answers() async throws {
        try await withExample("photos-by-date") { example in
            #expect(try await example.call(.init("gone")).exit == 66)
            try FileManager.default.createDirectory(atPath: example.inbox + "/tree", withIntermediateDirectories: true)
            #expect(try await example.call(.init("tree", kind: "tree")).exit == 1)
            try example.put("a", [1])
            try FileManager.default.removeItem(atPath: example.target)
            let away = try await example.call(.init("a"))
            #expect(away.exit == 75)
            #expect(away.errors.contains("the folder \(example.target) is not there"))
            #expect(try example.files(in: example.inbox) == ["a"])
            #expect(try await example.run(["open-url", "x"], ["PATH": example.path]).exit == 64)
            #expect(try await example.run(["will-finish-launching"], ["PATH": example.path]).exit == 0)
        }
    }

    @Test("two calls at the same time, one of which a killed receiver left behind, file it once")
    func atOnce() async throws {
        try await withExample("photos-by-date") { example in
            try example.put("a", [UInt8](repeating: 1, count: 8 << 20), modified: Self.modified)
            let exits = try await example.callTwiceAtOnce(.init("a"))
            #expect(exits == [0, 0])
            #expect(try example.files(in: example.target) == ["2001/09-09/a"])
            #expect(try example.files(in: example.inbox) == [])
        }
    }

    @Test("with KEEP they stay in the Inbox, and are filed once")
    func keep() async throws {
        try await withExample("photos-by-date") { example in
            try example.set("KEEP = False", to: "KEEP = True")
            try example.put("a", [1], modified: Self.modified)
            for _ in 0..<2 { #expect(try await example.call(.init("a")).exit == 0) }
            #expect(try example.files(in: example.inbox) == ["a"])
            #expect(try example.files(in: example.target) == ["2001/09-09/a"])
        }
    }
}

@Suite("The example print-pdf", .timeLimit(.minutes(3)))
struct PrintPDFTests {
    /// Records its arguments in the data folder, and exits with the code in the file `lp-exit` there.
    static let printer = """
        #!/bin/sh
        cd "$WAFT_DATA" || exit 99
        for word do printf '%s\\n' "$word"; done >>lp-record
        echo . >>lp-record
        if [ -e lp-kill ]; then rm lp-kill; kill -9 "$PPID"; fi
        exit "$(cat lp-exit 2>/dev/null || echo 0)"
        """

    private func withPrinter(_ body: (inout ExampleHandler) async throws -> Void) async throws {
        try await withExample("print-pdf") { example in
            try example.addStub("lp", Self.printer)
            try await body(&example)
        }
    }

    private func printed(_ example: ExampleHandler) throws -> [String] {
        guard FileManager.default.fileExists(atPath: example.data + "/lp-record") else { return [] }
        return try example.text(example.data + "/lp-record").split(separator: "\n").map(String.init)
    }

    @Test("lp gets each arrival once, its name as the title, and odd names as names")
    func prints() async throws {
        try await withPrinter { example in
            var expected: [String] = []
            for (item, name) in ExampleHandler.oddNames.enumerated() {
                try example.put(name, Array("%PDF-".utf8))
                for _ in 0..<2 {
                    let outcome = try await example.call(.init(name, item: item))
                    #expect(outcome.exit == 0, "\(name): \(outcome.errors)")
                }
                expected += ["-t", name, "--", example.inbox + "/" + name, "."]
            }
            #expect(try printed(example) == expected)
            #expect(try example.files(in: example.inbox) == ExampleHandler.oddNames.sorted())
            #expect(try example.files(in: example.data) == ["lp-record", "print-pdf"])
            #expect(try example.files(in: example.bundle) == ["Info.plist"])
        }
    }

    @Test("a note that looks like the number of another item is a note")
    func forgedItem() async throws {
        try await withPrinter { example in
            for item in 0..<2 {
                try example.put("\(item)", Array("%PDF-".utf8))
                var arrival = ExampleHandler.Arrival("\(item)", item: item)
                arrival.note = #","item":7,{"item":7}"#
                #expect(try await example.call(arrival).exit == 0)
            }
            #expect(try printed(example).filter { $0 == "." }.count == 2)
        }
    }

    @Test("the printer, more options and removal can be set")
    func settings() async throws {
        try await withPrinter { example in
            try example.set("printer=''", to: "printer='office'")
            try example.set("options=''", to: "options='-o sides=two-sided-long-edge -n *'")
            try example.set("keep=yes", to: "keep=no")
            try example.put("a.pdf", Array("%PDF-".utf8))
            #expect(try await example.call(.init("a.pdf")).exit == 0)
            let words = ["-t", "a.pdf", "-d", "office", "-o", "sides=two-sided-long-edge", "-n", "*", "--"]
            #expect(try printed(example) == words + [example.inbox + "/a.pdf", "."])
            #expect(try example.files(in: example.inbox) == [])
            #expect(try await example.call(.init("a.pdf")).exit == 0, "it was printed, and is asked for again")
        }
    }

    @Test("trouble with the printer is later, and a missing printer is reported")
    func trouble() async throws {
        try await withPrinter { example in
            try example.addStub("lpstat", "#!/bin/sh\necho office\n")
            try "1".write(toFile: example.data + "/lp-exit", atomically: false, encoding: .utf8)
            try example.put("a.pdf", Array("%PDF-".utf8))
            let first = try await example.call(.init("a.pdf"))
            #expect(first.exit == 75)
            #expect(first.errors.contains("later"))
            try example.addStub("lpstat", "#!/bin/sh\n")
            let second = try await example.call(.init("a.pdf"))
            #expect(second.exit == 75)
            #expect(second.errors.contains("there is no printer here"))
            try FileManager.default.removeItem(atPath: example.data + "/lp-exit")
            #expect(try await example.call(.init("a.pdf")).exit == 0)
            #expect(try printed(example).filter { $0 == "." }.count == 3)
        }
    }

    @Test("without lp it fails and says what to install")
    func noProgram() async throws {
        try await withExample("print-pdf") { example in
            for tool in ["sed", "head", "grep", "flock"] {
                try FileManager.default.createSymbolicLink(
                    atPath: example.stubs + "/" + tool, withDestinationPath: "/usr/bin/" + tool)
            }
            example.path = example.stubs
            try example.put("a.pdf", Array("%PDF-".utf8))
            let outcome = try await example.call(.init("a.pdf"))
            #expect(outcome.exit == 69)
            #expect(outcome.errors.contains("apt install cups-client"))
        }
    }

    @Test("ended before the printer's answer, it prints when it is called again")
    func ended() async throws {
        try await withPrinter { example in
            try example.put("a.pdf", Array("%PDF-".utf8))
            try "".write(toFile: example.data + "/lp-kill", atomically: false, encoding: .utf8)
            #expect(try await example.call(.init("a.pdf")).exit == 128 + 9)
            for _ in 0..<2 { #expect(try await example.call(.init("a.pdf")).exit == 0) }
            #expect(try printed(example).filter { $0 == "." }.count == 2)
        }
    }

    @Test("a missing item that was not printed is a failure, and so is an item that is no file")
    func gone() async throws {
        try await withPrinter { example in
            #expect(try await example.call(.init("a.pdf")).exit == 66)
            try FileManager.default.createSymbolicLink(
                atPath: example.inbox + "/link.pdf", withDestinationPath: "/etc/passwd")
            #expect(try await example.call(.init("link.pdf")).exit == 66)
            #expect(try printed(example) == [])
            #expect(try await example.run(["open-url", "x"], ["PATH": example.path]).exit == 64)
            #expect(try await example.run(["did-finish-launching"], ["PATH": example.path]).exit == 0)
        }
    }

    @Test(
        "a call for several items is refused by each example, not answered for the first", arguments: ExampleHandler.all
    )
    func severalItems(name: String) async throws {
        try await withExample(name) { example in
            try example.put("a", [UInt8]("x".utf8))
            let outcome = try await example.call(.init("a"), extra: ["WAFT_ITEMS": "2"])
            #expect(outcome.exit == 64)
            #expect(try example.files(in: example.inbox) == ["a"])
        }
    }

    @Test("two calls at the same time print once")
    func atOnce() async throws {
        try await withPrinter { example in
            try example.put("a.pdf", Array("%PDF-".utf8))
            let exits = try await example.callTwiceAtOnce(.init("a.pdf"))
            #expect(exits == [0, 0])
            #expect(try printed(example).filter { $0 == "." }.count == 1)
        }
    }

    @Test("the last arrivals are remembered, not all")
    func memory() async throws {
        try await withPrinter { example in
            let lines = (0..<600).map { "old \($0)\n" }.joined()
            try lines.write(toFile: example.data + "/print-pdf", atomically: false, encoding: .utf8)
            try example.put("a.pdf", Array("%PDF-".utf8))
            for _ in 0..<2 { #expect(try await example.call(.init("a.pdf")).exit == 0) }
            #expect(try printed(example).filter { $0 == "." }.count == 1)
            #expect(try example.text(example.data + "/print-pdf").split(separator: "\n").count == 256)
        }
    }
}
