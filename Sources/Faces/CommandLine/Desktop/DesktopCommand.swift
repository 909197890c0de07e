import ArgumentParser
import Desk
import Lines
import Operations

/// `waft desktop`: the desktop's way to the handlers.
struct DesktopCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "desktop",
        abstract: "Let the desktop open URLs with your handlers.",
        discussion: """
            Example: waft desktop install, then click a link such as todolist:x in a browser

            A desktop entry tells the desktop which URL schemes your handlers open. Such URLs then go to waft open. Waft \
            rewrites the entry when the handlers change. http, https, mailto, tel, sms, file and other schemes that mean \
            the same everywhere stay with the desktop.
            """,
        subcommands: [DesktopInstallCommand.self, DesktopRemoveCommand.self, DesktopStatusCommand.self],
        defaultSubcommand: DesktopStatusCommand.self
    )
}

/// `waft desktop install`.
struct DesktopInstallCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "install",
        abstract: "Install the desktop entries and the menus of file managers, or bring them up to date.",
        discussion: """
            Example: waft desktop install

            Waft stands among the applications, URLs of handlers open from other programs, and files are shared from the menus of Thunar, Dolphin, Nautilus, \
            Nemo and Caja, as far as they are installed. All start the waft that you run now. Run this command again after you \
            have moved that program.
            """
    )

    @Flag(name: .long, help: "Replace a file that Waft has not written.")
    var force = false

    @OptionGroup var output: OutputOptions

    func run() async throws {
        let (line, isKnown) = try await output.changingDesktop { desktop throws(WaftError) in
            try await desktop.install(force: force)
        }
        output.show(line, as: ["installed \(line.shownPath)"] + line.facts)
        guard !isKnown, !output.json else { return }
        Console.shared.note(
            "waft: update-desktop-database failed or is missing; some desktops find the entry only with it "
                + "(package desktop-file-utils)")
    }
}

/// `waft desktop remove`.
struct DesktopRemoveCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove",
        abstract: "Remove the desktop entries and the menus of file managers.",
        discussion: "Example: waft desktop remove"
    )

    @Flag(name: .long, help: "Remove even a file that Waft has not written.")
    var force = false

    @OptionGroup var output: OutputOptions

    func run() async throws {
        let (line, wasThere) = try await output.changingDesktop { desktop throws(WaftError) in
            try await desktop.remove(force: force)
        }
        output.show(line, as: [wasThere ? "removed \(line.shownPath)" : "there is no \(line.shownPath)"])
    }
}

/// `waft desktop status`.
struct DesktopStatusCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Print whether the desktop entry is installed, and its schemes.",
        discussion: "Example: waft desktop status --json"
    )

    @OptionGroup var output: OutputOptions

    func run() async throws {
        let line = try await output.changingDesktop { desktop throws(WaftError) in try desktop.status() }
        output.show(line)
        if !output.json, let advice = line.advice { Console.shared.note(advice) }
    }
}

extension OutputOptions {
    fileprivate func changingDesktop<Value>(
        _ body: (DesktopEntries) async throws(WaftError) -> Value
    ) async throws(CommandError) -> Value {
        try await doing(in: CommandContext()) { waft throws(WaftError) in
            try await body(try waft.desktop(icon: DeskPage.icon))
        }
    }
}

/// The desktop entry in words. Foreign text is escaped.
extension DesktopLine: WordedLine {
    var words: [String] {
        switch state {
        case "missing": ["not installed"]
        case "foreign": ["not installed: \(shownPath) is of another hand"]
        default: ["installed  \(shownPath)"] + facts
        }
    }

    fileprivate var shownPath: String { TerminalText.escaped(path, limit: 4_096) }

    /// The facts about an entry of Waft, a line each.
    fileprivate var facts: [String] {
        let opens = (urlSchemes ?? []).map { "\($0):" }.joined(separator: ", ")
        let left = leftSchemes.map { "\($0):" }.joined(separator: ", ")
        let facts =
            [("opens  ", opens.isEmpty ? "nothing yet: no handler opens URLs" : opens)]
            + (left.isEmpty ? [] : [("leaves ", left)]) + [("runs   ", command ?? "")]
            + (menus ?? []).map { ("shares ", $0) }
        return facts.map { label, value in
            "  \(label)\(TerminalText.escaped(value, limit: 4_096))" + (label == "leaves " ? " to the desktop" : "")
        }
    }

    /// The next step.
    fileprivate var advice: String? {
        switch state {
        case "missing": "to install it: waft desktop install"
        case "foreign": "to replace it: waft desktop install --force"
        default: isCurrent == false ? "it is not up to date; to change that: waft desktop install" : nil
        }
    }
}
