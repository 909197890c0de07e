import Testing
import UniformTypes

@testable import ContentCheck

@Suite("Honest content")
struct HonestTests {
    private static let cases: [Case] = [
        Case("a.png", Samples.png, .consistent, "public.png"), Case("a.jpg", Samples.jpeg, .consistent, "public.jpeg"),
        Case("a.gif", Samples.gif, .consistent), Case("a.pdf", Samples.pdf, .consistent, "com.adobe.pdf"),
        Case("a.ai", Samples.pdf, .consistent), Case("a.tiff", Samples.tiff, .consistent),
        Case("a.dng", Samples.tiff, .consistent), Case("a.nef", Samples.tiff, .consistent),
        Case("a.bmp", Samples.bitmap, .consistent), Case("a.webp", Samples.webP, .consistent),
        Case("a.wav", Samples.wave, .consistent), Case("a.avi", Samples.avi, .consistent),
        Case("a.flac", Samples.flac, .consistent), Case("a.mp3", Samples.mp3, .consistent),
        Case("a.aac", Samples.mp3, .consistent), Case("a.mkv", Samples.matroska, .consistent),
        Case("a.mka", Samples.matroska, .consistent), Case("a.webm", Samples.webM, .consistent),
        Case("a.ogg", Samples.vorbis, .consistent), Case("a.opus", Samples.opus, .consistent),
        Case("a.ogv", Samples.theora, .consistent), Case("a.oga", Samples.opus, .consistent),
        Case("a.amr", Samples.amr, .consistent, "org.3gpp.adaptive-multi-rate-audio"),
        Case("a.heic", Samples.isoMedia("mif1", "mif1", "heic"), .consistent, "public.heic"),
        Case("a.heif", Samples.isoMedia("heic", "mif1"), .consistent),
        Case("a.avif", Samples.isoMedia("mif1", "avif"), .consistent, "public.avif"),
        Case("a.mp4", Samples.isoMedia("isom", "iso2", "mp41"), .consistent, "public.mpeg-4"),
        Case("a.mov", Samples.isoMedia("qt  "), .consistent), Case("a.mov", Samples.isoMedia("mp42"), .consistent),
        Case("a.m4a", Samples.isoMedia("M4A "), .consistent), Case("a.3gp", Samples.isoMedia("3gp5"), .consistent),
        Case("a.cr3", Samples.isoMedia("crx "), .consistent), Case("a.mp4", Samples.isoMedia("zzzz"), .consistent),
        Case("a.zip", Samples.plainZip, .consistent, "public.zip-archive"),
        Case("a.zip", Samples.jar, .consistent), Case("a.zip", Samples.docx, .consistent),
        Case("a.zip", Samples.docm, .consistent), Case("a.zip", Samples.apk, .consistent),
        Case("a.docx", Samples.docx, .consistent), Case("a.xlsx", Samples.xlsx, .consistent),
        Case("a.pptx", Samples.pptx, .consistent), Case("a.docm", Samples.docm, .consistent),
        Case("a.dotx", Samples.docx, .consistent), Case("a.docx", Samples.compoundFile(), .consistent),
        Case("a.doc", Samples.compoundFile(), .consistent),
        Case(
            "a.doc", Samples.compoundFile(Samples.officeClass(0x06, 0x09, 0x02)), .consistent, "com.microsoft.word.doc"),
        Case("a.xla", Samples.compoundFile(Samples.officeClass(0x20, 0x08, 0x02)), .consistent),
        Case("a.msi", Samples.compoundFile(Samples.officeClass(0x84, 0x10, 0x0C)), .consistent, "org.waft.msi"),
        Case("a.msg", Samples.compoundFile(), .consistent), Case("a.odt", Samples.odt, .consistent),
        // LibreOffice writes a MIME type that differs from the registered one.
        Case(
            "a.odb",
            Samples.zip(("mimetype", "application/vnd.oasis.opendocument.base"), ("META-INF/manifest.xml", "<x/>")),
            .consistent),
        Case("a.epub", Samples.epub, .consistent), Case("a.jar", Samples.jar, .consistent),
        Case("a.jar", Samples.plainZip, .consistent), Case("a.apk", Samples.apk, .consistent),
        Case("a.cbz", Samples.plainZip, .consistent), Case("a.ipa", Samples.names("Payload/A.app/A"), .consistent),
        Case("a.pkpass", Samples.names("pass.json", "manifest.json"), .consistent),
        Case("a.pages", Samples.names("Index/Document.iwa"), .consistent),
        Case("a.usdz", Samples.names("scene.usdc"), .consistent), Case("a.kmz", Samples.names("doc.kml"), .consistent),
        Case("a.3mf", Samples.names("[Content_Types].xml", "3D/3dmodel.model"), .consistent),
        Case("a.xpi", Samples.names("manifest.json"), .consistent), Case("a.gz", Samples.gzip, .consistent),
        Case("a.tgz", Samples.gzip, .consistent), Case("a.tar.gz", Samples.gzip, .consistent),
        Case("a.svgz", Samples.gzip, .consistent), Case("a.blend", Samples.zstd, .consistent),
        Case("a.bz2", Samples.bzip2, .consistent), Case("a.xz", Samples.xz, .consistent),
        Case("a.txz", Samples.xz, .consistent), Case("a.dmg", Samples.bzip2, .consistent),
        Case("a.zst", Samples.zstd, .consistent), Case("a.7z", Samples.sevenZip, .consistent),
        Case("a.tar", Samples.tar, .consistent), Case("a.deb", Samples.debian, .consistent),
        Case("a.sqlite", Samples.sqlite, .consistent), Case("a.otf", Samples.openType, .consistent),
        Case("a.iso", Samples.padded([]), .consistent),
        Case("program", Samples.elf, .consistent, "public.elf-binary"), Case("a.o", Samples.elf, .consistent),
        Case("libwaft.so", Samples.elf, .consistent), Case("libwaft.so.1", Samples.elf, .consistent),
        Case("a.appimage", Samples.elf, .consistent), Case("a.exe", Samples.windows, .consistent),
        Case("a.dll", Samples.windows, .consistent), Case("a.dylib", Samples.machO, .consistent),
        Case("a.class", Samples.javaClass, .consistent), Case("a.wasm", Samples.webAssembly, .consistent),
        Case("classes.dex", Samples.dex, .consistent),
        Case("run", Samples.shellScript, .consistent, "public.shell-script"),
        Case("run.sh", Samples.shellScript, .consistent), Case("run.txt", Samples.shellScript, .consistent),
        Case("run.sh", Samples.markedShellScript, .consistent),
        Case("run.py", Samples.bytes("#!/usr/bin/env python3.11\n"), .consistent, "public.python-script"),
        Case("run.js", Samples.bytes("#!/usr/bin/env -S node --test\n"), .consistent, "com.netscape.javascript-source"),
        Case("run.swift", Samples.bytes("#!/usr/bin/swift\n"), .consistent, "public.swift-source"),
        Case("run.lua", Samples.bytes("#! /usr/bin/luajit\n"), .consistent, "public.script"),
        Case("main.rs", Samples.bytes("#![no_std]\nfn main() {}\n"), .consistent),
        Case("a.unknown", Samples.padded([9, 8, 7]), .consistent), Case("a.unknown", Samples.gzip, .consistent),
        Case("a.bin", Samples.padded([9, 8, 7]), .consistent), Case("data", Samples.png, .consistent, "public.png"),
    ]

