import ArgumentParser
import Glibc
import Lines
import Operations
import Secrets

/// `waft handlers`: the programs that open arrivals.
struct HandlersCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "handlers",
        abstract: "Manage handlers: programs that open received items.",
        discussion: """
            Example: waft handlers add --name Photos --type public.image --run ./import.sh, then waft handlers test a.jpg

            A handler is a folder NAME.handler with an Info.plist and a program. Handlers are in your own folder, in \
            /etc/waft/handlers and in /usr/share/waft/handlers. A running receiver uses changes as soon as these commands \
            return; it also notices bundles that you copy into these folders.
            """,
        subcommands: [
            HandlersListCommand.self, HandlersShowCommand.self, HandlersAddCommand.self, HandlersRemoveCommand.self,
            HandlersEnableCommand.self, HandlersDisableCommand.self, HandlersTestCommand.self,
            HandlersDefaultCommand.self, HandlersSettingsCommand.self,
        ],
        defaultSubcommand: HandlersListCommand.self
    )
}

/// A verb of `waft handlers`.
protocol HandlersVerb: AsyncParsableCommand {
    /// Whether it only reads. A mistake in the settings is a warning then.
    var isReading: Bool { get }

    /// - Throws: `WaftError`, `CommandError`, `ExitCode`.
    func run(on handlers: InstalledHandlers) async throws
}

extension HandlersVerb {
    var isReading: Bool { false }

    func run() async throws {
        let context = try isReading ? CommandContext.forgiving : CommandContext()
        do {
            try await run(on: context.waft.handlers)
        } catch let error as WaftError {
            throw CommandError(error)
        }
    }
}

/// `waft handlers list`.
struct HandlersListCommand: HandlersVerb {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List handlers, the types that they open, and their problems.",
        discussion: "Example: waft handlers list --json"
    )

    @OptionGroup var output: OutputOptions

    var isReading: Bool { true }

    func run(on handlers: InstalledHandlers) {
        let (handlers, problems) = handlers.list()
        for handler in handlers { output.show(handler) }
        for problem in problems { output.show(problem) }
        if problems.isEmpty, !handlers.contains(where: \.isInstalled), !output.json {
            Console.shared.note(
                "no handler is installed; add one with: waft handlers add --name NAME --type TYPE --run PROGRAM")
        }
    }
}

/// `waft handlers show`.
struct HandlersShowCommand: HandlersVerb {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Show everything about a handler.",
        discussion: "Example: waft handlers show Photos"
    )

    @Argument(help: ArgumentHelp("The handler's name or identifier.", valueName: "handler"), completion: .handlers)
    var name: String

    @OptionGroup var output: OutputOptions

    var isReading: Bool { true }

    func run(on handlers: InstalledHandlers) throws {
        let (handlers, problems) = try handlers.show(name)
        for handler in handlers { output.show(handler, as: handler.details) }
        // For a handler that cannot be used, only the reason is shown.
        for problem in problems { output.show(problem) }
    }
}

/// `waft handlers add`.
struct HandlersAddCommand: HandlersVerb {
    static let configuration = CommandConfiguration(
        commandName: "add",
        abstract: "Install a handler: a program that Waft runs for received items.",
        discussion: """
            Example: waft handlers add --name Photos --type public.image --run ./import.sh --writable ~/Pictures

            The program is started as PROGRAM open-url URL, with the facts in WAFT_... variables and as JSON on standard \
            input. Exit code 0 means yes, 1 no (the next handler is asked), 75 try again later. waft type FILE shows the type \
            of a file.

            It may read the system's folders and the Inbox, and write to its own data folder ($WAFT_DATA) and a temporary \
            folder. Everything else must be allowed here: --readable for its settings and modules, --writable for the \
            folders that it writes to, --network for the network, --sockets for printing and other programs that it \
            reaches by Unix sockets, --environment for a variable that the receiver has, such as HTTPS_PROXY. waft handlers show NAME lists what a handler may do.
            """
    )

