import Foundation
import Testing
import UniformTypes

@testable import ContentCheck

@Suite("Tables")
struct TableTests {
    private struct Crosswalk: Decodable {
        struct Entry: Decodable {
            let uti: String?
            let extensions: [String]
        }
        let mimeToUTI: [String: Entry]
    }

    private func crosswalk(file: String = #filePath) throws -> [String: Crosswalk.Entry] {
        let folder = URL(fileURLWithPath: file).deletingLastPathComponent().appendingPathComponent("Data")
        let data = try Data(contentsOf: folder.appendingPathComponent("uti-xdg-crosswalk.json"))
        return try JSONDecoder().decode(Crosswalk.self, from: data).mimeToUTI
    }

    @Test("every MIME type of the crosswalk is found, in any case, and nothing else is")
    func rows() throws {
        let entries = try crosswalk().filter { !$0.key.hasPrefix("x-content/") && !$0.key.hasPrefix("inode/") }
        #expect(entries.count > 800)
        var corrections = 0
        for (mimeType, entry) in entries {
            let row = try #require(CrosswalkTable.row(for: mimeType), "\(mimeType)")
            #expect(row.extensions == entry.extensions.map { $0.lowercased() })
            #expect((row.type == nil) != (row.parent == nil), "\(mimeType)")
            if row.type?.identifier != entry.uti { corrections += 1 }
            #expect(CrosswalkTable.row(for: mimeType.uppercased())?.extensions == row.extensions)
        }
        #expect(corrections < 60)
        for mimeType in ["", "a", "application/", "application/zi", "application/zipp", "zzz/zzz", "!"] {
            #expect(CrosswalkTable.row(for: mimeType) == nil)
        }
    }

    @Test("every type in the tables is declared, and none is for folders")
    func declaredTypes() throws {
        let types = TypeRegistry.system
        var used = FormatSignature.recognizable
        used.formUnion(Storage.allCases.flatMap { $0.plain + $0.formats })
        used.formUnion(ZipFamily.allCases.flatMap(\.members))
        used.formUnion(ZipFamily.allCases.flatMap { [$0.type([]), $0.type(.macros)] })
        let signatures: [ExecutableSignature] = [.elf, .windows, .machO, .javaClass, .webAssembly, .dex]
        used.formUnion(signatures.flatMap { [$0.type] + $0.otherTypes })
        used.formUnion(
            try crosswalk().keys.compactMap { CrosswalkTable.row(for: $0) }.compactMap { $0.type ?? $0.parent })
        for type in used {
            #expect(types.isDeclared(type), "\(type)")
            #expect(!types.conforms(type, to: .directory), "\(type)")
        }
    }

    @Test("what the crosswalk said wrongly is corrected")
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
        "an interpreter says what a script is written in",
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

    @Test("text is told from what is none, and a character may be cut only where more follows")
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
