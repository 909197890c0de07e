import Discovery
import Settings

/// The first thing to know for each verb that needs a network.
enum NetworkNote {
    /// Nil on a machine that is in a network.
    static func text(_ settings: Settings) -> String? {
        NetworkPresence.isAny(besides: settings.denied) ? nil : "this machine is in no network; see: waft doctor"
    }

    /// Prints it, if it is so.
    static func say(_ settings: Settings) {
        if let text = text(settings) { Console.shared.note("waft: \(text)") }
    }
}
