import ArgumentParser

/// Something that can be done with a file, a folder or an item of the Inbox.
enum DocumentAction: String, CaseIterable, Encodable, ExpressibleByArgument {
    case preview
    case open
    case openIn = "open-in"
    case copy
    case showInFolder = "show-in-folder"
    case take
    case remove

    /// For the menu.
    var title: String {
        switch self {
        case .preview: "show a part of it here"
        case .open: "open it on the desktop"
        case .openIn: "open it in a program that you choose"
        case .copy: "copy it to the clipboard"
        case .showInFolder: "show it in the file manager"
        case .take: "move it out of the Inbox"
        case .remove: "delete it"
        }
    }

    static var words: String { allCases.map(\.rawValue).joined(separator: ", ") }
}
