import PropertyLists
import Sharing
import UniformTypes

/// An element of a list of dictionaries in an `Info.plist`. Uses its valid parts, and warns about the rest.
struct TolerantEntry {
    let keys: [String: PropertyList]
    /// The entry's position, for people: `CFBundleDocumentTypes, entry 2`.
    let place: String
    private(set) var warnings: [String] = []

    init(keys: [String: PropertyList], place: String) {
        self.keys = keys
        self.place = place
    }

    /// Nil if the entry binds to no type.
    mutating func documentType() -> DocumentType? {
        guard let rank = choice("LSHandlerRank", default: HandlerRank.default),
            let role = choice("CFBundleTypeRole", default: HandlerRole.viewer)
        else { return nil }
        let contents: DocumentType.Contents
        if keys["LSItemContentTypes"] != nil {
            let types = types("LSItemContentTypes")
            guard !types.isEmpty else { return nil }
            contents = .types(types)
        } else {
            let extensions = texts("CFBundleTypeExtensions").compactMap { fileExtension($0) }
            let mimeTypes = texts("CFBundleTypeMIMETypes").compactMap { mimeType($0) }
            guard !extensions.isEmpty || !mimeTypes.isEmpty else {
                warn("names no type: LSItemContentTypes is missing")
                return nil
            }
            contents = .tags(extensions: extensions, mimeTypes: mimeTypes, isPackage: flag("LSTypeIsPackage"))
        }
        return DocumentType(
            name: name("CFBundleTypeName"), contents: contents, rank: rank, role: role, iconFiles: iconFiles())
    }

    /// Nil if the entry has no scheme that it can claim.
    mutating func urlType() -> URLType? {
        guard let role = choice("CFBundleTypeRole", default: HandlerRole.viewer) else { return nil }
        var schemes: [URLScheme] = []
        for text in texts("CFBundleURLSchemes") {
            guard let scheme = URLScheme(text) else {
                warn("\(Self.quoted(text)) is not a URL scheme; one is letters, digits, +, - and ., without a colon")
                continue
            }
            guard !scheme.isBuiltIn else {
                warn("\(scheme) is built in and cannot be claimed")
                continue
            }
            if !schemes.contains(scheme) { schemes.append(scheme) }
        }
        guard !schemes.isEmpty else { return nil }
        return URLType(name: name("CFBundleURLName"), schemes: schemes, role: role)
    }

    /// Nil if the entry declares no type. Conflicts are found later, when the types of all bundles are merged.
    mutating func typeDeclaration() -> TypeDeclaration? {
        guard case .string(let identifier)? = keys["UTTypeIdentifier"], let type = UniformType(identifier) else {
            warn("has no UTTypeIdentifier such as org.example.notes")
            return nil
        }
        let parents = types("UTTypeConformsTo")
        var tags = TolerantEntry(keys: [:], place: place)
        switch keys["UTTypeTagSpecification"] {
        case nil: break
        case .dictionary(let specification)?:
            // Tag classes are types, so their comparison ignores case.
            let keys = specification.map { ($0.key.lowercased(), $0.value) }
            tags = TolerantEntry(keys: Dictionary(keys) { first, _ in first }, place: place)
        case let other?: warn("UTTypeTagSpecification should be a dictionary, but is \(other.kind)")
        }
        let extensions = tags.texts("public.filename-extension").map(Self.withoutDot)
        let mimeTypes = tags.texts("public.mime-type")
        warnings += tags.warnings
        return TypeDeclaration(
            type,
            parents: parents,
            extensions: extensions,
            mimeTypes: mimeTypes,
            description: name("UTTypeDescription")
        )
    }

    /// Nil if the entry has no type of its own, no title, or takes no items.
    mutating func activity() -> HandlerActivity? {
        guard case .string(let text)? = keys["WaftActivityType"], UniformType(text) != nil else {
            warn("has no WaftActivityType such as org.example.resize")
            return nil
        }
        guard !text.lowercased().hasPrefix(HandlerActivity.reservedPrefix) else {
            warn("\(Self.quoted(text)): the types that begin with \(HandlerActivity.reservedPrefix) are Waft's own")
            return nil
        }
        guard let title = name("Title") else {
            warn("has no Title, or one that cannot be shown")
            return nil
        }
        let types = types("ItemTypes")
        guard !types.isEmpty else {
            warn("takes no items: ItemTypes is missing")
            return nil
        }
        guard let category = choice("Category", default: HandlerActivity.Category.action) else { return nil }
        return HandlerActivity(
            type: text, title: title, itemTypes: types, maximumItems: maximumItems(), category: category,
            isAsked: flag("CanPerform"))
    }

