import Testing
import UniformTypes

@testable import ContentCheck

@Suite("Liars")
struct LiarTests {
    /// Files that have fooled sniffers that trust names, and one that has fooled a database of magic numbers.
    private static let table: [Case] = [
        Case("photo.png", Samples.elf, .lying, "public.elf-binary"),
        Case("x.gif", Samples.bytes("MZ and text after it"), .lying, "com.microsoft.windows-executable"),
        Case("doc.pdf", Samples.elf, .lying, "public.elf-binary"),
        Case("pic.jpg", Samples.shellScript, .lying, "public.shell-script"),
        Case("x.gif", Samples.windows, .lying, "com.microsoft.windows-executable"),
        Case("x.gif", Samples.bytes("MZ"), .lying, "com.microsoft.windows-executable"),
        Case("lying.txt", Samples.png, .lying, "public.png"),
        Case("poly.pdf", Samples.polyglot, .lying, "public.elf-binary"),
        Case("h.heic", Samples.isoMedia("heic", "mif1", "heic"), .consistent, "public.heic"),
        Case("real.docx", Samples.docx, .consistent),
        Case("fake.docx", Samples.plainZip, .mislabelled, "public.zip-archive"),
        Case("e.epub", Samples.epub, .consistent, "org.idpf.epub-container"),
    ]

    @Test("each row of the table of sniffers has its verdict, with the database and without", arguments: table)
    private func tableOfSniffers(_ row: Case) {
        for knowledge in Knowledge.allCases { row.expect(with: knowledge) }
    }

    @Test("a page of HTML with a script in it that is called a picture is a liar")
    func pageAsPicture() {
        let page = Samples.bytes("<html><script>alert(1)</script></html>")
        Case("page.jpg", page, .lying, "public.html").expect(with: .database)
        // Without the database the HTML is not recognized, but the content is still text and no picture.
        Case("page.jpg", page, .mislabelled, "public.plain-text").expect(with: .builtIn)
    }

    private static let programs: [(String, [UInt8])] = [
        ("ELF", Samples.elf), ("MZ", Samples.windows), ("Mach-O", Samples.machO),
        ("universal Mach-O", Samples.universalMachO), ("Java", Samples.javaClass), ("wasm", Samples.webAssembly),
        ("dex", Samples.dex), ("script", Samples.shellScript), ("script with a mark", Samples.markedShellScript),
    ]

    private static let innocentNames = [
        "photo.jpg", "photo.jpeg", "picture.png", "picture.heic", "image.webp", "drawing.svg", "film.mp4", "film.mov",
        "song.mp3", "song.m4a", "paper.pdf", "letter.docx", "sheet.xlsx", "slides.pptx", "letter.doc", "letter.odt",
        "book.epub", "archive.zip", "archive.tar.gz", "archive.7z", "page.html", "data.json", "data.csv", "data.xml",
        "card.vcf", "date.ics", "font.ttf", "disk.iso", "disk.dmg", "mail.eml", "key.pem", "base.sqlite", "scene.usdz",
        "style.css", "README.md", "key.key", "raw.dng", "index.ts", "notes.txt", "site.yml",
    ]

    /// Texts that may begin with `#!`, and endings that scripts have too.
    private static let scriptNames: Set = ["data.csv", "style.css", "README.md", "index.ts", "notes.txt", "site.yml"]

    @Test("content that starts like a program is a liar under every harmless name", arguments: innocentNames)
    func everySignatureUnderEveryName(name: String) {
        for (program, bytes) in Self.programs {
            if Self.scriptNames.contains(name), program.hasPrefix("script") { continue }
            for knowledge in Knowledge.allCases {
                // An undeclared type makes no claim, so the verdict is not `lying`. The content's type is still found.
                let expected: ContentVerdict.Outcome = name.hasSuffix(".pem") ? .mislabelled : .lying
                let isDeclared = !TypeRegistry.system.type(forFileName: name, kind: .regularFile).isDynamic
                let verdict = knowledge.checker.check(bytes: bytes, declaredName: name)
                #expect(verdict.outcome == (isDeclared ? .lying : expected), "\(program) as \(name)")
                #expect(verdict.contentType != nil)
            }
        }
    }

    @Test("the signature of a program decides even where all the rest is a picture")
    func signatureBeforeAnything() {
        for (program, bytes) in Self.programs {
            let start = bytes.prefix(4) == Samples.elf.prefix(4) ? Array(bytes.prefix(16)) : Array(bytes.prefix(12))
            for other in [Samples.png, Samples.pdf, Samples.zip(("a", "b")), Samples.bytes("<svg></svg>")] {
                for name in ["a.png", "a.pdf", "a.zip", "a.svg"] {
                    let verdict = Knowledge.database.checker.check(bytes: start + other, declaredName: name)
                    #expect(verdict.outcome == .lying, "\(program) before another format, as \(name)")
                }
            }
        }
    }

