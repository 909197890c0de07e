import Control
import Foundation
import Lines
import Settings
import TestSupport
import Testing
import UniformTypes

@testable import Operations

@Suite("What a user can do with handlers")
struct InstalledHandlersTests {
    private let kitchen: Kitchen
    private let program: String

    init() throws {
        kitchen = try Kitchen(jobs: 0)
        program = kitchen.folder / "import.sh"
        kitchen.folder.file("import.sh", "#!/bin/sh\n", mode: 0o755)
    }

    private var handlers: InstalledHandlers { kitchen.waft.handlers }

    private func add(_ name: String, types: [String] = ["public.image"], schemes: [String] = []) async throws {
        _ = try await handlers.add(name, types: types, schemes: schemes, run: program)
    }

    @Test("a handler is installed, listed, disabled, enabled and removed, with its data if that is wished")
    func life() async throws {
        let (added, count) = try await handlers.add("Photos", types: ["org.nobody.t"], schemes: ["photo"], run: program)
        #expect(added.identifier == "org.waft.local.photos" && added.origin == .user && added.enabled)
        #expect(added.warnings.count == count && count == 1, "nothing declares its type")
        let listed = handlers.list()
        #expect(listed.handlers.map(\.name) == ["Photos", "Inbox"] && listed.problems.isEmpty)
        #expect(try await handlers.disable("photos").enabled == false)
        #expect(try handlers.show("Photos").handlers.map(\.enabled) == [false])
        #expect(try await handlers.enable("photos").enabled)
        let data = try #require(added.dataFolder)
        try FileManager.default.createDirectory(atPath: data, withIntermediateDirectories: true)
        let removed = try await handlers.remove("Photos", data: true)
        #expect(removed.isDataRemoved && !FileManager.default.fileExists(atPath: data))
        #expect(handlers.names.isEmpty)
    }

    @Test("a running receiver is told of each change, and of nothing else")
    func told() async throws {
        let asked = Recorder<ControlRequest>()
        try await kitchen.withReceiver { request in
            asked.record(request)
            return .done
        } _: {
            try await add("Photos")
            _ = try await handlers.setDefault("Photos", for: "public.png")
            _ = try await handlers.removeDefault(for: "public.png")
            #expect(try await handlers.removeDefault(for: "public.png").former == nil, "it had been removed")
            _ = (handlers.list(), try handlers.show("Photos"), handlers.defaults())
        }
        #expect(asked.all == Array(repeating: .refreshHandlers, count: 3))
    }

    @Test("a receiver that cannot be told of a change is a warning, and the change is done")
    func warning() async throws {
        let warnings = Recorder<String>()
        // The path of its socket is too long for the system.
        let folder = kitchen.folder / String(repeating: "x", count: 120)
        var far = Waft(
            try Home(environment: ["WAFT_HOME": folder]), kitchen.waft.live, logger: kitchen.waft.logger)
        far.warn = { warnings.record($0) }
        _ = try await far.handlers.add("Photos", types: ["public.image"], schemes: [], run: program)
        #expect(far.handlers.names == ["Photos"])
        #expect(warnings.all.count == 1)
        #expect(warnings.all.first?.hasPrefix("the running receiver may not know of the change: ") == true)
    }

    @Test("a type or a scheme has one default, which the removal of its handler forgets")
    func defaults() async throws {
        try await add("Photos", schemes: ["photo"])
        let chosen = try await handlers.setDefault("photos", for: "photo")
        #expect(chosen.scheme == "photo" && chosen.handler == "org.waft.local.photos" && chosen.state == .enabled)
        #expect(try await handlers.setDefault("Inbox", for: "public.png").isInbox)
        #expect(handlers.defaults().map(\.type) == ["public.png", nil])
        #expect(try handlers.default(for: "public.tiff").state == nil)
        #expect(try await handlers.remove("Photos", data: false).forgottenSchemes == ["photo"])
        #expect(handlers.defaults().map(\.name) == ["Inbox"])
    }

