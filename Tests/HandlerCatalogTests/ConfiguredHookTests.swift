import Foundation
import HandlerCatalog
import Logging
import TestSupport
import Testing
import UniformTypes

@Suite("The hook of the configuration")
struct ConfiguredHookTests {
    private let shelf = Shelf()
    private let rules = LaunchRules(writablePaths: ["/somewhere"], timeout: .seconds(7))

    private func hook(_ mode: mode_t = 0o755) -> ConfiguredHook {
        let path = shelf.folder / "on-arrival"
        Shelf.writeProgram(path, mode: mode)
        return ConfiguredHook(path: path, launch: rules)
    }

    @Test("it comes after all installed handlers, whatever it claims, and before the Inbox")
    func place() throws {
        try shelf.write("A", Shelf.opening("org.example.a", "public.item", rank: "Alternate"))
        let snapshot = shelf.catalog(hook: hook()).load()
        let claims = snapshot.claimants(of: try type("com.adobe.pdf"))
        #expect(claims.map(\.bundle.identifier.text) == ["org.example.a", "org.waft.hook", "org.waft.inbox"])
        #expect(claims.map(\.decidedBy) == [nil, .lastResort, .lastResort])
        #expect(
            claims[1].explanation.contains(
                "gets items that no installed handler opens; behind A, which is installed"))
        #expect(snapshot.problems.isEmpty)
        #expect(snapshot.bundles.map(\.name) == ["A"])
        #expect(snapshot.handlers.map(\.name) == ["A", "hook", "Inbox"])
    }

    @Test("it is run as the configuration says")
    func running() throws {
        let configured = hook()
        let bundle = try #require(shelf.catalog(hook: configured).load().hook)
        #expect(bundle.executable == configured.path)
        #expect(bundle.path == shelf.folder.path)
        #expect(bundle.origin == .configuration)
        #expect(bundle.launch == rules)
    }

    @Test("with it everything can be sent, also where only handlers count")
    func eligibility() throws {
        let jpeg = try type("public.jpeg")
        #expect(shelf.catalog(rule: .handlers, hook: hook()).load().eligibility(of: jpeg).isEligible)
        #expect(!shelf.catalog(rule: .handlers).load().eligibility(of: jpeg).isEligible)
        let claims = shelf.catalog(rule: .handlers, hook: hook()).load().claimants(of: jpeg)
        #expect(claims.map(\.bundle.name) == ["hook"])
    }

    @Test("a program that cannot be run is a problem, and no handler")
    func unusable() throws {
        let missing = shelf.catalog(hook: ConfiguredHook(path: shelf.folder / "none", launch: LaunchRules())).load()
        #expect(missing.hook == nil)
        #expect(missing.reasons(.unusable) == ["the hook of the configuration is missing"])
        let unfit = shelf.catalog(hook: hook(0o644)).load()
        #expect(unfit.hook == nil)
        #expect(unfit.reasons(.unusable).first?.contains("chmod +x") == true)
        let folder = shelf.catalog(hook: ConfiguredHook(path: shelf.user, launch: LaunchRules())).load()
        #expect(folder.reasons(.unusable).first?.contains("not a regular file") == true)
        let open = shelf.catalog(hook: hook(0o777)).load()
        #expect(open.hook != nil)
        #expect(open.reasons(.warning).first?.contains("everyone may write") == true)
    }

    @Test("it is no default, and can be neither disabled nor removed")
    func choices() throws {
        try shelf.write("A", Shelf.opening("org.example.a", "public.image"))
        let catalog = shelf.catalog(hook: hook())
        let jpeg = try type("public.jpeg")
        let attempts: [(CatalogError.Code, () throws -> Any)] = [
            (.notYours, { try catalog.disable("hook") }), (.notYours, { try catalog.enable("hook") }),
            (.notYours, { try catalog.remove("org.waft.hook") }),
            (.unfit, { try catalog.setDefault("hook", for: jpeg) }),
        ]
        for (code, attempt) in attempts {
            let error = #expect(throws: CatalogError.self) { _ = try attempt() }
            #expect(error?.code == code)
        }
        let text = #"{"disabled": ["org.waft.hook"], "defaults": {"public.jpeg": "org.waft.hook"}}"#
        try Data(text.utf8).write(to: URL(fileURLWithPath: shelf.choices))
        let claims = catalog.load().claimants(of: jpeg)
        #expect(claims.map(\.bundle.name) == ["A", "hook", "Inbox"])
    }

    @Test("a type that the user leaves in the Inbox on purpose comes before it")
    func leftOnPurpose() throws {
        let catalog = shelf.catalog(hook: hook())
        try catalog.setDefault("inbox", for: try type("public.image"))
        #expect(catalog.load().claimants(of: try type("public.jpeg")).map(\.bundle.name) == ["Inbox", "hook"])
    }

    @Test("no other handler has its name and identifier")
    func names() throws {
        try shelf.write("Other", Shelf.keys("org.waft.HOOK"))
        #expect(shelf.catalog().load().reasons(.unusable) == ["org.waft.HOOK is the identifier of a built-in handler"])
        let recipe = HandlerRecipe(name: "hooK", types: ["public.image"], run: hook().path)
        let error = #expect(throws: CatalogError.self) { try shelf.catalog().add(recipe) }
        #expect(error?.code == .unfit)
    }

    @Test("the watch hears when it comes and goes")
    func watched() throws {
        let configured = ConfiguredHook(path: shelf.folder / "deep/on-arrival", launch: LaunchRules())
        let watch = CatalogWatch(shelf.catalog(hook: configured), listening: false, logger: Logger(label: "test"))
        #expect(watch.current.hook == nil)
        try FileManager.default.createDirectory(atPath: shelf.folder / "deep", withIntermediateDirectories: false)
        Shelf.writeProgram(configured.path)
        #expect(watch.current.hook != nil)
        try FileManager.default.removeItem(atPath: configured.path)
        #expect(watch.current.hook == nil)
    }
}
