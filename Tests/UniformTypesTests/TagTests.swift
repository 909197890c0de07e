import Testing
import UniformTypes

@Suite("Types by name and MIME type")
struct TagTests {
    let registry = TypeRegistry.system

    @Test("a file with the extension bin is data, as nobody knows its form, and the archive keeps its extension")
    func binaries() throws {
        #expect(TypeRegistry.system.type(forFileName: "firmware.BIN", kind: .regularFile) == .data)
        let archive = try #require(UniformType("com.apple.macbinary-archive"))
        #expect(TypeRegistry.system.type(forExtension: "bin", kind: .regularFile) == archive)
        #expect(TypeRegistry.system.preferredExtension(for: archive) == "bin")
    }

    @Test(
        "a file has the type of its extension, in any case",
        arguments: [
            ("photo.jpg", UniformType.jpeg), ("photo.JPG", .jpeg), ("Photo.JpEg", .jpeg), ("a.b.c.png", .png),
            ("a..png", .png), ("report.pdf", .pdf), ("-rf.pdf", .pdf), ("a b.pdf", .pdf), ("index.html", .html),
            ("notes.txt", .plainText), ("photo.2024.jpg", .jpeg), (".hidden.png", .png), ("..x.png", .png),
            ("link.url", .internetShortcut), ("archive.tar.gz", .gzip), ("dir/name.png", .png), ("mail.vcf", .vCard),
            ("film.mp4", .mpeg4Movie), ("ümläut.PDF", .pdf),
        ]
    )
    func file(name: String, type: UniformType) {
        #expect(registry.type(forFileName: name, kind: .regularFile) == type)
    }

    @Test(
        "a file without an extension is data",
        arguments: [
            "", "README", ".bashrc", "..bashrc", ".", "..", "...", "name.", "name..", ".name.", "dir.d/README",
            "Mr. Smith",
            "a.\u{202E}gpj", "a.b\0c", "a.b\nc", "a.\u{1B}[31m", "a.b\u{A0}c", "a.\u{200B}png",
        ]
    )
    func noExtension(name: String) {
        #expect(registry.type(forFileName: name, kind: .regularFile) == .data)
    }

    @Test(
        "a file with an unknown extension has the dynamic type for it under data",
        arguments: [
            ("photo.jfif", "dyn.ah62d4rv4ge80y3xmq2"), ("x.GITIGNORE", "dyn.ah62d4rv4ge80s4pyrfx0655wqy"),
            ("a.b.t", "dyn.ah62d4rv4ge81k"),
        ]
    )
    func unknownExtension(name: String, identifier: String) {
        let type = registry.type(forFileName: name, kind: .regularFile)
        #expect(type.identifier == identifier)
        #expect(registry.conforms(type, to: .data))
        #expect(registry.conforms(type, to: .item))
        #expect(!registry.conforms(type, to: .content))
    }

    @Test(
        "a directory is a folder, whichever files have its extension",
        arguments: ["", "src", "a.png", "x.zzz", ".git", "v1.2"])
    func folder(name: String) {
        #expect(registry.type(forFileName: name, kind: .directory) == .folder)
    }

    @Test(
        "a directory with a package's extension is that package",
        arguments: [
            ("Mail.app", "com.apple.application-bundle"), ("letter.pages", "com.apple.iWork.Pages.pages"),
            ("talk.KEY", "com.apple.iWork.Keynote.key"), ("note.rtfd", "com.apple.rtfd"),
            ("X.framework", "com.apple.framework"), ("a.pkpass", "com.apple.pkpass"),
        ]
    )
    func package(name: String, identifier: String) {
        let type = registry.type(forFileName: name, kind: .directory)
        #expect(type.identifier == identifier)
        #expect(registry.conforms(type, to: .directory))
    }

    @Test(
        "pages, numbers and key are other types as files than as directories", arguments: ["pages", "numbers", "key"])
    func iWork(fileExtension: String) throws {
        let file = registry.type(forFileName: "a." + fileExtension, kind: .regularFile)
        let directory = registry.type(forFileName: "a." + fileExtension, kind: .directory)
        #expect(file.identifier.contains(".sff"))
        #expect(registry.conforms(file, to: .data))
        #expect(registry.conforms(directory, to: .package))
    }

    @Test("a file with the extension of a package alone has a dynamic type, not the package's")
    func packageExtensionOnFile() {
        let type = registry.type(forFileName: "note.rtfd", kind: .regularFile)
        #expect(type.isDynamic)
        #expect(registry.conforms(type, to: .data))
        #expect(registry.resolved(type) == type)
    }

    @Test("an extension of several parts goes before its last part, where one is declared")
    func multipart() {
        let tarball = UniformType(literal: "com.example.tarball")
        let (registry, refusals) = registry.adding(
            exported: [TypeDeclaration(tarball, parents: [.archive], extensions: ["tar.gz"])],
            imported: []
        )
        #expect(refusals.isEmpty)
        #expect(registry.type(forFileName: "a.tar.gz", kind: .regularFile) == tarball)
        #expect(registry.type(forFileName: "a.b.TAR.GZ", kind: .regularFile) == tarball)
        #expect(registry.type(forFileName: "a.gz", kind: .regularFile) == .gzip)
        // The name is `.tar`, hidden; `.tar.gz` is no extension with nothing before it.
        #expect(registry.type(forFileName: ".tar.gz", kind: .regularFile) == .gzip)
    }

