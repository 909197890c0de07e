import Sharing
import TestSupport
import Testing
import UniformTypes

@testable import AirDropDialect

@Suite("Types that AirDrop announces")
struct AnnouncedTypeTests {
    @Test(
        "the more specific of announced type and name decides; if they contradict each other, their common supertype does",
        arguments: [
            // As Apple's senders announce files.
            ("photo.png", "public.png", false, "public.png"), ("IMG_1.HEIC", "public.heic", false, "public.heic"),
            ("notes", "public.folder", true, "public.folder"), ("Pages.app", "com.apple.application-bundle", true, nil),
            ("a.rtfd", "com.apple.rtfd", true, nil), ("README", "public.plain-text", false, nil),
            ("project.foo", "com.example.project", true, nil), ("a.foo", "com.example.foo", false, nil),
            // One type is more specific than the other.
            ("photo.png", "public.image", false, "public.png"), ("photo.png", "public.data", false, "public.png"),
            ("photo", "public.png", false, "public.png"), ("photo.qqq", "public.png", false, "public.png"),
            ("photo.png", "com.example.unknown", false, "public.png"), ("photo.png", "", false, "public.png"),
            // The types contradict each other.
            ("evil.sh", "public.png", false, "public.data"), ("evil.png", "public.shell-script", false, "public.data"),
            ("a.png", "public.jpeg", false, "public.image"), ("note.txt", "public.image", false, "public.data"),
            ("drawing.svg", "public.image", false, "public.svg-image"),
            // A type that does not fit the kind is ignored.
            ("photos", "public.png", true, "public.folder"), ("photo.png", "public.png", true, "public.folder"),
            ("photo.png", "public.folder", false, "public.png"), ("x", "com.apple.package", false, "public.data"),
        ])
    func types(_ name: String, _ said: String, _ isFolder: Bool, _ expected: String?) {
        let type = AnnouncedType.of(
            said: UniformType(said), name: name, kind: isFolder ? .tree : .file, .system)
        #expect(type == uniform(expected ?? said))
    }

    @Test("for a folder that is announced as a picture, the question shows a folder")
    func folder() async throws {
        try await AirDropLoopback.run(.decline) { receiver in
            let file = HandMadeAsk.File(name: "photos", type: "public.png", isFolder: true)
            _ = try await receiver.http { try await $0.post("/Ask", HandMadeAsk(files: [file]).encoded) }
            let item = receiver.consent.asked.all.first?.offer.items.first
            #expect(item?.kind == .tree && item?.type == .folder)
        }
    }
}
