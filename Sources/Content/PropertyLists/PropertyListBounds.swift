/// Bounds on a property list that is read.
package struct PropertyListBounds: Hashable, Sendable {
    /// Maximum bytes of the document.
    package var documentBytes: Int
    /// Maximum number of lists and dictionaries that contain a value.
    package var depth: Int
    /// Maximum number of values. A value counts once for each reference to it.
    package var values: Int
    /// Maximum bytes of text and data. A text counts once for each reference to it.
    package var textBytes: Int

    package init(documentBytes: Int, depth: Int, values: Int, textBytes: Int) {
        self.documentBytes = documentBytes
        self.depth = depth
        self.values = values
        self.textBytes = textBytes
    }
}
