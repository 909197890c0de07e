package import UniformTypes

extension TypeRegistry {
    /// The type whose identifier a person typed.
    ///
    /// - Throws: `CatalogError` `unfit` for an invalid identifier. Its text suggests the type of an extension or a MIME
    ///   type, since people type these too.
    package func type(named text: String) throws(CatalogError) -> UniformType {
        let shown = text.prefix(64)
        if text.contains("/") {
            if let type = type(forMIMEType: text) { throw .unfit("\(shown) is a MIME type; its type is \(type)") }
        } else if let type = UniformType(text) {
            if type.isDynamic || isDeclared(type) || text.contains(".") { return type }
        }
        let plain = text.hasPrefix(".") ? String(text.dropFirst()) : text
        if let type = type(forExtension: plain, kind: .regularFile) ?? type(forExtension: plain, kind: .directory) {
            throw .unfit("\(shown) is a file name extension; its type is \(type)")
        }
        throw .unfit("\"\(shown)\" is not a uniform type identifier such as public.image or com.adobe.pdf")
    }
}
