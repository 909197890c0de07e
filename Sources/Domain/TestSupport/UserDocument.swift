/// The documents for users: the README and its articles.
package enum UserDocument {
    /// Paths below the root of the repository.
    package static let all =
        ["README.md"]
        + [
            "FoldersAndSettings", "Inbox", "Network", "Protection", "Receiving", "Removing", "Scripting", "Sending",
            "Trust",
            "UsingAirDrop", "UsingIPhones", "UsingLocalSend", "UsingHandlers",
        ].map(article)

    /// The path of an article.
    package static func article(_ name: String) -> String { "Sources/Faces/CommandLine/CommandLine.docc/\(name).md" }
}
