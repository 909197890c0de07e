import Foundation
import HandlerCatalog
import TestSupport
import Testing
import UniformTypes

@Suite("The pictures of document types")
struct IconFileTests {
    private let shelf = Shelf()

    /// The bundle's picture for JPEG images, below the bundle.
    private func icon(_ names: [String], _ prepare: (_ bundle: String) throws -> Void) throws -> String? {
        let entry: [String: Any] = ["LSItemContentTypes": ["public.image"], "CFBundleTypeIconFiles": names]
        let path = try shelf.write("A", Shelf.keys("org.example.A", ["CFBundleDocumentTypes": [entry]]))
        try prepare(path)
        let snapshot = shelf.catalog(rule: .handlers).load()
        let claim = try #require(snapshot.claimants(of: .jpeg, kind: .regularFile).first)
        let file = claim.bundle.iconFile(of: claim.claimedType, in: snapshot.registry)
        let real = try #require(realpath(path, nil))
        defer { free(real) }
        return file.map { $0.replacingOccurrences(of: String(cString: real) + "/", with: "") }
    }

    @Test("the first one that exists is used, also in a folder of the bundle")
    func exists() throws {
        let icon = try icon(["missing.png", "Resources/a.png", "b.png"]) { bundle in
            try FileManager.default.createDirectory(
                atPath: bundle + "/Resources", withIntermediateDirectories: true)
            for name in ["/Resources/a.png", "/b.png"] { try Data().write(to: URL(fileURLWithPath: bundle + name)) }
        }
        #expect(icon == "Resources/a.png")
    }

    @Test("none is used that is outside the bundle, by its name or by a link, or that is no file")
    func outside() throws {
        let icon = try icon(["../A.png", "/etc/passwd", "link.png", "folder.png"]) { bundle in
            try Data().write(to: URL(fileURLWithPath: bundle + "/../A.png"))
            try FileManager.default.createSymbolicLink(
                atPath: bundle + "/link.png", withDestinationPath: "/etc/passwd")
            try FileManager.default.createDirectory(
                atPath: bundle + "/folder.png", withIntermediateDirectories: true)
        }
        #expect(icon == nil)
    }
}
