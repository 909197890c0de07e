import Foundation
import TestSupport
import Testing
import UniformTypes

@testable import ContentCheck

@Suite("The checker")
struct CheckerTests {
    private func opened<Result>(
        _ path: String,
        _ flags: Int32 = O_RDONLY,
        _ body: (Int32) throws -> Result
    ) throws -> Result {
        let descriptor = open(path, flags | O_CLOEXEC)
        try #require(descriptor >= 0)
        defer { close(descriptor) }
        return try body(descriptor)
    }

    @Test("an open file is checked without moving its position")
    func descriptor() throws {
        let folder = TemporaryFolder()
        try Data(Samples.docx).write(to: URL(fileURLWithPath: folder / "a"))
        let docx = UniformType.known("org.openxmlformats.wordprocessingml.document")
        try opened(folder / "a") { descriptor in
            #expect(lseek(descriptor, 7, SEEK_SET) == 7)
            let size = UInt64(Samples.docx.count)
            let checker = Knowledge.database.checker
            #expect(checker.check(descriptor: descriptor, declared: docx, size: size).outcome == .consistent)
            #expect(checker.check(descriptor: descriptor, declared: .png, size: size).outcome == .lying)
            // If the stated size is wrong, the checker reads the bytes that exist.
            #expect(checker.check(descriptor: descriptor, declared: docx, size: .max).outcome == .unverified)
            #expect(checker.check(descriptor: descriptor, declared: .png, size: 0).outcome == .unverified)
            #expect(checker.content(descriptor: descriptor, size: size)?.type == docx)
            #expect(lseek(descriptor, 0, SEEK_CUR) == 7)
        }
    }

    @Test("the names in a zip archive are found at the end of a large file")
    func largeFile() throws {
        let folder = TemporaryFolder()
        let path = folder.file("a")
        // The local headers are at the start. After a hole of 5 GB comes the directory, with offsets from its end.
        let file = Samples.docx
        let names = try #require(file.firstRange(of: Samples.bytes("PK\u{1}\u{2}"))?.lowerBound)
        let handle = try FileHandle(forUpdating: URL(fileURLWithPath: path))
        try handle.write(contentsOf: Data(file[..<names]))
        try handle.seek(toOffset: 5_000_000_000)
        try handle.write(contentsOf: Data(file[names...]))
        try handle.close()
        try opened(path) { descriptor in
            let verdict = Knowledge.builtIn.checker.check(
                descriptor: descriptor, declared: .known("org.openxmlformats.wordprocessingml.document"),
                size: 5_000_000_000 + UInt64(file.count - names))
            #expect(verdict.outcome == .consistent, "\(verdict.explanation)")
        }
    }

    @Test("a file that cannot be read is unverified")
    func unreadable() throws {
        let folder = TemporaryFolder()
        let path = folder.file("a", "text")
        let checker = Knowledge.database.checker
        try opened(path, O_WRONLY) { descriptor in
            let verdict = checker.check(descriptor: descriptor, declared: .plainText, size: 4)
            #expect(verdict.outcome == .unverified)
            #expect(verdict.explanation == "the content could not be read: Bad file descriptor")
            #expect(checker.content(descriptor: descriptor, size: 4) == nil)
            #expect(checker.description(descriptor: descriptor, size: 4) == "nothing that can be read")
        }
        try opened(folder.path, O_RDONLY | O_DIRECTORY) { descriptor in
            #expect(checker.check(descriptor: descriptor, declared: .png, size: 4096).outcome == .unverified)
        }
    }

    @Test("a declared type for folders is unverified, whatever the content is")
    func folders() {
        let checker = Knowledge.database.checker
        for type in [UniformType.folder, .directory, .applicationBundle, .package] {
            let verdict = checker.check(bytes: Samples.elf, declared: type)
            #expect(verdict.outcome == .unverified)
            #expect(verdict.contentType == nil)
        }
    }

    @Test("verdicts are written with names that do not change")
    func coding() throws {
        let verdict = Knowledge.builtIn.checker.check(bytes: Samples.elf, declared: .png)
        let data = try JSONEncoder().encode(verdict)
        let written = try #require(try JSONSerialization.jsonObject(with: data) as? [String: String])
        #expect(
            written == [
                "outcome": "lying", "contentType": "public.elf-binary",
                "explanation": "declared as PNG image (public.png), but the content is "
                    + "ELF binary (public.elf-binary), which runs",
            ])
        #expect(try JSONDecoder().decode(ContentVerdict.self, from: data) == verdict)
        #expect(
            ContentVerdict.Outcome.allCases.map(\.rawValue) == ["consistent", "unverified", "mislabelled", "lying"])
    }

    @Test("an explanation repeats nothing of a peer's but plain identifiers and extensions")
    func hostileExtensions() throws {
        let hostile = try #require(
            DynamicType(supertypes: [.data], tags: [TypeTag(.filenameExtension, "a\u{1B}[2J\u{202E}")]))
        for bytes in [Samples.elf, Samples.png, Samples.gzip, Samples.bytes("text")] {
            let verdict = Knowledge.database.checker.check(bytes: bytes, declared: hostile.type)
            #expect(verdict.explanation.utf8.allSatisfy { $0 >= 0x20 && $0 < 0x7F })
        }
    }

    @Test(
        "a description of the content can be shown to people",
        arguments: [
            (Samples.png, "PNG image (public.png)"), (Samples.elf, "ELF binary (public.elf-binary), which runs"),
            ([], "nothing: the file is empty"), (Samples.bytes("Grüße"), "text in UTF-8"),
            (Samples.padded([9, 8, 7]), "nothing that is recognised"),
            (Samples.compoundFile(), "an OLE2 compound file"),
            (
                Samples.docx,
                "Office Open XML word processing document (org.openxmlformats.wordprocessingml.document)"
            ),
        ] as [([UInt8], String)]
    )
    func words(bytes: [UInt8], words: String) {
        #expect(Knowledge.builtIn.checker.content(bytes: bytes).words(types: .system) == words)
    }

    @Test("a format without a declared type is described by its supertype and its MIME type")
    func undeclaredFormat() {
        let content = Knowledge.database.checker.content(bytes: Samples.padded(Samples.bytes("gimp xcf file\0")))
        #expect(content.words(types: .system).hasSuffix("image (public.image), image/x-xcf"))
        #expect(content.type.map { TypeRegistry.system.conforms($0, to: .image) } == true)
        Case("a.xcf", Samples.padded(Samples.bytes("gimp xcf file\0")), .consistent).expect(with: .database)
        Case("a.png", Samples.padded(Samples.bytes("gimp xcf file\0")), .mislabelled).expect(with: .database)
    }

    @Test("content that is too short for a decision is no liar")
    func weakRules() {
        // The database's rules for old fonts and pictures are two bytes long.
        for start: [UInt8] in [[0xFF, 0xFB, 0x90, 0x00], [0x00, 0x01, 0x00, 0x00], [0x76, 0x2F]] {
            let verdict = Knowledge.database.checker.check(bytes: Samples.padded(start), declaredName: "a.mlmodel")
            #expect(verdict.outcome != .lying, "\(verdict.explanation)")
        }
        Case("a.mp3", Samples.padded([0xFF, 0xFB, 0x90, 0x00]), .consistent, "public.mp3").expect(with: .database)
    }
}
