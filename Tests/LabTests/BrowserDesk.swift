import Foundation
import Subprocess
import Testing

/// The hosts of all tests of the desk with browsers: in the kitchen a desk and a browser, in the study, the attic and the cellar peers.
struct DeskStage: Sendable {
    /// Made once for the whole suite, because a browser needs seconds to start.
    @TaskLocal static var current: DeskStage?

    let lab: Lab
    let browser: Browser

    /// A folder for the files of one test.
    let folder: String

    /// Calls `body` with a stage whose window has seen no page.
    /// - Parameter isAttacked: other pages than the desk's are opened too.
    static func take(isAttacked: Bool = false, _ body: @Sendable (DeskStage) async throws -> Void) async throws {
        let current = try #require(current)
        let folder = current.lab.folder + "/\(UInt32.random(in: 0...UInt32.max))"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try await current.browser.forget()
        try await current.browser.setWindow(1_280, 900, isPhone: false)
        try await current.browser.setColors("light")
        try await body(DeskStage(lab: current.lab, browser: current.browser, folder: folder))
        if isAttacked { return }
        // The pages need nothing that their own policy forbids, and no script fails.
        let faults = try await current.browser.messages().filter {
            $0.contains("Content Security Policy") || $0.contains("Uncaught")
        }
        #expect(faults.isEmpty, "\(faults)")
    }

    /// The address of the kitchen's receiver for the other hosts.
    static func kitchen(_ receiver: RunningReceiver) -> String { "192.168.77.1:\(receiver.port)" }

    /// A host of the lab, with a home of its own for each test.
    func host(_ name: String, _ environment: [String: String] = [:]) throws -> Host {
        var host = lab.host(name)
        host.home = folder + "/" + name
        host.environment = environment
        try FileManager.default.createDirectory(atPath: host.home, withIntermediateDirectories: true)
        return host
    }

    /// Writes a file.
    /// - Returns: its path.
    @discardableResult
    func write(_ name: String, _ contents: Data) throws -> String {
        let path = folder + "/" + name
        let parent = URL(fileURLWithPath: path).deletingLastPathComponent().path
        try FileManager.default.createDirectory(atPath: parent, withIntermediateDirectories: true)
        try contents.write(to: URL(fileURLWithPath: path))
        return path
    }

    /// Runs a daemon and a desk in the kitchen, and opens the desk in the browser.
    /// - Parameters:
    ///   - visibility: of the daemon.
    ///   - contacts: hosts that are contacts of the kitchen; the host attic is called Attic.
    ///   - policy: for their offers.
    ///   - isNew: whether the room shows the first steps.
    func withDesk(
        _ environment: [String: String] = [:], visibility: String = "everyone", contacts: [String] = [],
        policy: String = "ask", isNew: Bool = false,
        _ body: @Sendable @escaping (Desk, RunningReceiver) async throws -> Void
    ) async throws {
        let kitchen = try host("kitchen", environment)
        if !isNew {
            try FileManager.default.createDirectory(
                atPath: kitchen.home + "/config", withIntermediateDirectories: true)
            let settings = try? String(contentsOfFile: kitchen.home + "/config/config.yaml", encoding: .utf8)
            try kitchen.writeSettings((settings ?? "") + "desk: {firstSteps: false}\n")
        }
        try await kitchen.withReceiver(Programs.waftd, []) { receiver in
            let outcome = try await kitchen.run(arguments: ["visible", visibility])
            #expect(outcome.exit == 0, "\(outcome.errors)")
            for name in contacts {
                try await kitchen.allow(host(name), name.capitalized, ["--policy", policy])
            }
            try await kitchen.withDesk(browser) { try await body($0, receiver) }
        }
    }
}

/// A desk that runs, and its window.
struct Desk: Sendable {
    let host: Host
    let browser: Browser
    let running: RunningProgram
    /// `http://127.0.0.1:PORT`
    let base: String
    /// Spent when the window is open.
    let secret: String

    /// Opens a window, and waits until it can be used.
    func open() async throws {
        try await browser.open(base + "/#" + secret)
        try await browser.wait("document.documentElement.classList.contains('ready')")
    }

    /// Shows a view.
    func show(_ view: String) async throws {
        // An open view is opened once more.
        let _: Bool = try await browser.script(
            "const old = location.hash; location.hash = '#\(view)';"
                + "if (old !== location.hash) document.querySelector('main').className = ''; return true")
        try await browser.wait("document.querySelector('main.\(view) h1') !== null")
    }

    /// Loads a view again. The window keeps its token.
    func load(_ view: String) async throws {
        try await browser.open("about:blank")
        try await browser.open(base + "/#" + view)
        try await browser.wait("document.documentElement.classList.contains('ready')")
    }

    /// Shows all settings.
    func showAllSettings() async throws {
        try await show("settings")
        try await click("allSettings", in: "main")
        try await browser.wait("document.querySelector('main #s-port') !== null")
    }

    /// Clicks the first button of a key that is seen.
    func click(_ key: String, in part: String = "") async throws {
        let selector = "\(part) [data-key=\"\(key)\"]"
        try await browser.wait("document.querySelector('\(selector)')?.checkVisibility()")
        try await browser.click(selector)
    }

    /// Opens the preview of an item of the Inbox, and waits until its facts are there.
    func preview(_ name: String) async throws {
        let _: Bool = try await browser.script("document.querySelector('#preview').close(); return true")
        let picture = "main [role=option]:has(bdi[title=\"\(name)\"]) .thumb"
        try await browser.wait("document.querySelector('\(picture)') !== null")
        try await browser.click(picture)
        try await browser.wait(for: name, in: "#preview h2")
        try await browser.wait("document.querySelector('#preview dl') !== null")
    }

