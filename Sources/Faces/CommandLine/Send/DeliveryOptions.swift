import ArgumentParser
import Lines
import Secrets
import Sharing

/// Options about the way to peers of LocalSend.
struct DeliveryOptions: ParsableArguments {
    private static let maximumBytes = 256

    @Option(
        name: .long,
        help: ArgumentHelp(
            "The PIN of a LocalSend device that asks for one; - to be asked for it.", valueName: "digits"))
    var pin: String?

    @Flag(name: .long, help: "Send without encryption, to a LocalSend device that has none.")
    var plain = false

    func check(isQueued: Bool, wait: SendOptions.Wait) throws(CommandError) {
        if isQueued, wait == .opened {
            throw CommandError(
                .usage, "--wait opened does not go with --queue: this command ends before anything is sent",
                hint: "to see the answers of the handlers later: waft outbox show N")
        }
        guard isQueued, pin != nil || plain else { return }
        throw CommandError(
            .usage, "--pin and --plain do not go with --queue",
            hint: "for devices without encryption there is the setting dialects.localsend.plain")
    }

    /// The PIN of the option. For `-` it asks the user at the terminal.
    /// - Throws: `CommandError`.
    func typedPIN() async throws(CommandError) -> String? {
        guard pin == "-" else { return try pin.map(Self.checked) }
        guard let typed = try await PassphraseReader.typed("PIN: ") else {
            throw CommandError(.usage, "there is no terminal to ask for the PIN at: give it with --pin PIN")
        }
        return try Self.checked(typed.withBytes { String(decoding: $0, as: UTF8.self) })
    }

    private static func checked(_ pin: String) throws(CommandError) -> String {
        guard (1...maximumBytes).contains(pin.utf8.count) else {
            throw CommandError(.usage, "--pin has 1 to \(maximumBytes) bytes")
        }
        return pin
    }
}
