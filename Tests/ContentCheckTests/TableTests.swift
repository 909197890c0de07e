import Testing
import UniformTypes

@testable import ContentCheck

@Suite("Tables")
struct TableTests {
    private let rows = "\(CrosswalkTable.rows)".split(separator: "\n")
        .map { $0.split(separator: "|", omittingEmptySubsequences: false).map(String.init) }

    // `Scripts/check` compares the rows with the data that they come from.
    @Test("every MIME type of the table is found, in any case, with all fields of its row, and nothing else is")
    func search() throws {
        #expect(rows.count > 800)
        for fields in rows {
            let row = try #require(CrosswalkTable.row(for: fields[0]), "\(fields[0])")
            #expect(row.type?.identifier ?? "" == fields[1])
            #expect(row.parent?.identifier ?? "" == fields[2])
            #expect(row.extensions == fields[3].split(separator: ",").map(String.init))
            #expect((row.type == nil) != (row.parent == nil), "\(fields[0])")
            #expect(CrosswalkTable.row(for: fields[0].uppercased())?.extensions == row.extensions)
        }
        for mimeType in ["", "a", "application/", "application/zi", "application/zipp", "zzz/zzz", "!"] {
            #expect(CrosswalkTable.row(for: mimeType) == nil)
        }
    }

    @Test(
        "common MIME types have the type that Apple declares for them",
        arguments: [
            ("image/png", "public.png"), ("image/jpeg", "public.jpeg"), ("image/gif", "com.compuserve.gif"),
            ("image/tiff", "public.tiff"), ("image/webp", "org.webmproject.webp"), ("application/pdf", "com.adobe.pdf"),
            ("application/zip", "public.zip-archive"), ("application/gzip", "org.gnu.gnu-zip-archive"),
            ("application/json", "public.json"), ("application/rtf", "public.rtf"), ("audio/mpeg", "public.mp3"),
            ("audio/flac", "org.xiph.flac"), ("video/mp4", "public.mpeg-4"),
            ("video/quicktime", "com.apple.quicktime-movie"), ("text/html", "public.html"),
            ("text/plain", "public.plain-text"), ("text/csv", "public.comma-separated-values-text"),
            ("application/epub+zip", "org.idpf.epub-container"), ("application/msword", "com.microsoft.word.doc"),
        ]
    )
    func commonTypes(mimeType: String, type: String) {
        #expect(CrosswalkTable.row(for: mimeType)?.type?.identifier == type)
    }

    @Test("every type in the tables is declared, and none is for folders")
    func declaredTypes() {
        let types = TypeRegistry.system
        var used = FormatSignature.recognizable
        used.formUnion(Storage.allCases.flatMap { $0.plain + $0.formats })
        used.formUnion(ZipFamily.allCases.flatMap(\.members))
        used.formUnion(ZipFamily.allCases.flatMap { [$0.type([]), $0.type(.macros)] })
        let signatures: [ExecutableSignature] = [.elf, .windows, .machO, .javaClass, .webAssembly, .dex]
        used.formUnion(signatures.flatMap { [$0.type] + $0.otherTypes })
        used.formUnion(
            rows.compactMap { CrosswalkTable.row(for: $0[0]) }.compactMap { $0.type ?? $0.parent })
        for type in used {
            #expect(types.isDeclared(type), "\(type)")
            #expect(!types.conforms(type, to: .directory), "\(type)")
        }
    }

    @Test("the errors of the crosswalk are corrected")
    func corrections() throws {
        func type(_ mimeType: String) -> String? { CrosswalkTable.row(for: mimeType)?.type?.identifier }
        #expect(type("application/pgp-keys") == nil)
        #expect(type("application/vnd.ms-powerpoint") == "com.microsoft.powerpoint.ppt")
        #expect(type("application/vnd.apple.pkpass") == "com.apple.pkpass-data")
        #expect(type("image/x-eps") == "com.adobe.encapsulated-postscript")
        #expect(type("application/zstd") == "org.waft.zst")
        #expect(type("font/woff2") == "org.waft.woff2")
    }

    @Test(
        "the interpreter gives the language of a script",
        arguments: [
            ("#!/bin/sh\n", "public.shell-script"), ("#!/bin/bash -e\n", "public.bash-script"),
            ("#! /usr/bin/perl\n", "public.perl-script"), ("#!/usr/bin/env ruby\n", "public.ruby-script"),
            ("#!/usr/bin/env -S python3 -u\n", "public.python-script"),
            ("#!/usr/bin/env A=1 php8.2\n", "public.php-script"), ("#!/opt/strange\n", "public.script"),
            ("#!", "public.script"), ("#!\n", "public.script"), ("#!env\n", "public.script"),
        ]
    )
    func interpreters(line: String, type: String) {
        let signature = Samples.bytes(line).withUnsafeBytes { ExecutableSignature($0) }
        #expect(signature?.type.identifier == type)
    }

    @Test("text is distinguished from other bytes, and a character may be cut only if more bytes follow")
    func textForms() {
        func form(_ bytes: [UInt8], isWhole: Bool = true) -> TextForm? {
            bytes.withUnsafeBytes { TextForm($0, isWhole: isWhole) }
        }
        #expect(form([]) == .utf8)
        #expect(form(Samples.bytes("plain\ttext\r\n")) == .utf8)
        #expect(form(Samples.bytes("Grüße 🐑 日本")) == .utf8)
        #expect(form([0x61, 0x00]) == nil)
        #expect(form(Samples.bytes("eight by") + [0x01]) == nil)
        #expect(form([0xF0, 0x9F, 0x90]) == .eightBit)
        #expect(form([0xF0, 0x9F, 0x90], isWhole: false) == .utf8)
        for bad: [UInt8] in [[0xC0, 0x80], [0xED, 0xA0, 0x80], [0xF4, 0x90, 0x80, 0x80], [0x80], [0xFF, 0x61]] {
            #expect(form(bad) == .eightBit)
        }
        #expect(form([0xFE, 0xFF, 0x00, 0x61]) == .utf16)
        #expect(form([0xFF, 0xFE, 0x61, 0x00]) == .utf16)
        #expect(form([0xFF, 0xFE, 0x61]) == nil)
        #expect(form([0xFF, 0xFE, 0x61], isWhole: false) == .utf16)
        #expect(form([0xFE, 0xFF, 0xD8, 0x3D]) == nil)
        #expect(form([0xFE, 0xFF, 0xDC, 0x3D]) == nil)
        #expect(form([0xFE, 0xFF, 0x00, 0x00]) == nil)
    }
}