    @Option(name: .long, help: ArgumentHelp("Name of the handler.", valueName: "name"))
    var name: String

    @Option(
        name: .long, help: ArgumentHelp("A type that it opens, with all types that conform to it.", valueName: "uti"),
        completion: .types)
    var type: [String] = []

    @Option(name: .long, help: ArgumentHelp("A URL scheme that it opens.", valueName: "scheme"))
    var scheme: [String] = []

    @Option(name: .long, help: ArgumentHelp("The program to run.", valueName: "program"), completion: .file())
    var run: String

    @Option(
        name: .long, help: ArgumentHelp("A folder or file that it may read.", valueName: "dir"), completion: .file())
    var readable: [String] = []

    @Option(
        name: .long, help: ArgumentHelp("A folder that it may read and write.", valueName: "dir"),
        completion: .directory)
    var writable: [String] = []

    @Flag(name: .long, help: "Let it use the network.")
    var network = false

    @Flag(name: .long, help: "Let it connect to Unix sockets: to the printing system, the desktop, other programs.")
    var sockets = false

    @Option(
        name: .long, help: ArgumentHelp("A variable of the receiver's environment that it gets.", valueName: "variable")
    )
    var environment: [String] = []

    @Flag(name: .long, help: "Install a copy of the program instead of running it in place.")
    var copy = false

    @OptionGroup var output: OutputOptions

    func run(on handlers: InstalledHandlers) async throws {
        let (handler, warningCount) = try await handlers.add(
            name, types: type, schemes: scheme, run: run, readable: readable, writable: writable, network: network,
            sockets: sockets, environment: environment, copying: copy)
        output.show(handler, as: handler.installation(of: run, isCopy: copy, warningCount: warningCount))
        guard !output.json else { return }
        // An example argument for `waft handlers test`.
        let example = type.isEmpty ? handler.urlTypes.first.map { "\($0.scheme):example" } : nil
        Console.shared.note("to see which handler gets a file: waft handlers test \(example ?? "FILE")")
    }
}

/// `waft handlers remove`.
struct HandlersRemoveCommand: HandlersVerb {
    static let configuration = CommandConfiguration(
        commandName: "remove",
        abstract: "Remove one of your own handlers, even a broken one.",
        discussion: """
            Example: waft handlers remove Photos

            The data folder of the handler and its settings are kept for a handler that you install in its place; --data \
            removes them too.
            """
    )

    @Argument(help: ArgumentHelp("The handler's name or identifier.", valueName: "handler"), completion: .handlers)
    var name: String

    @Flag(name: .long, help: "Remove its data folder and its settings, too.")
    var data = false

    @OptionGroup var output: OutputOptions

    func run(on handlers: InstalledHandlers) async throws {
        output.show(try await handlers.remove(name, data: data))
    }
}

/// `waft handlers enable`.
struct HandlersEnableCommand: HandlersVerb {
    static let configuration = CommandConfiguration(
        commandName: "enable",
        abstract: "Enable a disabled handler.",
        discussion: "Example: waft handlers enable Photos"
    )

    @Argument(help: ArgumentHelp("The handler's name or identifier.", valueName: "handler"), completion: .handlers)
    var name: String

    @OptionGroup var output: OutputOptions

    func run(on handlers: InstalledHandlers) async throws {
        let handler = try await handlers.enable(name)
        output.show(handler, as: ["\(TerminalText.escaped(handler.name)) is enabled"])
    }
}

/// `waft handlers disable`.
struct HandlersDisableCommand: HandlersVerb {
    static let configuration = CommandConfiguration(
        commandName: "disable",
        abstract: "Disable a handler without removing it.",
        discussion: "Example: waft handlers disable Photos"
    )

    @Argument(help: ArgumentHelp("The handler's name or identifier.", valueName: "handler"), completion: .handlers)
    var name: String