    @Test("an extension that is no extension has no type")
    func malformedExtensions() {
        for text in [
            "", ".", ".png", "png.", "p/ng", "png ", "p\0ng", "a.b.c.d", String(repeating: "p", count: 1 << 20),
        ] {
            #expect(registry.type(forExtension: text, kind: .regularFile) == nil)
            #expect(registry.type(forExtension: text, kind: .directory) == nil)
        }
    }

    @Test("a huge extension is none, and the longest possible one has a dynamic type")
    func hugeExtensions() {
        let longest = "a." + String(repeating: "z", count: 128)
        #expect(registry.type(forFileName: longest, kind: .regularFile).isDynamic)
        #expect(registry.type(forFileName: longest + "z", kind: .regularFile) == .data)
        for huge in [String(repeating: "z", count: 1 << 20), String(repeating: ".z", count: 1 << 20)] {
            #expect(registry.type(forFileName: "a." + huge, kind: .regularFile).identifier.utf8.count <= 255)
            #expect(registry.type(forFileName: "a." + huge, kind: .directory) == .folder)
        }
        #expect(registry.type(forFileName: String(repeating: ".", count: 1 << 20), kind: .regularFile) == .data)
        // Grows when it is lower-cased.
        #expect(registry.type(forFileName: "a." + String(repeating: "İ", count: 64), kind: .regularFile) == .data)
    }

    @Test(
        "a MIME type has its type, in any case, with or without parameters",
        arguments: [
            ("image/jpeg", UniformType.jpeg), ("IMAGE/JPEG", .jpeg), ("text/plain; charset=latin1", .plainText),
            ("text/plain;charset=UTF-8", .utf8PlainText), (" text/html ;", .html), ("application/pdf", .pdf),
            ("application/octet-stream", .data), ("audio/ogg;  codecs=opus", UniformType(literal: "org.xiph.opus")),
            (
                "application/vnd.ms-excel.sheet.MACROENABLED.12",
                UniformType(literal: "org.openxmlformats.spreadsheetml.sheet.macroenabled")
            ),
        ]
    )
    func mime(text: String, type: UniformType) {
        #expect(registry.type(forMIMEType: text) == type)
    }

    @Test(
        "text that is no MIME type, or an unknown one, has no type",
        arguments: [
            "", ";", "/", "image", "image/", "/jpeg", "image/jpeg/x", "image jpeg", "image/jp\0eg", "image/jpeg\n",
            "image/jpeg; x=\u{1B}", "image/*", "*/*", "x-made/up", "ımage/jpeg",
            "image/" + String(repeating: "x", count: 1 << 20),
        ]
    )
    func noMIME(text: String) {
        #expect(registry.type(forMIMEType: text) == nil)
    }

    @Test("the preferred tag is the first one declared, and tags are not inherited")
    func preferredTags() {
        #expect(registry.preferredExtension(for: .jpeg) == registry.declaration(of: .jpeg)?.extensions.first)
        #expect(registry.preferredMIMEType(for: .jpeg) == "image/jpeg")
        #expect(registry.preferredExtension(for: .plainText) == "txt")
        #expect(registry.preferredExtension(for: .pdf) == "pdf")
        #expect(registry.preferredExtension(for: .internetShortcut) == "url")
        #expect(registry.preferredExtension(for: .image) == nil)
        #expect(registry.preferredMIMEType(for: .image) == nil)
    }

    @Test("a dynamic type has the tags in its identifier, if they are well formed")
    func dynamicTags() throws {
        let jfif = UniformType(literal: "dyn.ah62d4rv4ge80y3xmq2")
        #expect(registry.preferredExtension(for: jfif) == "jfif")
        #expect(registry.preferredMIMEType(for: jfif) == nil)
        let rdp = UniformType(literal: "dyn.ah62d4rv4gq80c6durvy0g2pyrf106p52fz3gk6a")
        #expect(registry.preferredMIMEType(for: rdp) == "application/x-rdp")
        for hostile in ["../../etc/passwd", "a/b", "a\0b", ".", "a\u{202E}b", " "] {
            let dynamic = try #require(DynamicType(supertypes: [.data], tags: [TypeTag(.filenameExtension, hostile)]))
            #expect(registry.preferredExtension(for: dynamic.type) == nil)
            #expect(registry.resolved(dynamic.type) == dynamic.type)
        }
    }

    @Test("a dynamic type whose tag is declared here is resolved to the declared type")
    func resolved() throws {
        func dynamic(_ supertypes: [UniformType], _ tag: TypeTag) throws -> UniformType {
            try #require(DynamicType(supertypes: supertypes, tags: [tag])).type
        }
        #expect(registry.resolved(try dynamic([.data], TypeTag(.filenameExtension, "png"))) == .png)
        #expect(registry.resolved(try dynamic([], TypeTag(.mimeType, "image/png"))) == .png)
        #expect(registry.resolved(try dynamic([.package], TypeTag(.filenameExtension, "app"))) == .applicationBundle)
        // A picture that ends in .mov is not a film.
        let picture = try dynamic([.image], TypeTag(.filenameExtension, "mov"))
        #expect(registry.resolved(picture) == picture)
        let scheme = try dynamic([], TypeTag(.urlScheme, "png"))
        #expect(registry.resolved(scheme) == scheme)
        #expect(registry.resolved(.jpeg) == .jpeg)
    }
}
