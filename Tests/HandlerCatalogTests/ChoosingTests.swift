import HandlerCatalog
import Testing
import UniformTypes

@Suite("Choosing among claimants")
struct ChoosingTests {
    private func snapshot(
        _ bundles: [HandlerBundle],
        defaults: [String: String] = [:],
        rule: EligibilityRule = .everything
    ) throws -> CatalogSnapshot {
        var choices = UserChoices()
        for (name, handler) in defaults {
            choices.typeDefaults[try type(name)] = handler == "inbox" ? .inbox : try identifier(handler)
        }
        return CatalogSnapshot(bundles: bundles, choices: choices, rule: rule)
    }

    private func names(_ snapshot: CatalogSnapshot, _ text: String = "public.jpeg") throws -> [String] {
        snapshot.claimants(of: try type(text)).map(\.bundle.name)
    }

    @Test("a handler that claims the type itself goes before one that claims a supertype, whatever the rank")
    func exactType() throws {
        let snapshot = try snapshot([
            .sample("image", ["public.image"], rank: .owner, role: .editor, installed: 1),
            .sample("jpeg", ["public.jpeg"], rank: .alternate, installed: 2),
        ])
        let claims = snapshot.claimants(of: .jpeg)
        #expect(claims.map(\.bundle.name) == ["jpeg", "image", "Inbox"])
        #expect(claims.map(\.steps) == [0, 1, 3])
        #expect(claims.map(\.decidedBy) == [nil, .exactType, .lastResort])
    }

    @Test("fewer steps of conformance go first, whatever the rank")
    func conformanceSteps() throws {
        let snapshot = try snapshot([
            .sample("data", ["public.data"], rank: .owner, installed: 1),
            .sample("image", ["public.image"], rank: .alternate),
        ])
        let claims = snapshot.claimants(of: .jpeg)
        #expect(claims.map(\.bundle.name) == ["image", "data", "Inbox"])
        #expect(claims[1].decidedBy == .conformanceSteps)
    }

