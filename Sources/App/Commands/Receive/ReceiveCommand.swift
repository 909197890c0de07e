import ArgumentParser
import Contacts
import Control
import Endpoints
import Logging
import Receiving
import Settings
import Sharing

extension AcceptRule: ExpressibleByArgument {}
extension ConflictRule: ExpressibleByArgument {}

extension ArgumentHelp {
    /// The help of an option for a setting.
    ///
    /// - Parameters:
    ///   - path: the property of the setting.
    ///   - more: added to the sentence.
    fileprivate static func setting(
        _ path: PartialKeyPath<Settings>, more: String = "", valueName: String? = nil
    ) -> ArgumentHelp {
        ArgumentHelp("\(SettingKey.of(path).help.dropLast())\(more).", valueName: valueName)
    }
}

/// The options of `waft receive` and `waftd`.
struct ReceiverOptions: ParsableArguments {
    @Option(name: .long, help: .setting(\.name))
    var name: String?

    @Option(name: .long, help: .setting(\.port, more: "; 0 for any"))
    var port: UInt16?

    @Option(name: .long, help: .setting(\.accept, valueName: "rule"))
    var accept: AcceptRule?

    @Option(name: .long, help: .setting(\.conflict, valueName: "keep-both|skip"))
    var conflict: ConflictRule?

    @Flag(name: .long, help: "Print one JSON document a line for each event.")
    var json = false

    func apply(to settings: inout Settings) throws(CommandFailure) {
        if let name {
            guard PeerName.fit(name) == name else {
                throw CommandFailure(
                    .usage, "--name is 1 to \(Limits.peerNameBytes) bytes of text without control characters or slashes"
                )
            }
            settings.set(\.name, to: name)
        }
        if let port { settings.set(\.port, to: port) }
        if let accept { settings.set(\.accept, to: accept) }
        if let conflict { settings.set(\.conflict, to: conflict) }
    }
}

/// `waft receive`: a receiver in the foreground.
struct ReceiveCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "receive",
        abstract: "Receive in the foreground, asking at the terminal.",
        discussion: """
            Example: waft receive --accept everyone --once

            Ctrl-C ends it. Without a terminal no question is asked: offers wait for waft accept.
            """
    )

    @OptionGroup var options: ReceiverOptions

    @Flag(name: .long, help: "End after the first transfer that stored something.")
    var once = false

    func run() async throws {
        let surroundings = try Surroundings(options.apply)
        let end = Cancellation()
        let rendering = ReceiverRendering(json: options.json, people: surroundings.people)
        let once = OnceWatch(isWanted: self.once)
        let receiver = try ReceiverStart.receiver(
            surroundings, logger: surroundings.logger("waft"), visibility: .everyone
        ) { event in
            rendering.show(event)
            once.see(event)
        }
        let asks = [.ask, .contacts].contains(surroundings.settings.accept)
        if asks, !LineReader.hasTerminal {
            Console.shared.note("waft: no terminal to ask at; answer with: waft offers, waft accept N, waft decline N")
        }
        do {
            try await Interruption.watching(end, goodbye: .zero) {
                try await withThrowingTaskGroup(of: Void.self) { group in
                    group.addTask { try await receiver.receive() }
                    group.addTask { await once.wait() }
                    if asks, LineReader.hasTerminal {
                        group.addTask {
                            await ConsentPrompt.run(receiver.consent) { receiver.summary(of: $0) }
                            // The terminal has closed, but the receiver continues.
                            try await Task.sleep(for: .seconds(86_400 * 365))
                        }
                    }
                    try await group.next()
                    group.cancelAll()
                }
            }
        } catch let failure as ReceiverFailure {
            throw ReceiverStart.failure(failure)
        } catch is CancellationError {
            // Said below.
        }
        if end.isRequested { throw WaftExit.interrupted.code }
    }
}

enum ReceiverStart {
    static func receiver(
        _ surroundings: Surroundings,
        logger: Logger,
        visibility: Visibility? = nil,
        observe: @escaping @Sendable (ReceiverEvent) -> Void
    ) throws(CommandFailure) -> Receiver {
        do {
            return try Receiver(
                home: surroundings.home,
                settings: surroundings.settings,
                visibility: visibility,
                logger: logger,
                observe: observe
            )
        } catch {
            throw failure(error)
        }
    }

    static func failure(_ failure: ReceiverFailure) -> CommandFailure {
        let line = TerminalText.escaped(failure.description, limit: 1_000)
        return switch failure.code {
        case .setting: CommandFailure(.usage, line)
        case .alreadyRunning:
            CommandFailure(
                .unexpected, line,
                hint: "to answer its offers here: waft offers --watch, then waft accept N; to start another one: "
                    + "stop it first, or set another WAFT_HOME")
        case .unexpected: CommandFailure(.unexpected, line)
        }
    }
}