    @OptionGroup var output: OutputOptions

    func run(on handlers: InstalledHandlers) async throws {
        let handler = try await handlers.disable(name)
        output.show(handler, as: ["\(TerminalText.escaped(handler.name)) is disabled: it gets no items and no URLs"])
    }
}

/// `waft handlers test`.
struct HandlersTestCommand: HandlersVerb {
    static let configuration = CommandConfiguration(
        commandName: "test",
        abstract: "Show which handler would get a file, a folder, a type or a URL, and why. No handler is started.",
        discussion: """
            Example: waft handlers test photo.jpg, or: waft handlers test --type com.adobe.pdf, or: waft handlers test foo:bar

            Handlers are asked in this order: your default; the one that opens the type itself; fewer steps of conformance; \
            rank (Owner, Default, Alternate); role (Editor, Viewer, Shell); the one installed first; identifier.
            """
    )

    @Argument(help: ArgumentHelp("Files, folders and URLs.", valueName: "file|url"), completion: .file())
    var items: [String] = []

    @Option(
        name: .long,
        help: ArgumentHelp("Type to assume for the files; without files, the type to test.", valueName: "uti"),
        completion: .types)
    var type: String?

    @OptionGroup var output: OutputOptions

    func validate() throws {
        if items.isEmpty, type == nil { throw ValidationError("a file, a folder, a URL or --type is needed") }
    }

    var isReading: Bool { true }

    func run(on handlers: InstalledHandlers) async throws {
        let decisions = try handlers.decisions(assuming: type)
        if items.isEmpty, let decision = decisions.ofType { output.show(decision) }
        try await output.each(items, called: { .path($0) }) { item throws(WaftError) in
            switch try decisions.decide(item) {
            case .item(let decision): output.show(decision)
            case .scheme(let decision): output.show(decision)
            }
        }
    }
}

/// `waft handlers default`.
struct HandlersDefaultCommand: HandlersVerb {
    static let configuration = CommandConfiguration(
        commandName: "default",
        abstract: "Choose the handler that is asked first for a type or a URL scheme.",
        discussion: """
            Example: waft handlers default public.image Photos, or: waft handlers default photo: Photos

            A word that ends with a colon is a scheme; so is one that is no type and that a handler opens. Without arguments, your defaults are listed. Choose the handler Inbox \
            for a type to keep its items in the Inbox.
            """
    )

    @Argument(help: ArgumentHelp("A type, or a scheme with its colon.", valueName: "type|scheme:"))
    var what: String?

    @Argument(help: ArgumentHelp("The handler's name or identifier.", valueName: "handler"), completion: .handlers)
    var name: String?

    @Flag(name: .long, help: "Remove the default.")
    var remove = false

    @OptionGroup var output: OutputOptions

    func validate() throws {
        if remove, what == nil || name != nil {
            throw ValidationError("--remove needs a type, or a scheme with its colon, and nothing else")
        }
    }

    var isReading: Bool { name == nil && !remove }

    func run(on handlers: InstalledHandlers) async throws {
        guard let what else {
            let defaults = handlers.defaults()
            for line in defaults { output.show(line) }
            guard defaults.isEmpty, !output.json else { return }
            return Console.shared.note("you have no defaults; set one with: waft handlers default TYPE NAME")
        }
        if remove {
            let (line, former) = try await handlers.removeDefault(for: what)
            let words =
                former.map { "\($0) is no longer your default for \(line.subject)" }
                ?? "you had no default for \(line.subject)"
            return output.show(line, as: [words])
        }
        guard let name else { return output.show(try handlers.default(for: what)) }
        let line = try await handlers.setDefault(name, for: what)
        output.show(line, as: [line.change])
    }
}

