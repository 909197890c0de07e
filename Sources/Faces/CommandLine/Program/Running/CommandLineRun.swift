package import ArgumentParser
import Executors
import Foundation
import Glibc
import Lines
import Logging
import Operations

/// Runs a program's command and turns every end into an exit code and at most a few lines.
package enum CommandLineRun {
    /// Does not return. To be called on the main thread, which does nothing else from then on.
    package static func main<Command: AsyncParsableCommand>(_ command: Command.Type) -> Never {
        StandardStreams.reserve()
        // libdispatch reads the states of its threads there while they work, and crashes without them.
        guard access("/proc/self/stat", R_OK) == 0 else {
            end(
                fail(
                    CommandError(
                        .unexpected, "/proc is not mounted, and nothing can run without it",
                        hint: "mount it: mount -t proc proc /proc"), nil))
        }
        // CLinuxShims passes them. Without them the command line would be an empty one.
        guard CommandLine.argc > 0 else {
            end(fail(CommandError(.unexpected, "the arguments cannot be read"), nil))
        }
        // A reader that has gone (`waft peers | head -1`) is no reason to die by a signal.
        signal(SIGPIPE, SIG_IGN)
        ProgramMemory.bound()
        Task.detached {
            // Not `CommandLine.arguments`, which holds them for good: `send` can have tens of thousands.
            end(
                await run(command) {
                    (1..<max(1, Int(CommandLine.argc))).compactMap { number in
                        CommandLine.unsafeArgv[number].map { String(cString: $0) }
                    }
                })
        }
        while true { pause() }
    }

    /// Runs a command up to its end. Help that was asked for ends the process itself.
    /// - Parameter read: the words of the command line, without the program's name.
    /// - Returns: the exit code.
    static func run<Command: AsyncParsableCommand>(_ command: Command.Type, words read: () -> [String]) async -> Int32 {
        var words: CommandWords? = CommandWords(words: read())
        let failureEvents = words.flatMap { FailureEvents($0.words, isDaemon: command != WaftCommand.self) }
        let wantsMoreThanHelp = words?.wantMoreThanHelp(of: command) ?? false
        let wantsHelp = words?.wantHelp ?? false
        do {
            var parsed: (any ParsableCommand)? =
                if let words { try await parse(command, words) } else { nil }
            words = nil
            try (parsed as? any UserDecision)?.refuseHandlers()
            if var asynchronous = parsed as? any AsyncParsableCommand {
                // The parsed command may release its words.
                parsed = nil
                if asynchronous is any InboxItemVerb { try? await CommandContext.forgiving.waft.inbox.followRenames() }
                try await asynchronous.run()
            } else {
                try parsed?.run()
            }
            return WaftExit.done.rawValue
        } catch let failure as CommandError {
            return fail(failure, failureEvents)
        } catch let code as ExitCode {
            return code.rawValue
        } catch {
            guard Command.exitCode(for: error) == .success else {
                return fail(ParserError.make(error, words ?? CommandWords(words: []), of: command), failureEvents)
            }
            Console.shared.flush()
            guard wantsHelp else {
                // `waft` alone, or a group that needs a verb: there was something else to do.
                Console.shared.note(Command.fullMessage(for: error))
                return WaftExit.usage.rawValue
            }
            if let script = CompletionScript.mended(Command.fullMessage(for: error)) {
                Console.shared.result(script)
                return WaftExit.done.rawValue
            }
            guard wantsMoreThanHelp else { Command.exit(withError: error) }
            Console.shared.result(Command.fullMessage(for: error))
            Console.shared.note("waft: nothing was done except to print this")
            return WaftExit.usage.rawValue
        }
    }

    /// Verbs that can have tens of thousands of items.
    private static let itemVerbs = [SendCommand.configuration.commandName, ShareCommand.configuration.commandName]

    private static func parse<Command: AsyncParsableCommand>(
        _ command: Command.Type, _ line: CommandWords
    ) async throws -> any ParsableCommand {
        let words = line.words
        // A shell asks about an unfinished line. Some answers come from the receiver or the network.
        if words.first == "---completion" { return try await command.asyncParseAsRoot(words) }
        if let page = HelpPage.text(for: line, of: command) { throw CleanExit.message(page) }
        try line.refuseBundles(in: command)
        try line.refuseHelpOfNothing(in: command)
        guard let verb = words.first, itemVerbs.contains(verb), command == WaftCommand.self else {
            try CommandWords.refuseRepaired(words)
            return try command.parseAsRoot(words)
        }
        try line.refuseFilesNamedLikeOptions()
        // A file whose name is not UTF-8 is reported with the others that cannot be sent.
        let send = SendWords(words.dropFirst())
        try CommandWords.refuseRepaired(send.options)
        let parsed = try command.parseAsRoot([verb] + send.options)
        // `--help` parses as another command.
        guard var sending = parsed as? any ItemVerb else { return parsed }
        sending.items = send.items
        return sending
    }

    /// - Returns: the exit code.
    private static func fail(_ failure: CommandError, _ failureEvents: FailureEvents?) -> Int32 {
        Console.shared.endStatus()
        if let failureEvents {
            failureEvents.print(failure)
        } else {
            Console.shared.note(LogLineForm.ofStandardError().text(.error, "waft: \(failure)"))
        }
        return failure.exit.rawValue
    }

    /// Ends the process after its outputs are written.
    static func end(_ code: Int32) -> Never {
        Console.shared.flush()
        guard code == WaftExit.done.rawValue, let failure = Console.shared.outputFailure else { leave(code) }
        Console.shared.note("waft: the results could not be written: \(failure)")
        Console.shared.flush()
        leave(WaftExit.unexpected.rawValue)
    }

    /// Ends the process without `atexit` handlers: that of OpenSSL frees memory that running threads may use.
    private static func leave(_ code: Int32) -> Never {
        fflush(nil)
        _exit(code)
    }
}