    /// Opens the details of the preview.
    func showDetails() async throws {
        try await browser.wait("document.querySelector('#preview dl') !== null")
        try await click("facts", in: "#preview")
        try await browser.wait("!document.querySelector('#preview .details').hidden")
    }

    /// Waits until the room shows that something goes on at a face.
    func seesActivity() async throws {
        // A drop is taken some frames after it was made.
        try await browser.wait(
            "document.querySelector('#dropping').hidden && document.querySelector('main .doing') !== null")
    }

    /// Answers the question that lies over the view, once it takes answers.
    func answerQuestion(_ key: String) async throws {
        try await browser.wait("document.querySelector('#question .offer.ready')")
        try await click(key, in: "#question")
    }

    /// Opens the further answers of the question.
    func openMoreAnswers() async throws {
        try await browser.wait("document.querySelector('#question .offer.ready')")
        try await browser.click("#question .offer > details > summary")
    }

    /// Makes the buttons for files offer a field instead of the dialog of the system, for `Browser.choose`.
    func catchFileDialogs() async throws {
        let _: Bool = try await browser.script(
            """
            HTMLInputElement.prototype.click = function () {
                document.getElementById("file")?.remove();
                this.id = "file";
                (document.querySelector("dialog[open]") ?? document.body).append(this);
            };
            return true;
            """)
    }

    /// Answers the dialog that asks something.
    /// - Parameter text: for its field; nil if it has none.
    func answer(_ text: String?) async throws {
        try await browser.wait("document.querySelector('#ask').open")
        if let text {
            let _: Bool = try await browser.script("document.querySelector('#ask input').value = ''; return true")
            try await browser.type(text, into: "#ask input")
        }
        try await browser.click("#ask .primary")
    }

    /// Keeps the window's previews while the browser is elsewhere: another stream with its token is open.
    func keepingPreviews(_ body: @Sendable @escaping () async throws -> Void) async throws {
        let token: String = try await browser.script("return sessionStorage.token")
        try await host.withProgram(
            "/usr/bin/curl", ["-s", "-N", "-H", "waft-token: \(token)", base + "/window"], signal: .interrupt
        ) { running in
            try await running.transcript.says("window")
            try await body()
        }
    }

    /// Where the previews are.
    func previews() async throws -> String {
        let _: Bool = try await browser.script(
            "window.facts = null; fetch('/facts', {headers: {'waft-token': sessionStorage.token}}).then(f => f.json()).then(f => {window.facts = f;}); return true"
        )
        try await browser.wait("window.facts !== null")
        return try await browser.script("return window.facts.previews")
    }
}

extension Host {
    private var settingsFile: String { home + "/config/config.yaml" }

    /// The text of `config.yaml`.
    var settings: String { (try? String(contentsOfFile: settingsFile, encoding: .utf8)) ?? "" }

    func writeSettings(_ text: String) throws {
        try text.write(toFile: settingsFile, atomically: false, encoding: .utf8)
    }

    /// Runs `waft desk`, opens it in a browser, and ends it with Ctrl-C if it still runs.
    func withDesk(
        _ browser: Browser, _ words: [String] = [], _ body: @Sendable @escaping (Desk) async throws -> Void
    ) async throws {
        try await withProgram(Programs.waft, ["desk", "--no-open"] + words, signal: .interrupt) { running in
            let address = try await running.transcript.first("an address") { text in
                text.firstMatch(of: /(http:\/\/127\.0\.0\.1:\d+)\/#([0-9a-z]{26})/).map { (String($0.1), String($0.2)) }
            }
            let desk = Desk(host: self, browser: browser, running: running, base: address.0, secret: address.1)
            try await desk.open()
            try await body(desk)
        }
    }

    /// Offers from here, in the background, until `body` is done.
    func offering(
        _ words: [String], to address: String, in folder: String,
        _ body: @Sendable @escaping (RunningProgram) async throws -> Void
    ) async throws {
        try await withProgram(
            Programs.waft, ["send"] + words + ["--to", address], signal: .interrupt, in: folder, body)
    }
}

/// Makes the stage of a suite.
struct DeskStageTrait: SuiteTrait, TestScoping {
    /// A name of the Internet that leads to this machine, as an attacker's name server would have it.
    static let foreignName = "evil.example"

    func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        try await Lab.with(avahi: "none", hosts: "kitchen,study,attic,cellar") { lab in
            let arguments = ["--host-resolver-rules=MAP \(Self.foreignName) 127.0.0.1"]
            try await lab.host("kitchen").withBrowser(
                .chromium, folder: lab.folder + "/browser", arguments: arguments
            ) { browser in
                let stage = DeskStage(lab: lab, browser: browser, folder: lab.folder)
                try await DeskStage.$current.withValue(stage) { try await function() }
            }
        }
    }
}

extension Trait where Self == DeskStageTrait {
    static var deskStage: Self { Self() }
}

/// Real browsers on a real `waft desk`.
@Suite(
    "The desk in a browser", .serialized, .timeLimit(.minutes(3)),
    .enabled(if: Lab.isPossible, "NOT RUN: network namespaces need root; run Scripts/test as root"),
    .enabled(if: Browser.areInstalled, "NOT RUN: no browsers; Scripts/setup browsers installs them"), .deskStage)
struct BrowserDeskTests {}
