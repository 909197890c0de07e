import Sharing
import TestSupport
import Testing
import UniformTypes

@Suite("Kind and type")
struct KindAgreementTests {
    /// For each type the kinds of items that can have it.
    static let table: [(type: String, kinds: Set<ItemKind>)] = [
        ("public.png", [.file]), ("public.data", [.file]), ("public.item", [.file]), ("public.content", [.file]),
        ("public.shell-script", [.file, .text]), ("public.html", [.file, .text]),
        ("public.utf8-plain-text", [.file, .text]), ("public.json", [.file, .text]),
        ("public.url", [.file, .url]), ("public.file-url", [.file, .url]),
        ("public.directory", [.tree]), ("public.folder", [.tree]), ("com.apple.package", [.tree]),
        ("com.apple.application-bundle", [.tree]), ("com.apple.rtfd", [.tree]),
        // A folder of HTML pages, which Apple's table calls HTML as well.
        ("com.apple.music.itlp", [.tree]),
        // A type without a declaration can have every kind.
        ("org.example.unknown", Set(ItemKind.allCases)), ("dyn.a", Set(ItemKind.allCases)),
    ]

    @Test("agree as the table says, in any case of the letters", arguments: table)
    func agreement(_ type: String, _ kinds: Set<ItemKind>) {
        for kind in ItemKind.allCases {
            for text in [type, type.uppercased()] {
                let offer = Offer(
                    items: [
                        OfferedItem(kind: .file, name: safe("a"), type: .data, size: 1),
                        OfferedItem(kind: kind, name: safe("photos"), type: uniform(text), size: 1),
                    ], senderName: "")
                let fault = Self.fault { () throws(TransferError) in _ = try offer.checked(by: .system) }
                #expect((fault == nil) == kinds.contains(kind), "\(kind) \(text)")
                guard let fault else { continue }
                #expect(fault.code == .protocolViolation)
                #expect(fault.message.contains("item 1, photos cannot be of the type \(text): "), "\(fault)")
            }
        }
    }

    @Test("a dynamic type is recognised by its own tags, and by the declarations here")
    func dynamic() throws {
        let picture = try #require(DynamicType(supertypes: [.image], tags: [TypeTag(.filenameExtension, "zzz")])).type
        #expect(ItemKind.allCases.filter { $0.admits(picture, by: .system) } == [.file])
        let folder = try #require(DynamicType(supertypes: [.package], tags: [TypeTag(.filenameExtension, "zzz")])).type
        #expect(ItemKind.allCases.filter { $0.admits(folder, by: .system) } == [.tree])
        var registry = TypeRegistry.system
        let own = uniform("org.example.project")
        #expect(ItemKind.file.admits(own, by: registry))
        registry = registry.adding(exported: [TypeDeclaration(own, parents: [.package])], imported: []).registry
        #expect(ItemKind.allCases.filter { $0.admits(own, by: registry) } == [.tree])
    }

    @Test("only files and trees can be executable", arguments: ItemKind.allCases)
    func executable(kind: ItemKind) throws {
        let item = OfferedItem(kind: kind, name: safe("a"), type: .data, size: 1, entries: kind == .tree ? 2 : 1)
        var order = ItemAssembly(items: [item], verdict: Verdict(all: .accepted, count: 1))
        try order.beginItem(0)
        var entry = FileEntry(path: nil, executable: true, modified: nil, size: 1)
        if kind == .tree { entry.path = try SafeRelativePath("run") }
        do throws(TransferError) {
            try order.beginFile(entry)
            #expect(kind == .file || kind == .tree)
        } catch {
            #expect(error.code == .protocolViolation && (kind == .text || kind == .url))
        }
    }

    private static func fault(_ body: () throws(TransferError) -> Void) -> TransferError? {
        do throws(TransferError) {
            try body()
            return nil
        } catch {
            return error
        }
    }
}
