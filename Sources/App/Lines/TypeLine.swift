/// The type of a file, by its name and by its content.
package struct TypeLine: Line {
    package static let event = "type"

    package var path: String
    package var type: String
    package var description: String?
    package var conformsTo: [String]
    /// The result of reading the content: `consistent`, `unverified`, `mislabelled`, `lying`; absent for folders.
    package var content: String?
    package var contentType: String?
    package var contentExplanation: String?
    /// Names in the themes of desktops.
    package var icon: String
    package var genericIcon: String
    /// The absolute path of a picture of a handler.
    package var iconFile: String?
    /// The result of reading the content in one line of words, not escaped.
    @Unsaid package var contentWords: String?

    package init(
        path: String, type: String, description: String? = nil, conformsTo: [String], icon: String,
        genericIcon: String, iconFile: String? = nil
    ) {
        (self.path, self.type, self.description, self.conformsTo) = (path, type, description, conformsTo)
        (self.icon, self.genericIcon, self.iconFile) = (icon, genericIcon, iconFile)
    }
}
