import Foundation
import Subprocess
import SystemPackage
import Testing

/// One of `Scripts/examples`, with the folders that a receiver would give it.
struct ExampleHandler: Sendable {
    static let folder = Programs.root + "/Scripts/examples"
    static let all = ["photos-by-date", "print-pdf", "append-notes"]

    /// An arrival, with the fields that these handlers read.
    struct Arrival: Sendable {
        var name: String
        var transfer = "0123456789abcdef0123456789abcdef"
        var item = 0
        var kind = "file"
        var digest = "xxh3-128:00000000000000000000000000000000"
        var sender = "kitchen"
        var note: String?

        init(_ name: String, item: Int = 0, kind: String = "file") {
            self.name = name
            self.item = item
            self.kind = kind
        }
    }

    /// The standard input of a hook, with the fields that these handlers read.
    private struct Document: Encodable {
        var v = 1
        var file: String
        var name: String
        var kind: String
        var item: Int
        var annotation: [String: String]
    }

    /// Names that a shell or a program might misunderstand.
    static let oddNames = [
        "$(touch pwned).x", "`touch pwned`.x", "; touch pwned; .x", "-rf.x", "--help", "a  b\\n.x", "it's \"quoted\".x",
        "*.x", "%s%n.x", ".hidden", "~.x", "ü, 写真.x", String(repeating: "n", count: 253) + ".x",
    ]

    private(set) var program: String
    /// Root of the folders below.
    private let root: String
    /// The handler's bundle, which is its working directory.
    var bundle: String { root + "/bundle" }
    /// The handler's data folder, where it may write.
    var data: String { root + "/data" }
    var inbox: String { root + "/Inbox" }
    /// The folder named with `--writable`.
    var target: String { root + "/target" }
    /// Searched for programs before those of the system.
    var stubs: String { root + "/stubs" }
    var environment: [String: String] = [:]
    /// Replaces the stubs and the system's own folders.
    var path: String

    /// Makes the folders in `root`.
    init(_ name: String, in root: String) throws {
        self.program = Self.folder + "/" + name
        self.root = root
        path = root + "/stubs:/usr/bin:/bin"
        for folder in [bundle, data, inbox, target, stubs] {
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        }
        let keys: [String: Any] = ["CFBundleName": name, "WaftWritablePaths": [target]]
        let info = try PropertyListSerialization.data(fromPropertyList: keys, format: .xml, options: 0)
        try info.write(to: URL(fileURLWithPath: bundle + "/Info.plist"))
    }

    /// Makes a copy of the program, with another value for one of its constants.
    mutating func set(_ line: String, to other: String) throws {
        let text = try String(contentsOfFile: program, encoding: .utf8)
        guard text.contains("\n" + line + "\n") else { throw CocoaError(.fileReadCorruptFile) }
        program = root + "/program"
        try text.replacing("\n" + line + "\n", with: "\n" + other + "\n")
            .write(toFile: program, atomically: false, encoding: .utf8)
        chmod(program, 0o755)
    }

    /// Runs another program in its place.
    mutating func become(_ program: String) { self.program = program }

    /// Puts a program of a test before those of the system.
    func addStub(_ name: String, _ script: String) throws {
        try script.write(toFile: stubs + "/" + name, atomically: false, encoding: .utf8)
        chmod(stubs + "/" + name, 0o755)
    }

    /// Puts a file into the Inbox, read-only as they are there.
    func put(_ name: String, _ bytes: some Sequence<UInt8>, modified: Date? = nil) throws {
        let path = inbox + "/" + name
        try Data(bytes).write(to: URL(fileURLWithPath: path))
        if let modified {
            try FileManager.default.setAttributes([.modificationDate: modified], ofItemAtPath: path)
        }
        chmod(path, 0o444)
    }

    /// Calls it as the hook contract says.
    func call(_ arrival: Arrival, extra: [String: String] = [:]) async throws -> ProgramResult {
        let file = inbox + "/" + arrival.name
        let document = Document(
            file: file, name: arrival.name, kind: arrival.kind, item: arrival.item,
            annotation: arrival.note.map { ["note": $0] } ?? [:])
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        var variables = [
            "PATH": path,
            "HOME": root,
            "TZ": "UTC",
            "LC_ALL": "C.UTF-8",
            "WAFT_URL": URL(fileURLWithPath: file).absoluteString,
            "WAFT_FILE": file,
            "WAFT_NAME": arrival.name,
            "WAFT_DIGEST": arrival.digest,
            "WAFT_PEER_ID": "tqbnfbygnndmhwhb0123456789abcdefghjkmnpqrstvwxyz0000",
            "WAFT_PEER_NAME": arrival.sender,
            "WAFT_TRANSFER": arrival.transfer,
            "WAFT_ATTEMPT": "1",
            "WAFT_DATA": data,
        ]
        variables.merge(environment) { _, new in new }
        variables.merge(extra) { _, new in new }
        return try await run(
            ["open-url", variables["WAFT_URL"] ?? ""], variables,
            input: String(decoding: try encoder.encode(document), as: UTF8.self) + "\n")
    }

