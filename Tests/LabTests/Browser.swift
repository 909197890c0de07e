import Foundation

/// A browser that a test drives, by `Tests/Browsers/browser.py`.
actor Browser {
    enum Kind: String, Sendable {
        case chromium
        case firefox
    }

    struct Fault: Error, CustomStringConvertible {
        var description: String
    }

    /// Whether the programs of `Scripts/setup browsers` are here.
    static let areInstalled = ["chromedriver", "chromium", "firefox-esr", "zbarimg", "unzip"].allSatisfy {
        FileManager.default.isExecutableFile(atPath: "/usr/bin/" + $0)
    }
    static let scripts = Programs.root + "/Tests/Browsers/"

    nonisolated let kind: Kind
    /// The folder of the files that it downloads.
    nonisolated let downloads: String
    private let running: RunningProgram
    private var orders = 0

    fileprivate init(_ kind: Kind, _ running: RunningProgram, folder: String) async throws {
        (self.kind, self.running, downloads) = (kind, running, folder + "/downloads")
        let _: Anything? = try await answer(1)
    }

    // MARK: A guest's actions

    func open(_ url: String) async throws { try await order("open", url) }

    func click(_ selector: String) async throws { try await order("click", selector) }

    func type(_ text: String, into selector: String) async throws { try await order("type", selector, text) }

    func choose(_ paths: [String]) async throws { try await send("choose", paths) }

    func chooseFolder(_ path: String) async throws { try await order("folder", path) }

    /// Leaves the page, and forgets its cookies and what it keeps for its window.
    func forget() async throws { try await order("forget") }

    /// Waits until an expression of JavaScript is true in the page.
    func wait(_ expression: String) async throws { try await order("wait", expression) }

    /// Waits until the text of a part contains words.
    func wait(for words: String, in selector: String) async throws {
        let words = String(decoding: try JSONEncoder().encode(words), as: UTF8.self)
        let text =
            "document.querySelector('\(selector)')?.innerText.replace(/[\\u2068\\u2069]/g, '').replace(/[\\u00a0\\u202f]/g, ' ')"
        try await wait("\(text).includes(\(words))")
    }

    /// The text that a reader sees in the first part that a selector finds; empty if there is none. Without the marks that
    /// give names their own direction; spaces that break no line are spaces.
    func text(_ selector: String) async throws -> String {
        let text: String = try await value("text", selector)
        return text.replacing(/[\u{2068}\u{2069}]/, with: "").replacing(/[\u{A0}\u{202F}]/, with: " ")
    }

    /// Leaves a picture of the window in a file.
    func picture(_ path: String) async throws { try await order("picture", path) }

    /// The value that a script returns.
    func script<Value: Decodable & Sendable>(_ code: String) async throws -> Value { try await value("script", code) }

    // MARK: Chromium alone

    func setWindow(_ width: Int, _ height: Int, isPhone: Bool) async throws {
        try await order("window", width, height, isPhone)
    }

    /// - Parameter scheme: `light` or `dark`.
    func setColors(_ scheme: String) async throws { try await order("scheme", scheme) }

    /// Whether pages may run scripts.
    func allowScripts(_ isAllowed: Bool) async throws { try await order("scripts", isAllowed) }

    func drop(_ path: String) async throws { try await order("drop", path) }

    /// Drops files and folders from outside onto a part.
    func drop(_ paths: [String], on selector: String) async throws { try await send("drop_on", [selector] + paths) }

    /// Drags a part a little by the mouse.
    /// - Returns: what the drag takes along, by its types.
    func drag(_ selector: String) async throws -> [String: String] { try await value("drag", selector) }

    /// Waits until an expression of JavaScript is true in the page of a frame.
    func wait(_ expression: String, within frame: String) async throws {
        try await order("wait_within", frame, expression)
    }

    /// Presses keys one after the other, by the names in `chromium.py`, or as characters.
    func press(_ keys: String...) async throws { try await send("press", keys) }

    /// Presses the key Tab.
    func pressTab() async throws { try await order("tab") }

    /// The role and the name of each control, as a screen reader gets them.
    func controls() async throws -> [[String]] { try await value("controls") }

    /// The messages of the console since the last call.
    func messages() async throws -> [String] { try await value("messages") }

    // MARK: Orders

    private struct Answer<Value: Decodable>: Decodable {
        var value: Value?
        var fault: String?
    }

    private struct Anything: Decodable, Sendable {
        init(from decoder: any Decoder) {}
    }

    private func order(_ name: String, _ arguments: any Sendable...) async throws { try await send(name, arguments) }

    private func send(_ name: String, _ arguments: [any Sendable]) async throws {
        let _: Anything? = try await answer(try await place(name, arguments))
    }

    private func value<Value: Decodable & Sendable>(_ name: String, _ arguments: any Sendable...) async throws -> Value
    {
        guard let value: Value = try await answer(try await place(name, arguments)) else {
            throw Fault(description: "\(name) has no value")
        }
        return value
    }

    /// Places an order. The browser takes orders one after the other.
    /// - Returns: the number of its answer.
    private func place(_ name: String, _ arguments: [any Sendable]) async throws -> Int {
        orders += 1
        let number = orders + 1
        let line = try JSONSerialization.data(withJSONObject: ["do": name, "with": arguments] as [String: Any])
        try await running.type(String(decoding: line, as: UTF8.self) + "\n")
        return number
    }

    private func answer<Value: Decodable & Sendable>(_ number: Int) async throws -> Value? {
        let line = try await running.transcript.first("answer \(number)") { text -> Substring? in
            // Each line has its end already.
            let lines = text.split(separator: "\n", omittingEmptySubsequences: false).dropLast().filter {
                $0.first == "{"
            }
            return lines.count >= number ? lines[number - 1] : nil
        }
        let answer = try JSONDecoder().decode(Answer<Value>.self, from: Data(line.utf8))
        if let fault = answer.fault { throw Fault(description: fault) }
        return answer.value
    }
}

extension Host {
    /// Runs a browser beside `body`.
    /// - Parameters:
    ///   - folder: a new one, for its files.
    ///   - language: the guest's.
    ///   - arguments: of the browser.
    func withBrowser(
        _ kind: Browser.Kind, folder: String, language: String = "en", arguments: [String] = [],
        _ body: @Sendable (Browser) async throws -> Void
    ) async throws {
        let words = ["python3", "-B", Browser.scripts + "browser.py", kind.rawValue, folder, language] + arguments
        try await withProgram("/usr/bin/env", words) { running in
            try await body(try await Browser(kind, running, folder: folder))
        }
    }
}