    private mutating func maximumItems() -> Int? {
        switch keys["MaximumItems"] {
        case nil: return nil
        case .integer(let count)? where count >= 1: return Int(clamping: count)
        default:
            warn("MaximumItems should be a number of at least 1, and is ignored")
            return nil
        }
    }

    // MARK: Values

    private mutating func warn(_ text: String) {
        warnings.append("\(place): \(text)")
    }

    /// A list of texts, or one text.
    private mutating func texts(_ key: String) -> [String] {
        switch keys[key] {
        case nil: return []
        case .string(let text)?: return [text]
        case .array(let elements)?:
            var texts: [String] = []
            for element in elements {
                if case .string(let text) = element {
                    texts.append(text)
                } else {
                    warn("\(key) should be a list of texts, but has \(element.kind) in it")
                }
            }
            return texts
        case let other?:
            warn("\(key) should be a list of texts, but is \(other.kind)")
            return []
        }
    }

    /// Relative paths below the bundle.
    private mutating func iconFiles() -> [String] {
        texts("CFBundleTypeIconFiles").prefix(CatalogLimits.iconFiles).filter { text in
            let isFit = (try? SafeRelativePath(text)) != nil
            if !isFit { warn("\(Self.quoted(text)) in CFBundleTypeIconFiles is not a path below the bundle") }
            return isFit
        }
    }

    private mutating func types(_ key: String) -> [UniformType] {
        var types: [UniformType] = []
        for text in texts(key) {
            guard let type = UniformType(text) else {
                warn("\(Self.quoted(text)) in \(key) is not a uniform type identifier such as public.image")
                continue
            }
            guard !type.isDynamic else {
                warn("a dynamic identifier in \(key) means nothing elsewhere and is left out")
                continue
            }
            if !types.contains(type) { types.append(type) }
        }
        return types
    }

    private mutating func fileExtension(_ text: String) -> String? {
        let text = Self.withoutDot(text)
        guard text != "*" else {
            warn("* stands for whatever is dropped on an application; claim public.data to be given everything")
            return nil
        }
        let isFit =
            (try? SafeName(text)) != nil && text.utf8.count <= 128 && !text.contains(where: \.isWhitespace)
            && !text.hasSuffix(".")
        if !isFit { warn("\(Self.quoted(text)) in CFBundleTypeExtensions is not an extension") }
        return isFit ? text : nil
    }

    private mutating func mimeType(_ text: String) -> String? {
        let isFit =
            text.utf8.count <= 128 && text.split(separator: "/", omittingEmptySubsequences: false).count == 2
            && text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "*") }
            && !text.hasPrefix("/") && !text.hasSuffix("/")
        if !isFit { warn("\(Self.quoted(text)) in CFBundleTypeMIMETypes is not a MIME type") }
        return isFit ? text : nil
    }

    private static func withoutDot(_ text: String) -> String {
        text.hasPrefix(".") ? String(text.dropFirst()) : text
    }

    /// A few words for people; silently nil if they are too long or unprintable.
    private func name(_ key: String) -> String? {
        // Slashes are harmless here; any other text that is no valid name is not safe to show either.
        guard case .string(let text)? = keys[key], (try? SafeName(text.replacing("/", with: "-"))) != nil else {
            return nil
        }
        return text
    }

    private mutating func flag(_ key: String) -> Bool {
        switch keys[key] {
        case nil: return false
        case .boolean(let flag)?: return flag
        case .integer(let number)?: return number != 0
        case let other?:
            warn("\(key) should be true or false, but is \(other.kind)")
            return false
        }
    }

    /// One of a few words. Another word gives nil and a warning: the strength of a claim is not guessed.
    private mutating func choice<Choice: RawRepresentable<String> & CaseIterable>(
        _ key: String,
        default standard: Choice
    ) -> Choice? {
        let words = Choice.allCases.map(\.rawValue).joined(separator: ", ")
        switch keys[key] {
        case nil: return standard
        case .string(let text)?:
            if let choice = Choice(rawValue: text) { return choice }
            warn("\(key) is \(Self.quoted(text)), which is none of \(words); the entry is left out")
            return nil
        case let other?:
            warn("\(key) should be one of \(words), but is \(other.kind); the entry is left out")
            return nil
        }
    }

    private static func quoted(_ text: String) -> String { "\"\(text.prefix(64))\"" }
}
