extension URLScheme {
    /// The scheme that a person typed, with or without its colon.
    ///
    /// - Throws: `CatalogError` `unfit` for an invalid scheme.
    package init(named text: String) throws(CatalogError) {
        guard let scheme = URLScheme(text.hasSuffix(":") ? String(text.dropLast()) : text) else {
            throw .unfit("\"\(text.prefix(64))\" is not a URL scheme: letters, digits, +, - and ., a letter first")
        }
        self = scheme
    }
}
