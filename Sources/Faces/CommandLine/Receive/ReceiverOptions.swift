import ArgumentParser
import Lines
import Settings
import Sharing

/// The options of `waft receive` and `waftd`.
struct ReceiverOptions: ParsableArguments {
    @Option(name: .long, help: .setting(\.name))
    var name: String?

    @Option(name: .long, help: .setting(\.port, more: "; 0 for any"))
    var port: UInt16?

    @Option(name: .long, help: .setting(\.accept, valueName: "rule"))
    var accept: AcceptRule?

    @Option(name: .long, help: .setting(\.conflict, valueName: "way"))
    var conflict: ConflictRule?

    @Flag(name: .long, help: "Print one JSON document a line for each event.")
    var json = false

    func apply(to settings: inout Settings) throws(CommandError) {
        if let name {
            guard PeerName.fit(name) == name else {
                throw CommandError(
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
