import ArgumentParser
import Lines

/// How `waft share` has ended.
struct Completion {
    /// The fields of the last line of `--json`.
    struct Fields: Encodable {
        private enum Key: String, CodingKey {
            case activity, completed, returnedItems, exit
        }

        /// The type of the activity that was chosen; null if none was.
        var activity: String?
        var completed: Bool
        /// The absolute paths of items that the activity has made.
        var returnedItems: [String]
        var exit: WaftExit

        func encode(to encoder: any Encoder) throws {
            var fields = encoder.container(keyedBy: Key.self)
            try fields.encode(activity, forKey: .activity)
            try fields.encode(completed, forKey: .completed)
            try fields.encode(returnedItems, forKey: .returnedItems)
            try fields.encode(exit, forKey: .exit)
        }
    }

    var activity: String?
    var returnedItems: [String] = []
    private(set) var exit = WaftExit.done

    var fields: Fields {
        Fields(activity: activity, completed: exit == .done, returnedItems: returnedItems, exit: exit)
    }

    /// Takes over the exit code of an error, and prints the error if that was not done yet.
    /// - Returns: whether it has an exit code.
    mutating func take(_ error: any Error) -> Bool {
        if let failure = error as? CommandError {
            EventLine(failure).print()
            exit = failure.exit
            return true
        }
        guard let code = error as? ExitCode, let exit = WaftExit(rawValue: code.rawValue) else { return false }
        self.exit = exit
        return true
    }
}
