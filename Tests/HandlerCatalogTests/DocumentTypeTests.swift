import Foundation
import HandlerCatalog
import TestSupport
import Testing
import UniformTypes

@Suite("Document types before identifiers")
struct DocumentTypeTests {
    private let shelf = Shelf()

    /// The handlers that open a file of this name, without the built-in ones.
    private func openers(_ name: String, kind: FileKind = .regularFile) -> [String] {
        let snapshot = shelf.catalog(rule: .handlers).load()
        let type = snapshot.registry.type(forFileName: name, kind: kind)
        return snapshot.claimants(of: type, kind: kind).map(\.bundle.name)
    }

    private func write(_ name: String, _ entry: [String: Any], _ more: [String: Any] = [:]) throws {
        let keys = Shelf.keys("org.example.\(name)", ["CFBundleDocumentTypes": [entry]])
        try shelf.write(name, keys.merging(more) { _, more in more })
    }

    @Test("an extension stands for its declared type, so that its other extensions count too")
    func declaredExtension() throws {
        try write("A", ["CFBundleTypeExtensions": ["JPG", ".png"]])
        #expect(openers("a.jpeg") == ["A"])
        #expect(openers("a.PNG") == ["A"])
        #expect(openers("a.gif") == [])
    }

    @Test("an undeclared extension stands for itself")
    func undeclaredExtension() throws {
        try write("A", ["CFBundleTypeExtensions": ["waftx", "tar.waftx"]])
        #expect(openers("a.waftx") == ["A"])
        #expect(openers("a.WAFTX") == ["A"])
        #expect(openers("a.wafty") == [])
        let type = try #require(DynamicType(supertypes: [.data], tags: [TypeTag(.filenameExtension, "waftx")])).type
        // Declared by another bundle: with other tags, or without its supertypes.
        let tags = [TypeTag(.filenameExtension, "waftx"), TypeTag(.mimeType, "application/x-waftx")]
        let snapshot = shelf.catalog(rule: .handlers).load()
        for foreign in [type, try #require(DynamicType(tags: tags)).type] {
            #expect(snapshot.claimants(of: foreign).map(\.steps) == [0])
        }
    }

    @Test("an extension that another bundle declares stands for that type")
    func extensionOfAnother() throws {
        try write("A", ["CFBundleTypeExtensions": ["waftx"]])
        let declaration: [String: Any] = [
            "UTTypeIdentifier": "org.example.waftx", "UTTypeConformsTo": ["public.data"],
            "UTTypeTagSpecification": ["public.filename-extension": ["waftx"]],
        ]
        try shelf.write("B", Shelf.keys("org.example.B", ["UTExportedTypeDeclarations": [declaration]]))
        let snapshot = shelf.catalog(rule: .handlers).load()
        #expect(snapshot.claimants(of: try type("org.example.waftx")).map(\.bundle.name) == ["A"])
    }

    @Test("a MIME type stands for its declared type, or for itself")
    func mimeTypes() throws {
        try write("A", ["CFBundleTypeMIMETypes": ["Image/JPEG", "application/x-waftx"]])
        #expect(openers("a.jpg") == ["A"])
        let tag = TypeTag(.mimeType, "application/x-waftx")
        let foreign = try #require(DynamicType(tags: [tag])).type
        #expect(shelf.catalog(rule: .handlers).load().claimants(of: foreign).map(\.bundle.name) == ["A"])
    }

    @Test("LSTypeIsPackage means folders with the extension, and no files")
    func packages() throws {
        try write("A", ["CFBundleTypeExtensions": ["waftpack", "rtfd"], "LSTypeIsPackage": true])
        let type = try #require(DynamicType(supertypes: [.package], tags: [TypeTag(.filenameExtension, "waftpack")]))
            .type
        let snapshot = shelf.catalog(rule: .handlers).load()
        #expect(snapshot.claimants(of: type, kind: .directory).map(\.bundle.name) == ["A"])
        #expect(openers("a.rtfd", kind: .directory) == ["A"])
        #expect(openers("a.waftpack") == [])
    }

    @Test("extensions and MIME types are ignored where LSItemContentTypes is")
    func ignoredBesideTypes() throws {
        try write(
            "A",
            [
                "LSItemContentTypes": ["public.movie"], "CFBundleTypeExtensions": ["jpg"],
                "CFBundleTypeMIMETypes": ["image/jpeg"], "LSTypeIsPackage": true,
            ]
        )
        #expect(openers("a.jpg") == [])
        #expect(openers("a.mov") == ["A"])
    }

    @Test("wildcards open nothing, and the log has it")
    func wildcards() throws {
        try write("A", ["CFBundleTypeExtensions": ["*"]])
        try write("B", ["CFBundleTypeMIMETypes": ["image/*"]])
        try write("C", ["CFBundleTypeExtensions": ["a b", "", "x/y", "\u{202E}", String(repeating: "x", count: 129)]])
        #expect(openers("a.jpg") == [])
        let warnings = shelf.catalog().load().reasons(.warning)
        #expect(warnings.contains { $0.contains("claim public.data to be given everything") })
        #expect(warnings.contains { $0.contains("\"image/*\" in CFBundleTypeMIMETypes is not a MIME type") })
        #expect(warnings.filter { $0.contains("in CFBundleTypeExtensions is not an extension") }.count == 5)
    }
}