/// `waft handlers settings`.
struct HandlersSettingsCommand: HandlersVerb {
    static let configuration = CommandConfiguration(
        commandName: "settings",
        abstract: "Show and change the settings of a handler.",
        discussion: """
            Example: waft handlers settings Photos quality 0.5

            Lists the settings, prints the value of one, or sets it. They are those of the handler's Settings.bundle; a \
            running receiver uses a change as soon as the command returns. A value that begins with a hyphen needs two \
            hyphens before it: waft handlers settings Photos offset -- -5

            A secret does not belong into a command, where the history of the shell keeps it. The value - of a password field \
            is asked for at the terminal, which does not show it, or read from standard input, one line: \
            waft handlers settings Photos token -
            """
    )

    @Argument(help: ArgumentHelp("The handler's name or identifier.", valueName: "handler"), completion: .handlers)
    var name: String

    @Argument(help: ArgumentHelp("The setting.", valueName: "key"), completion: .handlerSettings)
    var key: String?

    @Argument(
        help: ArgumentHelp("The new value; - to type a secret.", valueName: "value"), completion: .handlerSettingValues)
    var value: String?

    @Flag(name: .long, help: "Return to the default.")
    var unset = false

    @OptionGroup var output: OutputOptions

    func validate() throws {
        if unset, key == nil || value != nil { throw ValidationError("--unset needs a key, and no value") }
    }

    var isReading: Bool { value == nil && !unset }

    func run(on handlers: InstalledHandlers) async throws {
        guard let key else { return list(try handlers.settings(of: name)) }
        guard let value else {
            guard !unset else { return output.show(try await handlers.set(key, of: name, to: nil)) }
            return output.show(try handlers.setting(key, of: name))
        }
        let setting = try handlers.setting(key, of: name)
        guard setting.isSecure, value == "-" else {
            if setting.isSecure { warn(setting) }
            return output.show(try await handlers.set(key, of: name, to: value))
        }
        output.show(try await handlers.set(key, of: name, to: try await Self.secret(key)))
    }

    private func list(_ settings: (handler: String, rows: [HandlerSettingRow])) {
        let keys = settings.rows.compactMap { if case .setting(let setting) = $0 { setting.setting } else { nil } }
        let width = keys.map(\.columns).max() ?? 0
        for row in settings.rows {
            if case .setting(let setting) = row {
                output.show(setting, as: [setting.row(width: width)])
            } else if !output.json {
                Console.shared.result(row.words)
            }
        }
        if settings.rows.isEmpty, !output.json {
            Console.shared.note("\(TerminalText.escaped(settings.handler)) has no settings")
        }
    }

    private func warn(_ setting: HandlerSettingLine) {
        let words = [setting.handlerName, setting.setting].map { TerminalText.shellWord($0) }.joined(separator: " ")
        Console.shared.note(
            TerminalText.escaped(
                "warning: the history of your shell, and other programs, can show this value; next time: "
                    + "waft handlers settings \(words) -", limit: 1_000))
    }

    /// Bytes of a secret value.
    private static let maximumBytes = 4_096

    /// Asks for a secret at the terminal, or reads one line from standard input, if that is no terminal.
    ///
    /// - Throws: `CommandError` `usage` if there is none, or an empty one; `interrupted` on Ctrl-C.
    private static func secret(_ key: String) async throws(CommandError) -> String {
        ProcessSecrecy.dumpNoCore()
        let shown = TerminalText.escaped(key, limit: 100)
        let line =
            isatty(STDIN_FILENO) == 1
            ? try await PassphraseReader.typed("\(shown): ")
            : try PassphraseReader.line(of: STDIN_FILENO, name: "value", maximumBytes: maximumBytes)
        guard let line, line.count > 0 else {
            throw CommandError(
                .usage, "there is no value, and \(shown) stays as it is",
                hint: "to return to the default: --unset")
        }
        guard let text = line.withBytes({ String(validating: $0, as: UTF8.self) }) else {
            throw CommandError(.usage, "the value is no text in UTF-8, and \(shown) stays as it is")
        }
        return text
    }
}
