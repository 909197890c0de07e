import Contacts
import Control
import Endpoints
import HandlerCatalog
import Journal
import Settings
import Sharing
import UniformTypes

/// The report of a verb. All lines are escaped.
struct VerbReport {
    /// For standard output.
    var results: [String] = []
    /// For standard error.
    var notes: [String] = []
    /// Whether a running receiver has to read the files again.
    var isChange = false

    func show() {
        for line in results { Console.shared.result(line) }
        for line in notes { Console.shared.note(line) }
    }
}
