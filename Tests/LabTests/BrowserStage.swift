import Foundation
import Testing

/// The two hosts of all tests with browsers: in the kitchen `waft web` serves the page, in the study the guest has a browser.
struct BrowserStage: Sendable {
    /// Made once for the whole suite, because a browser needs seconds to start.
    @TaskLocal static var current: BrowserStage?

    let lab: Lab
    let browser: Browser
    var study: Host { lab.host("study") }

    /// A folder for the files of one test.
    let folder: String

    /// Calls `body` with a stage whose window has seen no page.
    static func take(_ body: @Sendable (BrowserStage) async throws -> Void) async throws {
        let current = try #require(current)
        let folder = current.lab.folder + "/\(UInt32.random(in: 0...UInt32.max))"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try await current.browser.forget()
        try await body(BrowserStage(lab: current.lab, browser: current.browser, folder: folder))
        // The page needs nothing that its own policy forbids.
        let refused = try await current.browser.messages().filter { $0.contains("Content Security Policy") }
        #expect(refused.isEmpty, "\(refused)")
    }

    /// The host of the page, with a home of its own for each test.
    /// - Parameter accept: its setting.
    func kitchen(accept: String = "everyone", _ environment: [String: String] = [:]) -> Host {
        var host = lab.host("kitchen")
        host.home = folder + "/kitchen"
        host.environment = environment.merging(["WAFT_ACCEPT": accept]) { own, _ in own }
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

    /// Bytes that repeat themselves at no distance at which pieces of a file could be mistaken for each other.
    static func noise(_ count: Int) -> Data {
        var noise = Data(capacity: count)
        while noise.count < count { noise += block.prefix(count - noise.count) }
        return noise
    }

    /// A prime number of bytes.
    private static let block: Data = {
        var state: UInt64 = 88_172_645_463_325_252
        let words = (0..<125_000).map { _ in
            state ^= state << 13
            state ^= state >> 7
            state ^= state << 17
            return state
        }
        return words.withUnsafeBytes { Data($0.prefix(999_983)) }
    }()

    /// Runs curl in the study, as a guest without a browser.
    func curl(_ words: [String]) async throws -> ProgramResult {
        try await study.run(
            "/usr/bin/curl", ["--insecure", "--silent", "--show-error", "--max-time", "60"] + words, in: folder)
    }
}

/// Makes the stage of a suite.
struct BrowserStageTrait: SuiteTrait, TestScoping {
    func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        try await Lab.with(avahi: "none") { lab in
            try await lab.host("study").withBrowser(.chromium, folder: lab.folder + "/browser") { browser in
                let stage = BrowserStage(lab: lab, browser: browser, folder: lab.folder)
                try await BrowserStage.$current.withValue(stage) { try await function() }
            }
        }
    }
}

extension Trait where Self == BrowserStageTrait {
    static var browserStage: Self { Self() }
}

/// Real browsers on the page of a real `waft web`.
@Suite(
    "A guest with a browser", .serialized, .timeLimit(.minutes(3)),
    .enabled(if: Lab.isPossible, "NOT RUN: network namespaces need root; run Scripts/test as root"),
    .enabled(if: Browser.areInstalled, "NOT RUN: no browsers; Scripts/setup browsers installs them"), .browserStage)
struct BrowserTests {}

extension Browser {
    /// Opens the page, and waits until it can be used.
    func enter(_ page: GuestPage) async throws {
        try await open(page.url)
        try await waitForPage()
    }

    func waitForPage() async throws { try await wait("document.querySelector('html.js') !== null") }

    /// Waits until the page says the end.
    func ends() async throws { try await wait("document.querySelector('#more:not([hidden])')?.checkVisibility()") }
}
