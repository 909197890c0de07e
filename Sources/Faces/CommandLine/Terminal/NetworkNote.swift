import Operations

/// The first thing to know for each verb that needs a network.
enum NetworkNote {
    /// Nil on a machine that is in a network.
    static func text(_ waft: Waft) -> String? {
        waft.isInNetwork ? nil : "this machine is in no network; see: waft doctor"
    }

    /// Prints it, if it is so.
    static func say(_ waft: Waft) {
        if let text = text(waft) { Console.shared.note("waft: \(text)") }
    }
}
