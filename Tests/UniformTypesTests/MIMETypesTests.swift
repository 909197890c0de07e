import Testing
import UniformTypes

@Suite("The MIME types and icons of a type")
struct MIMETypesTests {
    private let registry = TypeRegistry.system

    @Test("the nearest MIME type is the first, and those that say little are the last")
    func order() throws {
        #expect(registry.mimeTypes(of: [.jpeg], kind: .regularFile) == ["image/jpeg", "application/octet-stream"])
        let json = registry.mimeTypes(of: [.json], kind: .regularFile)
        #expect(json.first == "application/json" && json.suffix(2) == ["text/plain", "application/octet-stream"])
        #expect(registry.mimeTypes(of: [.plainText], kind: .regularFile) == ["text/plain", "application/octet-stream"])
        #expect(registry.mimeTypes(of: [.data], kind: .regularFile) == ["application/octet-stream"])
        #expect(registry.mimeTypes(of: [.folder], kind: .directory) == ["inode/directory"])
    }

    @Test("the type of the content comes before the declared one, each MIME type once")
    func two() {
        let types = registry.mimeTypes(of: [.png, .jpeg, .png], kind: .regularFile)
        #expect(types == ["image/png", "image/jpeg", "application/octet-stream"])
    }

    @Test(
        "an icon is named by the MIME type, and a generic one by the kind of the type",
        arguments: [
            ("public.jpeg", "image-jpeg", "image-x-generic"), ("com.adobe.pdf", "application-pdf", "x-office-document"),
            ("public.mp3", "audio-mpeg", "audio-x-generic"), ("public.mpeg-4", "video-mp4", "video-x-generic"),
            ("public.zip-archive", "application-zip", "package-x-generic"),
            ("public.html", "text-html", "text-html"), ("public.plain-text", "text-plain", "text-x-generic"),
            ("public.utf8-plain-text", "text-plain", "text-x-generic"),
            ("public.data", "application-octet-stream", "application-x-generic"),
        ])
    func icons(_ type: String, _ icon: String, _ generic: String) throws {
        let type = try #require(UniformType(type))
        #expect(registry.iconName(of: type, kind: .regularFile) == icon)
        #expect(registry.genericIconName(of: type, kind: .regularFile) == generic)
    }

    @Test("every type has names of icons, also a dynamic one and a folder")
    func all() throws {
        #expect(registry.iconName(of: .folder, kind: .directory) == "inode-directory")
        #expect(registry.genericIconName(of: .folder, kind: .directory) == "folder")
        let dynamic = registry.type(forFileName: "a.unknown", kind: .regularFile)
        #expect(registry.iconName(of: dynamic, kind: .regularFile) == "application-octet-stream")
    }
}
