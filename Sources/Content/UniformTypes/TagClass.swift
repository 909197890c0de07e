/// A system of names, other than uniform types, that identify an item's type.
package struct TagClass: Hashable, Sendable, CustomStringConvertible {
    /// The type that names the class, such as `public.filename-extension`.
    package let type: UniformType

    package init(_ type: UniformType) { self.type = type }

    /// `public.filename-extension`: without the dot, compared without regard to case.
    package static var filenameExtension: TagClass { TagClass(UniformType(known: "public.filename-extension")) }

    /// `public.mime-type`: compared without regard to case.
    package static var mimeType: TagClass { TagClass(UniformType(known: "public.mime-type")) }

    /// `com.apple.ostype`: up to four bytes, the case counts.
    package static var osType: TagClass { TagClass(UniformType(known: "com.apple.ostype")) }

    /// `com.apple.nspboard-type`: the name of a pasteboard type, the case counts.
    package static var pasteboardType: TagClass { TagClass(UniformType(known: "com.apple.nspboard-type")) }

    /// `public.url-scheme`.
    package static var urlScheme: TagClass { TagClass(UniformType(known: "public.url-scheme")) }

    package var description: String { type.identifier }
}

/// A name in a class of names: the extension `jpg`, the MIME type `image/jpeg`.
package struct TypeTag: Hashable, Sendable {
    package let tagClass: TagClass

    /// Not empty. Extensions and MIME types are lower-case.
    package let value: String

    /// Lower-cases values that are compared without regard to case.
    package init(_ tagClass: TagClass, _ value: String) {
        self.tagClass = tagClass
        self.value = tagClass == .filenameExtension || tagClass == .mimeType ? value.lowercased() : value
    }
}