    /// - Returns: both exit codes.
    func callTwiceAtOnce(_ arrival: Arrival) async throws -> [Int] {
        async let first = call(arrival)
        async let second = call(arrival)
        return [try await first.exit, try await second.exit]
    }

    func run(_ arguments: [String], _ variables: [String: String], input: String = "") async throws -> ProgramResult {
        var keys: [Environment.Key: String] = [:]
        for (name, value) in variables {
            if let key = Environment.Key(rawValue: name) { keys[key] = value }
        }
        let result = try await Subprocess.run(
            .path(FilePath(program)),
            arguments: Arguments(arguments),
            environment: .custom(keys),
            workingDirectory: FilePath(bundle),
            input: .fileDescriptor(try StandardInput.holding(input), closeAfterSpawningProcess: true),
            output: .string(limit: 1 << 20),
            error: .string(limit: 1 << 20)
        )
        return ProgramResult(
            exit: result.terminationStatus.code, output: result.standardOutput, errors: result.standardError)
    }

    /// Everything in a folder that is no folder, by its path in there, sorted.
    func files(in folder: String) throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: folder).filter { path in
            var isFolder: ObjCBool = false
            return FileManager.default.fileExists(atPath: folder + "/" + path, isDirectory: &isFolder)
                && !isFolder.boolValue
        }.sorted()
    }

    func bytes(_ path: String) throws -> [UInt8] {
        Array(try Data(contentsOf: URL(fileURLWithPath: path)))
    }

    func text(_ path: String) throws -> String {
        String(decoding: try bytes(path), as: UTF8.self)
    }
}

extension ExampleHandler {
    /// Makes Python kill itself at the step DIE_AT of its dealings with the disk: before each of them, and in the middle
    /// of each write. With NO_LINKS there are no links, as on the card of a camera.
    mutating func addSteps() throws {
        let folder = root + "/python"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let script = """
            import os, signal, sys
            left = int(os.environ.get("DIE_AT", "0"))
            events = {"os.link", "os.mkdir", "os.remove", "os.rename", "os.utime", "fcntl.flock"}

            def step():
                global left
                left -= 1
                if left == 0:
                    os.kill(os.getpid(), signal.SIGKILL)

            def audit(event, arguments):
                if event in events or event == "open" and str(arguments[0]).startswith((os.environ["HOME"], ".")):
                    step()

            real_write, real_sync = os.write, os.fsync

            def write(file, data):
                if left == 1:
                    real_write(file, data[: len(data) // 2])
                step()
                return real_write(file, data)

            def sync(file):
                step()
                real_sync(file)

            def link(*arguments, **others):
                raise PermissionError(1, "Operation not permitted")

            os.write, os.fsync = write, sync
            if os.environ.get("NO_LINKS"):
                os.link = link
            sys.addaudithook(audit)
            """
        try script.write(toFile: folder + "/sitecustomize.py", atomically: false, encoding: .utf8)
        environment["PYTHONPATH"] = folder
        environment["PYTHONDONTWRITEBYTECODE"] = "1"
    }
}

/// Runs `body` with an example and folders for it.
func withExample(_ name: String, _ body: (inout ExampleHandler) async throws -> Void) async throws {
    try await withTemporaryFolder { folder in
        var example = try ExampleHandler(name, in: folder)
        try await body(&example)
    }
}