    @Test(
        "a program inside a document makes the document a liar",
        arguments: [
            Case("letter.docx", Samples.jar, .lying, "com.sun.java-archive"),
            Case("comic.cbz", Samples.jar, .lying, "com.sun.java-archive"),
            Case("letter.docx", Samples.apk, .lying, "vnd.android.package-archive"),
            Case("book.epub", Samples.apk, .lying, "vnd.android.package-archive"),
            Case(
                "letter.docx",
                Samples.names("[Content_Types].xml", "word/document.xml", "META-INF/MANIFEST.MF", "Main.class"), .lying),
            Case("letter.docx", Samples.docm, .lying, "org.openxmlformats.wordprocessingml.document.macroenabled"),
            Case(
                "letter.odt",
                Samples.zip(
                    ("mimetype", "application/vnd.oasis.opendocument.text"), ("META-INF/MANIFEST.MF", ""),
                    ("A.class", "")),
                .lying, "com.sun.java-archive"),
            // A package for Windows Installer.
            Case("letter.doc", Samples.compoundFile(Samples.officeClass(0x84, 0x10, 0x0C)), .lying, "org.waft.msi"),
        ]
    )
    private func programInDocument(_ row: Case) {
        for knowledge in Knowledge.allCases { row.expect(with: knowledge) }
    }

    @Test("a polyglot has the type of its start: a zip archive followed by a PDF document is no document")
    func zipBeforeDocument() {
        let polyglot = Samples.jar + Samples.bytes("\n%PDF-1.4\n")
        let padding = Samples.zip(("a", "%PDF-1.4 not at the start"))
        for knowledge in Knowledge.allCases {
            #expect(knowledge.checker.check(bytes: polyglot, declaredName: "a.pdf").outcome == .lying)
            #expect(knowledge.checker.check(bytes: padding, declaredName: "a.pdf").outcome == .lying)
            #expect(
                knowledge.checker.check(bytes: Samples.gif + polyglot, declaredName: "a.gif").outcome == .consistent)
        }
    }

    @Test(
        "another format of the same kind is a wrong label, not a lie",
        arguments: [
            Case("photo.jpg", Samples.png, .mislabelled, "public.png"),
            Case("photo.heic", Samples.jpeg, .mislabelled, "public.jpeg"),
            Case("photo.heic", Samples.isoMedia("avif", "mif1"), .mislabelled, "public.avif"),
            Case("photo.heic", Samples.isoMedia("isom", "mp42"), .mislabelled, "public.mpeg-4"),
            Case("film.avi", Samples.matroska, .mislabelled, "org.matroska.mkv"),
            Case("song.mp3", Samples.wave, .mislabelled, "com.microsoft.waveform-audio"),
            Case("song.mp3", Samples.flac, .mislabelled, "org.xiph.flac"),
            Case("song.ogg", Samples.flac, .mislabelled, "org.xiph.flac"),
            Case("a.zip", Samples.sevenZip, .mislabelled, "org.7-zip.7-zip-archive"),
            Case("a.rar", Samples.plainZip, .mislabelled, "public.zip-archive"),
            Case("letter.doc", Samples.docx, .mislabelled),
            Case("sheet.xlsx", Samples.docx, .mislabelled),
            Case("letter.doc", Samples.bytes("{\\rtf1 text}"), .mislabelled, "public.rtf"),
            Case(
                "sheet.xls", Samples.compoundFile(Samples.officeClass(0x06, 0x09, 0x02)), .mislabelled,
                "com.microsoft.word.doc"),
            Case("book.epub", Samples.plainZip, .mislabelled, "public.zip-archive"),
            Case("app.apk", Samples.docx, .mislabelled),
            Case("font.ttf", Samples.padded(Samples.bytes("wOFF")), .mislabelled, "org.waft.woff"),
        ]
    )
    private func wrongLabels(_ row: Case) {
        for knowledge in Knowledge.allCases { row.expect(with: knowledge) }
    }

    @Test(
        "another kind of thing is a lie",
        arguments: [
            Case("photo.jpg", Samples.pdf, .lying), Case("paper.pdf", Samples.png, .lying),
            Case("paper.pdf", Samples.plainZip, .lying), Case("song.mp3", Samples.png, .lying),
            Case("data.json", Samples.gzip, .lying), Case("letter.docx", Samples.png, .lying),
            Case("film.mp4", Samples.sqlite, .lying), Case("photo.png", Samples.docx, .lying),
            Case("font.otf", Samples.pdf, .lying),
        ]
    )
    private func otherKinds(_ row: Case) {
        for knowledge in Knowledge.allCases { row.expect(with: knowledge) }
    }
}