/// Standard input, output and error of the program.
enum StandardStreams {
    /// Opens `/dev/null` as each of the three that is closed, before the program opens anything else. Otherwise a file,
    /// timer or socket of the program would get that number, and would be read or written as the stream.
    ///
    /// Reading from such an input, and writing to such an output, fails as if the stream were still closed.
    static func reserve() {
        let streams = [(STDIN_FILENO, O_WRONLY), (STDOUT_FILENO, O_RDONLY), (STDERR_FILENO, O_RDONLY)]
        for (descriptor, direction) in streams where fcntl(descriptor, F_GETFD) < 0 {
            // The kernel gives the lowest number that is free: this one.
            _ = open("/dev/null", direction)
        }
    }
}

/// The events of a command that was called with `--json` and has failed.
struct FailureEvents {
    /// The command's last line, which says how it ended; nil if there is none.
    private let last: ((WaftExit) -> any Line)?
    /// Standard error of a daemon is its log, which has failures too.
    private let isDaemon: Bool

    /// - Parameter words: of the command line.
    /// - Returns: nil where people read.
    init?(_ words: [String], isDaemon: Bool) {
        self.isDaemon = isDaemon
        guard words.prefix(while: { $0 != "--" }).contains("--json") else { return nil }
        // A receiver prints `done` for each transfer; other verbs print documents.
        last =
            switch words.first {
            case SendCommand.configuration.commandName: { DoneLine(exit: $0) }
            case ShareCommand.configuration.commandName where !words.contains("--list"):
                { CompletedLine(exit: $0) }
            default: nil
            }
    }

    func print(_ failure: CommandError) {
        let output = OutputOptions(json: true)
        output.show(failure.line(), as: [])
        if let last { output.show(last(failure.exit), as: []) }
        if isDaemon { Console.shared.note("waft: \(failure)") }
    }
}
