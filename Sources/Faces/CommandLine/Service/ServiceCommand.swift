import ArgumentParser
import Lines
import Operations
import Sharing
import SystemCalls

/// `waft service`: the receiver as a service of systemd.
struct ServiceCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "service",
        abstract: "Run the receiver in the background, by systemd.",
        discussion: """
            Example: waft service install --now

            The service starts when you log in, starts again after a crash, and ends when you log out, unless you linger. \
            With --system it is a service of the machine, which runs as the user waft.
            """,
        subcommands: [
            ServiceInstallCommand.self, ServiceStatusCommand.self, ServiceRemoveCommand.self, ServicePrintCommand.self,
        ]
    )
}

/// The option for whose service it is.
struct ServiceScopeOption: ParsableArguments {
    @Flag(name: .long, help: "The service of the machine, which runs as the user waft, instead of your own.")
    var system = false

    /// - Parameter forUser: whether the folders and the settings of the user count, if it is his own.
    func doing<Value>(
        forUser: Bool = false, _ body: (Service) async throws(WaftError) -> Value
    ) async throws(CommandError) -> Value {
        let service = Service(system: system, of: forUser && !system ? try CommandContext().waft : nil)
        return try await CommandError.catching { () throws(WaftError) in try await body(service) }
    }
}

/// `waft service install`.
struct ServiceInstallCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "install",
        abstract: "Let the service start by itself.",
        discussion: """
            Example: waft service install --now

            Units that a package or Scripts/install has brought are enabled; only where there are none they are written. Copies \
            of an earlier installation, which would hide those of the package, are removed. Without --now it starts with your \
            next login. Without systemd the units are printed, and nothing is written: exit code 69. Units that were written or \
            changed by another hand stay as they are.
            """
    )

    @OptionGroup var whose: ServiceScopeOption

    @Flag(name: .long, help: "Start it now; a service that runs already is started anew.")
    var now = false

    @Flag(name: .long, help: "Keep it on when you have logged out, as loginctl enable-linger does.")
    var linger = false

    @Flag(name: .long, help: "Replace units that were written or changed by another hand.")
    var force = false

    @OptionGroup var output: OutputOptions

    func validate() throws {
        if whose.system, linger { throw ValidationError("a service of the machine runs without --linger") }
    }

    func run() async throws {
        let done = try await whose.doing(forUser: true) { service throws(WaftError) in
            try await service.install(now: now, linger: linger, force: force, report)
        }
        let (line, start) = (done.line, Service(system: whose.system).command("start waftd"))
        output.show(line, as: line.isActive ? ["started: \(line.started(done.receiver))"] : [])
        if !output.json {
            if !line.isActive, done.byHand == nil {
                let when = whose.system ? "when the machine starts" : "with your next login"
                Console.shared.note("It starts \(when). To start it now: \(start)")
            }
            if line.lingers == false {
                Console.shared.note("It ends when you log out. To keep it on after that: loginctl enable-linger")
            }
        }
        if let process = done.byHand {
            let words = "a receiver that was started by hand runs already (process \(process)), and was left alone"
            let hint = "end it, then: \(start)"
            if now { throw CommandError(.usage, words, hint: hint) }
            Console.shared.note("\(words); \(hint)")
        }
        // The service itself has no terminal.
        if !whose.system, !output.json { ProtectionSuggestion.sayOnce(try CommandContext.forgiving) }
    }

    private func report(_ step: Service.Step) {
        if case .unwritten(let units) = step {
            for unit in units { output.show(unit) }
        } else if !output.json {
            Console.shared.result(Self.words(step))
        }
    }

    private static func words(_ step: Service.Step) -> String {
        switch step {
        case .unwritten: ""
        case .removed(let paths): "removed \(names(of: paths)), of an earlier installation"
        case .enabled(let paths): "enabled \(names(of: paths))"
        case .wrote(let paths): "wrote \(names(of: paths))"
        }
    }

    /// Paths for a line to people: the first whole, of the others what differs from it.
    static func names(of paths: [String]) -> String {
        let folder = paths.first.map { SmallFile.folder(of: $0) + "/" } ?? ""
        let rest = paths.dropFirst().map { $0.hasPrefix(folder) ? String($0.dropFirst(folder.count)) : $0 }
        return TerminalText.escaped((paths.prefix(1) + rest).joined(separator: ", "), limit: 2_000)
    }
}

