import Desktop
import HandlerCatalog
import Sharing
import UniformTypes

/// A program that can get a document.
enum OpenInTarget {
    /// - Parameter opens: the type that it declares.
    case handler(HandlerBundle, opens: UniformType)
    case application(Application)

    /// For people; not escaped.
    var name: String {
        switch self {
        case .handler(let bundle, _): bundle.shownName
        case .application(let application): application.name
        }
    }

    /// The kind of the program, for people; escaped.
    var words: String {
        switch self {
        case .handler(_, let type): "handler, opens \(TerminalText.escaped(type.words))"
        case .application(let application):
            "application" + (application.isDefault ? ", the default" : "")
                + (application.runsInTerminal ? ", in this terminal" : "")
        }
    }

    /// Whether a word of the user means it: its name in any case, a desktop id, or the identifier of a bundle.
    func isNamed(_ word: String) -> Bool {
        let word = word.lowercased()
        switch self {
        case .handler(let bundle, _):
            return [bundle.shownName, bundle.name, bundle.identifier.text].contains { $0.lowercased() == word }
        case .application(let application):
            let identifier = application.identifier.lowercased()
            return application.name.lowercased() == word || identifier == word || identifier == word + ".desktop"
        }
    }
}