    @Test("honest content is consistent, with the database and without", arguments: cases)
    private func honest(_ row: Case) {
        for knowledge in Knowledge.allCases { row.expect(with: knowledge) }
    }

    private static let wordings: [(String, String)] = [
        ("a.txt", "Grüße"), ("a.json", "{\"a\": 1}"), ("a.json", "{\"html\": \"<html><script>\"}"),
        ("a.csv", "a,b\n1,2\n"), ("a.csv", "MZ,name\n1,2\n"), ("a.md", "# Title\n<html>\n"),
        ("a.html", "<html></html>"),
        ("a.html", "fragment"), ("a.html", "<?php echo 1 ?>"), ("a.xml", "<?xml version=\"1.0\"?><a/>"),
        ("a.svg", "<svg xmlns=\"http://www.w3.org/2000/svg\"/>"), ("a.svg", "<?xml version=\"1.0\"?><svg/>"),
        ("a.css", "a { color: red }"), ("a.swift", "let a = 1"), ("a.c", "#include <stdio.h>\n/* a */"),
        ("a.py", "import os\n"), ("a.js", "export default {}\n"), ("a.rb", "puts 1\n"), ("a.yaml", "a: 1\n"),
        ("a.toml", "[a]\n"), ("a.plist", "<?xml version=\"1.0\"?><plist/>"),
        ("a.webloc", "<?xml version=\"1.0\"?><plist/>"),
        ("a.rss", "<?xml version=\"1.0\"?><rss/>"), ("a.gpx", "<?xml version=\"1.0\"?><gpx/>"),
        ("a.kml", "<?xml version=\"1.0\"?><kml/>"), ("a.ics", "BEGIN:VCALENDAR\nEND:VCALENDAR\n"),
        ("a.vcf", "BEGIN:VCARD\nEND:VCARD\n"), ("a.eml", "From: a@b\nSubject: c\n\nd\n"), ("a.log", "one\ntwo\n"),
        ("a.tex", "\\documentclass{article}"), ("a.srt", "1\n00:00:01,000 --> 00:00:02,000\nHi\n"),
        ("a.rtf", "{\\rtf1 text}"), ("a.ps", "%!PS-Adobe-3.0\n"), ("a.eps", "%!PS-Adobe-3.0 EPSF-3.0\n"),
        ("a.ai", "%!PS-Adobe-3.0\n"), ("a.pem", "-----BEGIN CERTIFICATE-----\n"),
        ("a.crt", "-----BEGIN CERTIFICATE-----\n"),
        ("a.url", "[InternetShortcut]\nURL=https://example.org\n"), ("a.dxf", "0\nSECTION\n"), ("a.stl", "solid a\n"),
        ("a.obj", "v 0 0 0\n"), ("a.step", "ISO-10303-21;\n"), ("a.fodt", "<?xml version=\"1.0\"?><office:document/>"),
        ("a.unknown", "text"), ("README", "text"), ("a.txt", "GIF89a is a format"),
        ("a.txt", "%PDF-1.4 starts a document"),
        ("a.txt", "BM"), ("a.txt", ""), ("a.json", ""), ("a.txt", "\u{FEFF}text"), ("a.tsv", "a\tb\n"),
        ("a.sql", "SELECT 1;\n"), ("a.ipynb", "{\"cells\": []}"), ("a.m3u8", "#EXTM3U\n"), ("a.vtt", "WEBVTT\n"),
    ]

