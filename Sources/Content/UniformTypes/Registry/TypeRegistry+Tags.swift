extension TypeRegistry {
    /// The type of an item by its name and kind, the way a file on disk has one.
    ///
    /// The longest extension that some type declares decides (`a.tar.gz`: `tar.gz`, else `gz`); dots at the start of a
    /// name start no extension. A regular file has the dynamic type of an undeclared extension, and `public.data`
    /// without one, and with `.bin`: a Mac takes each firmware and dump for a MacBinary archive. A directory is `public.folder` unless its extension is declared for directories. Content plays no
    /// part.
    package func type(forFileName name: String, kind: FileKind) -> UniformType {
        let candidates = FilenameExtension.candidates(in: name)
        for candidate in candidates {
            if let type = type(forNormalizedExtension: candidate, kind: kind) {
                return type.identifier == Self.macBinary ? .data : type
            }
        }
        guard kind == .regularFile else { return .folder }
        guard let last = candidates.last,
            let dynamic = DynamicType(supertypes: [.data], tags: [TypeTag(.filenameExtension, last)])
        else { return .data }
        return dynamic.type
    }

    private static let macBinary = "com.apple.macbinary-archive"

    /// The declared type of items with an extension, given without its first dot, in any case.
    ///
    /// Directories have only types that conform to `public.directory`, regular files only others. If several types
    /// declare it, the order is: the system's choice, `public` types, exported declarations, imported ones, the oldest
    /// first, Waft's own stand-ins. Returns nil if no type declares it, or it is no extension.
    package func type(forExtension fileExtension: String, kind: FileKind) -> UniformType? {
        FilenameExtension.normalized(fileExtension).flatMap { type(forNormalizedExtension: $0, kind: kind) }
    }

    private func type(forNormalizedExtension fileExtension: String, kind: FileKind) -> UniformType? {
        let system = SystemTable.match(forExtension: fileExtension, kind: kind)
        if let system, !system.yields { return system.type }
        return added(additions.extensions[fileExtension], kind: kind) ?? system?.type
    }

    private func added(_ claimants: [UniformType]?, kind: FileKind) -> UniformType? {
        claimants?.first { conforms($0, to: .directory) == (kind == .directory) }
    }

    /// The declared type for a MIME type, with or without parameters, in any case.
    ///
    /// Parameters count if a type is declared with them (`audio/ogg; codecs=opus`) and are ignored otherwise. Returns
    /// nil if no type declares it, or it is no MIME type.
    package func type(forMIMEType mimeType: String) -> UniformType? {
        guard let whole = MIMEType.normalized(mimeType) else { return nil }
        return type(forNormalizedMIMEType: whole) ?? type(forNormalizedMIMEType: MIMEType.withoutParameters(whole))
    }

    private func type(forNormalizedMIMEType mimeType: String) -> UniformType? {
        let system = SystemTable.match(forMIMEType: mimeType)
        if let system, !system.yields { return system.type }
        return additions.mimeTypes[mimeType]?.first ?? system?.type
    }

    /// The extension to give to a file of a type: the first one declared, or the one in a dynamic identifier.
    ///
    /// Tags are not inherited: nil for `public.image`. The result has no slash, white space or control character, but a
    /// name made with it is still a name made of foreign parts where the type came from a peer.
    package func preferredExtension(for type: UniformType) -> String? {
        if let declaration = SystemTable.declaration(of: type) { return declaration.preferredExtension }
        if let declaration = additions.declarations[type] { return declaration.extensions.first }
        return dynamicTag(.filenameExtension, of: type).flatMap { FilenameExtension.normalized($0) }
    }

    /// The MIME type to give to data of a type: the first one declared, or the one in a dynamic identifier.
    package func preferredMIMEType(for type: UniformType) -> String? {
        if let declaration = SystemTable.declaration(of: type) { return declaration.preferredMIMEType }
        if let declaration = additions.declarations[type] { return declaration.mimeTypes.first }
        return dynamicTag(.mimeType, of: type).flatMap { MIMEType.normalized($0) }
    }

    private func dynamicTag(_ tagClass: TagClass, of type: UniformType) -> String? {
        DynamicType(type)?.tags.first { $0.tagClass == tagClass }?.value
    }

    /// The declared type for the tags in a dynamic identifier, where this registry has one; any other type as it is.
    ///
    /// For identifiers from elsewhere: a type that is dynamic there may be declared here.
    package func resolved(_ type: UniformType) -> UniformType {
        guard let dynamic = DynamicType(type) else { return type }
        let kind: FileKind = dynamic.supertypes.contains { conforms($0, to: .directory) } ? .directory : .regularFile
        for tag in dynamic.tags {
            let declared: UniformType? =
                switch tag.tagClass {
                case .filenameExtension: self.type(forExtension: tag.value, kind: kind)
                case .mimeType: self.type(forMIMEType: tag.value)
                default: nil
                }
            // A declared type without the supertypes in the identifier is another type with the same tag.
            if let declared, dynamic.supertypes.allSatisfy({ conforms(declared, to: $0) }) { return declared }
        }
        return type
    }
}