    @Test("Owner goes before Default, that before Alternate, and None is never chosen")
    func ranks() throws {
        let snapshot = try snapshot([
            .sample("none", ["public.jpeg"], rank: .none), .sample("alternate", ["public.jpeg"], rank: .alternate),
            .sample("default", ["public.jpeg"], rank: .default, installed: 3),
            .sample("owner", ["public.jpeg"], rank: .owner, installed: 4),
        ])
        #expect(try names(snapshot) == ["owner", "default", "alternate", "Inbox"])
        #expect(snapshot.claimants(of: .jpeg)[1].decidedBy == .rank)
        #expect(
            snapshot.passedOver(.jpeg).map { "\($0.bundle.name), \($0.obstacle): \($0.reason)" }
                == ["none, rank: its rank for public.jpeg is None: it is never chosen"])
    }

    @Test("Editor goes before Viewer, that before Shell; the others open nothing")
    func roles() throws {
        let snapshot = try snapshot([
            .sample("none", ["public.jpeg"], role: .none), .sample("preview", ["public.jpeg"], role: .previewGenerator),
            .sample("importer", ["public.jpeg"], role: .importer), .sample("shell", ["public.jpeg"], role: .shell),
            .sample("viewer", ["public.jpeg"], role: .viewer, installed: 2),
            .sample("editor", ["public.jpeg"], role: .editor, installed: 3),
        ])
        #expect(try names(snapshot) == ["editor", "viewer", "shell", "Inbox"])
        #expect(snapshot.claimants(of: .jpeg)[1].decidedBy == .role)
        #expect(snapshot.passedOver(.jpeg).map(\.bundle.name) == ["importer", "none", "preview"])
        let shellFirst = snapshot.claimants(of: .jpeg, role: .shell).map(\.bundle.name)
        #expect(shellFirst == ["shell", "editor", "viewer", "Inbox"])
    }

    @Test("the one installed first goes first, then the one whose identifier does")
    func installed() throws {
        let snapshot = try snapshot([
            .sample("c", ["public.jpeg"], installed: 1), .sample("b", ["public.jpeg"], installed: 2),
            .sample("a", ["public.jpeg"], installed: 2),
        ])
        #expect(try names(snapshot) == ["c", "a", "b", "Inbox"])
        #expect(snapshot.claimants(of: .jpeg).map(\.decidedBy) == [nil, .installed, .identifier, .lastResort])
    }

    @Test("the user's default goes before all else, also for types that conform to it")
    func userBinding() throws {
        let bundles: [HandlerBundle] = try [
            .sample("jpeg", ["public.jpeg"], rank: .owner), .sample("image", ["public.image"], rank: .alternate),
            .sample("data", ["public.data"], rank: .alternate),
        ]
        #expect(try names(snapshot(bundles)) == ["jpeg", "image", "data", "Inbox"])
        let bound = try snapshot(bundles, defaults: ["public.jpeg": "data"])
        #expect(try names(bound) == ["data", "jpeg", "image", "Inbox"])
        #expect(try names(bound, "public.png") == ["image", "data", "Inbox"])
        let claim = try #require(bound.claimants(of: .jpeg).first)
        #expect(claim.boundType == .jpeg)
        #expect(
            claim.explanation
                == "your default for public.jpeg; opens public.data, 2 steps up; rank Alternate, role Viewer")
        let inherited = try snapshot(bundles, defaults: ["PUBLIC.image": "data"])
        #expect(try names(inherited) == ["data", "jpeg", "image", "Inbox"])
        #expect(try names(inherited, "public.movie") == ["data", "Inbox"])
    }

    @Test("of several defaults the one for the nearest type goes first")
    func nearestBinding() throws {
        let snapshot = try snapshot(
            [
                .sample("a", ["public.data"]), .sample("b", ["public.data"]), .sample("c", ["public.jpeg"]),
            ],
            defaults: ["public.data": "a", "public.image": "b"]
        )
        #expect(try names(snapshot) == ["b", "a", "c", "Inbox"])
        #expect(snapshot.claimants(of: .jpeg)[1].decidedBy == .userBinding)
    }

    @Test("a default for a handler that is not there, or does not open the item, changes nothing")
    func idleBinding() throws {
        let bundles: [HandlerBundle] = try [.sample("jpeg", ["public.jpeg"]), .sample("png", ["public.png"])]
        #expect(try names(snapshot(bundles, defaults: ["public.image": "gone"])) == ["jpeg", "Inbox"])
        #expect(try names(snapshot(bundles, defaults: ["public.image": "png"])) == ["jpeg", "Inbox"])
    }

    @Test("the user can choose that a type stays in the Inbox")
    func inboxBinding() throws {
        let bundles: [HandlerBundle] = try [.sample("jpeg", ["public.jpeg"])]
        #expect(try names(snapshot(bundles, defaults: ["public.image": "inbox"])) == ["Inbox", "jpeg"])
    }

    @Test("a handler with several claims stands by its best one")
    func bestClaim() throws {
        let types = DocumentType.Contents.types
        let bundle = try HandlerBundle.sample(
            "a",
            documentTypes: [
                DocumentType(contents: types([.data]), rank: .owner),
                DocumentType(contents: types([.jpeg]), rank: .none),
                DocumentType(contents: types([.image]), rank: .alternate),
                DocumentType(contents: types([.image]), rank: .default, role: .editor),
            ]
        )
        let claim = try #require(snapshot([bundle]).claimants(of: .jpeg).first)
        #expect(claim.claimedType == .image)
        #expect(claim.rank == .default)
        #expect(claim.role == .editor)
        #expect(try snapshot([bundle]).passedOver(.jpeg).isEmpty)
    }

    @Test("a built-in handler comes last whatever the others claim, and is left out if only handlers count")
    func lastResort() throws {
        let bundles: [HandlerBundle] = try [.sample("all", ["public.item"], rank: .alternate, installed: 9)]
        #expect(try names(snapshot(bundles)) == ["all", "Inbox"])
        #expect(try names(snapshot(bundles, rule: .handlers)) == ["all"])
        #expect(try names(snapshot([], rule: .handlers)) == [])
        let inbox = try #require(snapshot([]).claimants(of: .jpeg).first)
        #expect(inbox.bundle.identifier == .inbox)
        #expect(inbox.bundle.executable == nil)
        #expect(inbox.explanation == "takes everything else, and keeps it in the Inbox")
    }

    @Test("Owner of a type that another bundle exports, or that it only imports, counts as Default")
    func loweredOwner() throws {
        let mine = TypeDeclaration(try type("org.example.mine"), parents: [.data])
        let bundles: [HandlerBundle] = try [
            .sample("exporter", ["org.example.mine"], rank: .owner, installed: 9, exporting: [mine]),
            .sample("claimant", ["org.example.mine"], rank: .owner, installed: 1),
            .sample("importer", ["org.example.mine"], rank: .owner, installed: 2, importing: [mine]),
            .sample("late", ["org.example.mine"], rank: .owner, installed: 10, exporting: [mine]),
        ]
        let claims = try snapshot(bundles).claimants(of: mine.type)
        #expect(claims.map(\.bundle.name) == ["exporter", "claimant", "importer", "late", "Inbox"])
        #expect(claims.map(\.rank) == [.owner, .default, .default, .default, .alternate])
        #expect(
            claims[1].explanation == "opens org.example.mine itself; rank Default (it says Owner, but does not export "
                + "org.example.mine), role Viewer; behind exporter, whose rank is Owner")
        let alone = try snapshot([bundles[2]]).claimants(of: mine.type)
        #expect(alone.map(\.rank) == [.default, .alternate])
        // No handler exports a type of the system or an undeclared type.
        let own = try snapshot([.sample("a", ["public.jpeg", "org.example.mine"], rank: .owner)])
        #expect(own.claimants(of: .jpeg).first?.rank == .owner)
        #expect(own.claimants(of: mine.type).first?.rank == .owner)
    }

    @Test("an item of an undeclared type is still a file or a folder")
    func undeclaredTypes() throws {
        let unknown = try type("com.unknown.thing")
        let snapshot = try snapshot(
            [
                .sample("item", ["public.item"]), .sample("data", ["public.data"]),
                .sample("folder", ["public.directory"]),
                .sample("exact", ["com.unknown.thing"], rank: .alternate),
            ],
            rule: .handlers
        )
        func names(_ kind: FileKind?) -> [String] { snapshot.claimants(of: unknown, kind: kind).map(\.bundle.name) }
        #expect(names(nil) == ["exact", "item"])
        #expect(names(.regularFile) == ["exact", "data", "item"])
        #expect(names(.directory) == ["exact", "folder", "item"])
        // public.executable conforms to nothing, but an item of it is a file.
        #expect(snapshot.claimants(of: .executable, kind: .regularFile).map(\.bundle.name) == ["data", "item"])
    }

    @Test("types are compared without regard to case")
    func caseOfTypes() throws {
        let bundles: [HandlerBundle] = try [.sample("a", ["Public.JPEG"])]
        #expect(try names(snapshot(bundles), "PUBLIC.jpeg") == ["a", "Inbox"])
        #expect(try snapshot(bundles).claimants(of: .jpeg).first?.steps == 0)
    }

    @Test(
        "the order does not depend on the order of the bundles, and each entry has its reason",
        arguments: [UInt64](1...5))
    func deterministic(seed: UInt64) throws {
        var random = Seeded(seed)
        let types = ["public.jpeg", "public.image", "public.data", "public.item", "public.content"]
        let bundles = try (0..<40).map { number in
            try HandlerBundle.sample(
                "n\(number)",
                [types.randomElement(using: &random) ?? "", types.randomElement(using: &random) ?? ""],
                rank: HandlerRank.allCases.randomElement(using: &random) ?? .none,
                role: HandlerRole.allCases.randomElement(using: &random) ?? .none,
                installed: Int64.random(in: 0...3, using: &random)
            )
        }
        let defaults = ["public.image": "n3", "public.data": "n7"]
        let claims = try snapshot(bundles, defaults: defaults).claimants(of: .jpeg)
        for _ in 0..<5 {
            let again = try snapshot(bundles.shuffled(using: &random), defaults: defaults).claimants(of: .jpeg)
            #expect(again == claims)
        }
        for (before, after) in zip(claims, claims.dropFirst()) where after.decidedBy == .rank {
            #expect(before.rank < after.rank && before.steps == after.steps)
        }
    }
}