    @Test("text under a type for text is consistent, whatever words it has", arguments: wordings)
    func texts(name: String, text: String) {
        for knowledge in Knowledge.allCases { Case(name, Samples.bytes(text), .consistent).expect(with: knowledge) }
    }

    @Test("text in UTF-16 with a mark, and in encodings of older days, is text")
    func otherEncodings() {
        let big: [UInt8] = [0xFE, 0xFF] + "Grüße 🐑".utf16.flatMap { [UInt8($0 >> 8), UInt8($0 & 0xFF)] }
        let little: [UInt8] = [0xFF, 0xFE] + "Grüße 🐑".utf16.flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] }
        let latin1 = Samples.bytes("Gr") + [0xFC, 0xDF] + Samples.bytes("e an alle\n")
        for bytes in [big, little, latin1] {
            for knowledge in Knowledge.allCases { Case("a.csv", bytes, .consistent).expect(with: knowledge) }
        }
    }

    @Test("bytes that no text has, under a type for text, are unverified")
    func binaryAsText() {
        for knowledge in Knowledge.allCases {
            Case("a.txt", Samples.padded(Samples.bytes("text")), .unverified).expect(with: knowledge)
            Case("a.json", Samples.padded(Samples.bytes("{}")), .unverified).expect(with: knowledge)
        }
    }

    @Test("content that is not recognised, where the declared type's would be, is unverified")
    func unrecognised() {
        let noise = Samples.padded([9, 8, 7, 6, 5])
        for name in ["a.png", "a.jpg", "a.mp4", "a.pdf", "a.docx", "a.zip", "a.heic", "a.doc", "a.tgz"] {
            for knowledge in Knowledge.allCases {
                Case(name, noise, .unverified).expect(with: knowledge)
                // Too short to be clearly text.
                Case(name, Samples.bytes("Not found"), .unverified).expect(with: knowledge)
                Case(name, [], .unverified).expect(with: knowledge)
            }
        }
    }

    private static let twoMeanings: [(String, String)] = [
        ("index.ts", "export const x: number = 1;\n"), ("index.ts", "/* A comment. */\nimport a from 'b'\n"),
        ("index.ts", "// Ein Gruß\nfunction f() {}\n"), ("index.mts", "export default {}\n"),
        ("index.ts", "{\"a\": [1, 2, 3, 4]}\n"),
        ("go.mod", "module m\n\ngo 1.22\n"), ("server.key", "-----BEGIN PRIVATE KEY-----\nMIIE\n"),
        ("server.key", "-----BEGIN RSA PRIVATE KEY-----\nMIIE\n"),
        ("server.key", "-----BEGIN CERTIFICATE-----\nMIIE\n"),
        ("server.key", "-----BEGIN OPENSSH PRIVATE KEY-----\nb3Bl\n"), ("readme.doc", "Read this first.\n"),
        ("table.xls", "name\tnumber\na\t1\n"), ("photo.png", "The page was not found."),
    ]

    @Test("text under an ending of binary contents is called text", arguments: twoMeanings)
    func textUnderOtherEndings(name: String, text: String) {
        for knowledge in Knowledge.allCases {
            Case(name, Samples.bytes(text), .mislabelled, "public.plain-text").expect(with: knowledge)
        }
    }

    private static let playbook = "#!/usr/bin/env ansible-playbook\n- hosts: all\n"

    @Test(
        "a text that names its interpreter keeps its type, or has that of a script",
        arguments: [
            Case("site.yml", Samples.bytes(playbook), .consistent, "public.script"),
            Case("README.md", Samples.shellScript, .consistent, "public.shell-script"),
            Case("notes.txt", Samples.shellScript, .consistent, "public.shell-script"),
            Case(
                "tool.ts", Samples.bytes("#!/usr/bin/env -S deno run\n"), .mislabelled, "com.netscape.javascript-source"
            ),
            Case("x.exs", Samples.bytes("#!/usr/bin/env elixir\n"), .mislabelled, "public.script"),
            // A shell archive with bytes that no text has.
            Case("site.yml", Samples.padded(Samples.shellScript), .lying, "public.shell-script"),
            Case("tool.ts", Samples.padded(Samples.shellScript), .lying, "public.shell-script"),
        ]
    )
    private func interpreters(_ row: Case) {
        for knowledge in Knowledge.allCases { row.expect(with: knowledge) }
    }

    @Test("two formats with one extension are no liars, but are called by their names")
    func sharedExtensions() {
        Case("speech.spx", Samples.ogg(Samples.bytes("Speex   ")), .consistent).expect(with: .database)
        Case("speech.spx", Samples.ogg(Samples.bytes("Speex   ")), .consistent).expect(with: .builtIn)
        Case("secret.key", Samples.bytes("-----BEGIN PGP PUBLIC KEY BLOCK-----\n"), .mislabelled).expect(
            with: .database)
        Case("graph.dot", Samples.bytes("digraph a { b -> c }"), .mislabelled).expect(with: .database)
        Case(
            "drawing.cdr", Samples.padded(Samples.bytes("RIFF") + [0, 2, 0, 0] + Samples.bytes("CDR9vrsn")), .consistent
        )
        .expect(with: .database)
    }

    @Test("the types that handlers declare are taken into account")
    func declaredByHandlers() throws {
        let widget = try #require(UniformType("org.example.widget"))
        let picture = try #require(UniformType("org.example.picture"))
        let (types, refusals) = TypeRegistry.system.adding(
            exported: [
                TypeDeclaration(widget, parents: [.data], extensions: ["widget"]),
                TypeDeclaration(picture, parents: [.png], extensions: ["picture"]),
            ],
            imported: []
        )
        #expect(refusals.isEmpty)
        let checker = ContentChecker(types: types, database: .none)
        // A format with its own content in a common container; the content of a parent; neither.
        #expect(checker.check(bytes: Samples.plainZip, declared: widget).outcome == .consistent)
        #expect(checker.check(bytes: Samples.png, declared: picture).outcome == .consistent)
        #expect(checker.check(bytes: Samples.jpeg, declared: picture).outcome == .mislabelled)
        #expect(checker.check(bytes: Samples.png, declared: widget).outcome == .unverified)
        #expect(checker.check(bytes: Samples.elf, declared: widget).outcome == .lying)
        #expect(checker.check(bytes: Samples.jar, declared: widget).outcome == .lying)
    }

    @Test("an undeclared identifier makes no claim: a program is called by its own type")
    func undeclared() throws {
        let unknown = try #require(UniformType("org.example.nobody"))
        for knowledge in Knowledge.allCases {
            let verdict = knowledge.checker.check(bytes: Samples.elf, declared: unknown)
            #expect(verdict.outcome == .mislabelled)
            #expect(verdict.contentType == .elfBinary)
            #expect(knowledge.checker.check(bytes: Samples.elf, declaredName: "photo.jfif").outcome == .mislabelled)
        }
    }
}