    @Test("a refusal has its exit code, and advice if there is any")
    func refusals() async throws {
        try await add("Photos")
        let cases: [(WaftExit, String, String?, () async throws -> Void)] = [
            (.inputMissing, "there is no handler nobody", "see: waft handlers", { _ = try handlers.show("nobody") }),
            (
                .inputMissing, "there is no handler nobody", "see: waft handlers",
                { _ = try await handlers.enable("nobody") }
            ),
            (.usage, "the handler Inbox is built in", nil, { _ = try await handlers.disable("inbox") }),
            (.usage, "the handler Inbox is built in", nil, { _ = try await handlers.remove("inbox", data: true) }),
            (.usage, "there is a handler Photos already", nil, { try await add("photos") }),
            (
                .inputMissing, "\(kitchen.folder / "none") cannot be used as a handler", nil,
                { _ = try await handlers.add("A", types: ["public.image"], schemes: [], run: kitchen.folder / "none") }
            ),
            (.usage, "pdf is a file name extension", nil, { _ = try handlers.default(for: "pdf") }),
            (
                .usage, "Photos does not open com.adobe.pdf", nil,
                { _ = try await handlers.setDefault("Photos", for: "com.adobe.pdf") }
            ),
            (.usage, "Photos has no settings", nil, { _ = try handlers.setting("x", of: "Photos") }),
            (.usage, "pdf is a file name extension", nil, { _ = try handlers.decisions(assuming: "pdf") }),
            (
                .inputMissing, "\(kitchen.folder / "none.pdf"): ",
                "to test the type of such a file: waft handlers test --type com.adobe.pdf",
                { _ = try handlers.decisions().decide(kitchen.folder / "none.pdf") }
            ),
            (.usage, "foo://a b: the URL has white space", nil, { _ = try handlers.decisions().decide("foo://a b") }),
            (
                .inputMissing, "notes: monday.txt: there is no such file", nil,
                { _ = try handlers.decisions().decide("notes: monday.txt") }
            ),
        ]
        for (code, reason, hint, body) in cases {
            let error = await #expect(throws: WaftError.self) { try await body() }
            #expect(error?.code == code && error?.hint == hint, "\(reason): \(String(describing: error))")
            #expect(error?.reason.hasPrefix(reason) == true, "\(String(describing: error))")
        }
    }

    @Test("a handler that cannot be used is shown as its problems")
    func problems() throws {
        let path = kitchen.home.handlers + "/Odd.handler"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        let shown = try handlers.show("odd")
        #expect(shown.handlers.isEmpty && shown.problems.map(\.reason) == ["it has no Info.plist"])
        #expect(shown.problems.first?.hint == "fix it, or remove it: waft handlers remove Odd")
        #expect(handlers.list().problems.map(\.severity) == [.unusable])
    }

    @Test("a setting is listed, set, and returned to its default")
    func settings() async throws {
        try await add("Photos")
        let folder = kitchen.home.handlers + "/Photos.handler/Settings.bundle"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let specifiers: [[String: Any]] = [
            ["Type": "PSGroupSpecifier", "Title": "Import"],
            ["Type": "PSTextFieldSpecifier", "Key": "token", "IsSecure": true, "DefaultValue": "secret"],
            ["Type": "PSToggleSwitchSpecifier", "Key": "raw", "DefaultValue": false],
        ]
        let data = try PropertyListSerialization.data(
            fromPropertyList: ["PreferenceSpecifiers": specifiers], format: .binary, options: 0)
        try data.write(to: URL(fileURLWithPath: folder + "/Root.plist"))
        for path in [folder, folder + "/Root.plist"] { chmod(path, 0o755) }
        #expect(handlers.settingNames(of: "Photos") == ["token", "raw"])
        #expect(handlers.choices(of: "raw", of: "Photos") == ["true", "false"])
        #expect(try handlers.settings(of: "Photos").rows.count == 3)
        let set = try await handlers.set("raw", of: "Photos", to: "yes")
        #expect(set.values == ["true"] && set.formerValues == ["false"] && set.isSet && !set.wasSet && !set.isSecure)
        #expect(try handlers.setting("raw", of: "Photos").setBy.hasSuffix("org.waft.local.photos.json"))
        let unset = try await handlers.set("raw", of: "Photos", to: nil)
        #expect(!unset.isSet && unset.wasSet)
        #expect(try handlers.setting("token", of: "Photos").isSecure)
        let refused = await #expect(throws: WaftError.self) { try await handlers.set("raw", of: "Photos", to: "x") }
        #expect(refused == WaftError(.usage, #"raw should be true or false, and is "x""#))
    }

    @Test("a decision has the handlers in their order, and those that are not asked")
    func decisions() async throws {
        try await add("Photos", schemes: ["photo"])
        try await add("Viewer", types: ["public.data"])
        _ = try await handlers.disable("Viewer")
        let file = kitchen.folder.file("a.png", "\u{7F}ELF\u{2}\u{1}\u{1}\0")
        let decisions = try handlers.decisions()
        #expect(decisions.ofType == nil)
        guard case .item(let item) = try decisions.decide(file),
            case .scheme(let url) = try decisions.decide("photo:a?b=c")
        else {
            Issue.record("the decisions are of other kinds")
            return
        }
        #expect(item.content == "lying" && item.asked.isEmpty && item.exists == true && item.kind == "file")
        #expect(item.claimants.map(\.name) == ["Photos", "Inbox"] && item.passedOver.map(\.name) == ["Viewer"])
        #expect(item.passedOver.map(\.obstacle) == ["disabled"])
        #expect(url.asked.map(\.name) == ["Photos"] && url.urlParts.query == "b=c" && !url.builtIn)
        let type = try #require(try handlers.decisions(assuming: "public.png").ofType)
        #expect(type.asked.map(\.name) == ["Photos"] && type.path == nil && type.exists == nil)
        for key in ["shownName", "contentWords", "handedOnDescription", "isEligibilityRuled", "openedSchemes"] {
            #expect(!item.json.contains("\"\(key)\"") && !url.json.contains("\"\(key)\""), "\(key)")
        }
    }
}