/// `waft service status`.
struct ServiceStatusCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Show the state of the service.",
        discussion: "Example: waft service status --json. Exit code 69 when it does not run."
    )

    @OptionGroup var whose: ServiceScopeOption
    @OptionGroup var output: OutputOptions

    func run() async throws {
        let line = try await whose.doing { service throws(WaftError) in try await service.status() }
        output.show(line)
        guard line.isActive else { throw WaftExit.notRunning.code }
    }
}

/// `waft service remove`.
struct ServiceRemoveCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove",
        abstract: "Stop the service, and let it start no more; the Inbox and the settings stay.",
        discussion: """
            Example: waft service remove

            Units that waft service install has written are removed; those of a package or of Scripts/install stay, disabled.
            """
    )

    @OptionGroup var whose: ServiceScopeOption

    @Flag(name: .long, help: "Remove units that were written or changed by another hand too.")
    var force = false

    @OptionGroup var output: OutputOptions

    func run() async throws {
        let (line, folder) = try await whose.doing { service throws(WaftError) in
            try await service.remove(force: force)
        }
        var words = (line.units ?? []).map { "removed \(TerminalText.escaped($0, limit: 1_000))" }
        if words.isEmpty, line.path == nil {
            words = ["there were no units in \(TerminalText.escaped(folder, limit: 1_000))"]
        }
        output.show(line, as: words)
        guard !output.json else { return }
        if let path = line.path {
            let unit = TerminalText.escaped(path, limit: 1_000)
            Console.shared.note(
                "\(unit) stays, as an installation has brought it; it is stopped, and starts no more by itself")
        }
        Console.shared.note("The Inbox, the settings and the identity of this machine stay.")
    }
}

/// `waft service print`.
struct ServicePrintCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "print",
        abstract: "Print the units, and change nothing.",
        discussion: "Example: waft service print --system waftd.service"
    )

    @OptionGroup var whose: ServiceScopeOption

    @Option(
        name: .long,
        help: ArgumentHelp("The folder of waftd, if it is not the one of this program.", valueName: "folder"))
    var programs: String?

    @Argument(help: ArgumentHelp("Only this one: waftd.service or waftd.socket.", valueName: "unit"))
    var unit: String?

    @OptionGroup var output: OutputOptions

    func validate() throws {
        if let unit, !Service.units.contains(unit) {
            throw ValidationError("the units are \(Service.units.joined(separator: " and "))")
        }
        if let programs, !programs.hasPrefix("/") || programs.contains(where: \.isNewline) {
            throw ValidationError("--programs is the absolute path of a folder")
        }
    }

    func run() async throws {
        // A package does not depend on the settings of the user who builds it.
        let units = try await whose.doing(forUser: programs == nil) { service throws(WaftError) in
            try service.units(programs: programs)
        }
        for line in units where unit == nil || line.unit == unit {
            output.show(line, as: unit == nil ? line.words : line.text)
        }
    }
}

extension UnitLine: WordedLine {
    var words: [String] { ["# \(unit)"] + text }

    /// Its lines. The console ends the last one.
    fileprivate var text: [String] {
        unitText.split(separator: "\n", omittingEmptySubsequences: false).dropLast().map(String.init)
    }
}

/// The service in words, a line for each fact. Foreign text is escaped.
extension ServiceLine: WordedLine {
    var words: [String] {
        var facts = [("state", state)]
        if isKnown {
            facts.append(("starts by itself", startsByItself ? "yes" : "no"))
            if let statusLine { facts.append(("waftd says", statusLine)) }
            if let processID { facts.append(("process", "\(processID)")) }
            if let restarts, restarts > 0 { facts.append(("started again", "\(restarts) times")) }
            if let lingers {
                facts.append(
                    ("after logout", lingers ? "it goes on" : "it ends; to keep it on: loginctl enable-linger"))
            }
            if let path { facts.append(("unit", path)) }
            if let hidden { facts.append(("not used", "\(hidden); to use it: waft service install")) }
            facts.append(("log", "journalctl \(system ? "" : "--user ")-u waftd"))
        }
        return facts.map { label, value in
            label + String(repeating: " ", count: 17 - label.count) + TerminalText.escaped(value, limit: 400)
        }
    }

    /// The receiver that was started.
    fileprivate func started(_ receiver: StatusLine?) -> String {
        guard let receiver else { return TerminalText.escaped(statusLine ?? "waftd", limit: 400) }
        let id = PeerID(text: receiver.id)?.short ?? receiver.id
        let place = receiver.port > 0 ? " on \(receiver.port)" : ""
        let visible = receiver.visibility == "off" ? "nobody" : receiver.visibility
        return TerminalText.escaped(
            "receiving as \(receiver.name) (\(id))\(place); visible to \(visible)", limit: 400)
    }
}
