import Operations
import Settings

extension ProtectionSuggestion {
    /// Says it at the first start of a receiver at which a person looks at a terminal, and never again.
    static func sayOnce(_ context: CommandContext) {
        guard Console.shared.isInteractive, isNew(context.home, context.settings.protection) else { return }
        for line in lines { Console.shared.note("waft: \(line)") }
    }
}