/// Runs an example once for each of its steps, ends it there, and calls it again as a receiver does.
/// - Returns: how many steps there were.
func endingAtEachStep(
    _ name: String,
    prepare: (inout ExampleHandler) throws -> Void,
    check: (ExampleHandler, String) async throws -> Void
) async throws -> Int {
    var step = 0
    var isOver = false
    while !isOver {
        step += 1
        try await withExample(name) { example in
            try example.addSteps()
            try prepare(&example)
            let first = try await example.call(.init("a"), extra: ["DIE_AT": "\(step)"])
            isOver = first.exit == 0
            #expect(isOver || first.exit == 128 + 9, "step \(step): \(first.errors)")
            // Twice: the repairs of the second call must not confuse the third.
            for _ in 0..<2 {
                let again = try await example.call(.init("a"))
                #expect(again.exit == 0, "step \(step): \(again.errors)")
            }
            try await check(example, "ended at step \(step)")
        }
    }
    return step
}

/// Photos and movies that consist of little more than a date.
enum DatedFiles {
    enum Order {
        case little
        case big
    }

    private static func number<Number: FixedWidthInteger>(_ value: Number, _ order: Order = .big) -> [UInt8] {
        withUnsafeBytes(of: order == .big ? value.bigEndian : value.littleEndian) { Array($0) }
    }

    /// TIFF: a directory that points to another, which has the date.
    /// - Parameters:
    ///   - pointer: the offset that the file gives for the second directory; nil for the true one.
    ///   - loop: the offset that the second directory points to, instead of a date.
    static func tiff(
        _ date: String,
        _ order: Order = .little,
        tag: UInt16 = 0x9003,
        pointer: UInt32? = nil,
        loop: UInt32? = nil
    ) -> [UInt8] {
        let text = Array(date.utf8) + [0]
        func directory(_ tag: UInt16, _ kind: UInt16, _ count: UInt32, _ value: UInt32) -> [UInt8] {
            number(UInt16(1), order) + number(tag, order) + number(kind, order) + number(count, order)
                + number(value, order) + number(UInt32(0), order)
        }
        return Array((order == .big ? "MM" : "II").utf8) + number(UInt16(42), order) + number(UInt32(8), order)
            + directory(0x8769, 4, 1, pointer ?? 26)
            + (loop.map { directory(0x8769, 4, 1, $0) } ?? directory(tag, 2, UInt32(text.count), 44))
            + text
    }

    static func jpeg(exif: [UInt8], after segments: [UInt8] = [0xFF, 0xE0, 0, 4, 1, 1]) -> [UInt8] {
        let body = Array("Exif".utf8) + [0, 0] + exif
        return [0xFF, 0xD8] + segments + [0xFF, 0xE1] + number(UInt16(body.count + 2)) + body
            + [0xFF, 0xDA, 0, 2, 1, 2, 3, 0xFF, 0xD9]
    }

    static func jpeg(_ date: String, _ order: Order = .little) -> [UInt8] { jpeg(exif: tiff(date, order)) }

    private static func box(_ kind: String, _ body: [UInt8]) -> [UInt8] {
        number(UInt32(body.count + 8)) + Array(kind.utf8) + body
    }

    /// - Parameter items: the number of items that the list of places claims.
    static func heic(_ date: String, items: UInt16 = 2) -> [UInt8] {
        let exif = number(UInt32(6)) + Array("Exif".utf8) + [0, 0] + tiff(date, .big)
        func entry(_ item: UInt16, _ kind: String) -> [UInt8] {
            box("infe", [2, 0, 0, 0] + number(item) + [0, 0] + Array(kind.utf8) + [0])
        }
        let entries = box("iinf", [0, 0, 0, 0, 0, 2] + entry(1, "hvc1") + entry(2, "Exif"))
        func places(_ offset: UInt32) -> [UInt8] {
            func place(_ item: UInt16) -> [UInt8] {
                number(item) + [0, 0, 0, 0, 0, 1] + number(offset) + number(UInt32(exif.count))
            }
            return box("iloc", [1, 0, 0, 0, 0x44, 0] + number(items) + place(1) + place(2))
        }
        func meta(_ offset: UInt32) -> [UInt8] { box("meta", [0, 0, 0, 0] + entries + places(offset)) }
        let start = box("ftyp", Array("heic".utf8) + [0, 0, 0, 0] + Array("mif1".utf8))
        return start + meta(UInt32(start.count + meta(0).count + 8)) + box("mdat", exif)
    }

    static func movie(_ created: Date) -> [UInt8] {
        let seconds = UInt32(created.timeIntervalSince1970) + 2_082_844_800
        let header = box("mvhd", [0, 0, 0, 0] + number(seconds) + [UInt8](repeating: 0, count: 92))
        return box("ftyp", Array("isom".utf8) + [0, 0, 2, 0]) + box("mdat", [1, 2, 3]) + box("moov", header)
    }
}
