import PropertyLists
import Sharing
import UniformTypes

/// The values of an `Info.plist` by key, after variants of keys have been resolved.
///
/// Two ways to treat errors: if the identity, the program or its permissions are wrong, the bundle is not used. Of the
/// declared types and schemes the valid part is used, with a warning for the rest.
struct BundleContents {
    private let keys: [String: PropertyList]
    /// The parts that were skipped: one line each, for people.
    private(set) var warnings: [String] = []
    private static let maximumWarnings = 20

    init(_ keys: [String: PropertyList]) {
        self.keys = keys
    }

    mutating func warn(_ text: String) {
        if warnings.count == Self.maximumWarnings {
            warnings.append("more warnings are not shown")
        } else if warnings.count < Self.maximumWarnings {
            warnings.append(text)
        }
    }

    // MARK: Values that must be valid

    func identifier() throws(BundleError) -> BundleIdentifier {
        let key = "CFBundleIdentifier"
        guard let text = try text(key) else { throw .missing(key) }
        guard let identifier = BundleIdentifier(text) else {
            throw .unfit(key, "it should be letters, digits, hyphens and dots, such as org.example.photos")
        }
        guard !identifier.isReserved else { throw .reserved(identifier) }
        return identifier
    }

    /// - Parameter folderName: the name if `CFBundleName` is missing.
    func name(folderName: String) throws(BundleError) -> String {
        let key = "CFBundleName"
        guard let text = try text(key) else { return folderName }
        do {
            return try SafeName(text).text
        } catch {
            throw .unfit(key, "\(error)")
        }
    }

    func executableName() throws(BundleError) -> String {
        let key = "CFBundleExecutable"
        guard let text = try text(key) else { throw .missing(key) }
        return text
    }

    /// - Parameter home: the meaning of `~/`; nil if unknown.
    mutating func launchRules(home: String?) throws(BundleError) -> LaunchRules {
        var rules = LaunchRules()
        rules.mode = try choice("WaftLaunch") ?? rules.mode
        rules.keepsRunning = try truth("WaftKeepRunning")
        if rules.keepsRunning, rules.mode != .resident {
            warn("WaftKeepRunning is for handlers with WaftLaunch resident, and is ignored")
            rules.keepsRunning = false
        }
        rules.takesStreams = try truth("WaftStreams")
        if rules.takesStreams, rules.mode == .resident {
            warn("WaftStreams is for handlers with WaftLaunch perItem or perTransfer, and is ignored")
            rules.takesStreams = false
        }
        rules.sandbox = try choice("WaftSandbox") ?? rules.sandbox
        for text in try texts("WaftLaunchCalls") {
            if let call = LaunchRules.Call(rawValue: text) {
                rules.calls.insert(call)
            } else if let notice = LaunchRules.Notice(rawValue: text) {
                rules.notices.insert(notice)
            } else {
                throw Self.notAmong(LaunchRules.callWords, "WaftLaunchCalls")
            }
        }
        rules.readablePaths = try paths(.readable, home: home)
        rules.writablePaths = try paths(.writable, home: home)
        rules.allowsNetwork = try truth("WaftNetwork")
        rules.allowsSockets = try truth("WaftSockets")
        rules.environment = try variables()
        rules.timeout = try timeout()
        let known = [
            "WaftLaunch", "WaftSandbox", "WaftLaunchCalls", "WaftReadablePaths", "WaftWritablePaths", "WaftNetwork",
            "WaftSockets", "WaftTimeout", "WaftKeepRunning", "WaftStreams", "WaftActivities",
            "WaftEnvironment",
        ]
        for key in keys.keys.sorted() where key.hasPrefix("Waft") && !known.contains(key) {
            warn("there is no key \(key); there are \(known.joined(separator: ", "))")
        }
        return rules
    }

    /// `CFBundleVersion`; empty if it is missing, too long or not text.
    mutating func version() -> String {
        let key = "CFBundleVersion"
        switch keys[key] {
        case nil: return ""
        case .string(let text)? where text.utf8.count <= CatalogLimits.versionBytes: return text
        case .string?: warn("\(key) is longer than \(CatalogLimits.versionBytes) bytes, and is ignored")
        case let other?: warn("\(key) should be text, but is \(other.kind), and is ignored")
        }
        return ""
    }

    private func truth(_ key: String) throws(BundleError) -> Bool {
        switch keys[key] {
        case nil: return false
        case .boolean(let value)?: return value
        case let other?: throw .wrongKind(key, expected: "true or false", found: other)
        }
    }

    private func paths(_ list: LaunchRules.PathList, home: String?) throws(BundleError) -> [String] {
        let key = list.rawValue
        let paths = try texts(key)
        guard paths.count <= CatalogLimits.namedPaths else {
            throw .tooMany("paths in \(key)", CatalogLimits.namedPaths)
        }
        return try paths.map { path throws(BundleError) in
            var path = path
            if path == "~" || path.utf8.starts(with: "~/".utf8) {
                guard let home else { throw .unfit(key, "the home folder ~ is not known") }
                path = home + String(path[path.utf8.index(after: path.startIndex)...])
            }
            guard PathText.isAbsolute(path) else { throw .unfit(key, "\(path) should start with / or ~/") }
            guard !path.utf8.contains(0), path.utf8.count < 4_096, !PathText.names(in: path).contains("..") else {
                throw .unfit(key, "a path in it is too long or has .. in it")
            }
            return path
        }
    }

    private func variables() throws(BundleError) -> [String] {
        let key = "WaftEnvironment"
        let names = try texts(key)
        guard names.count <= ProgramVariables.maximumNames else {
            throw .tooMany("variables in \(key)", ProgramVariables.maximumNames)
        }
        for name in names {
            if let flaw = ProgramVariables.flaw(of: name) { throw .unfit(key, flaw) }
        }
        return names
    }

    private func timeout() throws(BundleError) -> Duration? {
        let key = "WaftTimeout"
        let seconds: Double
        switch keys[key] {
        case nil: return nil
        case .integer(let number)?: seconds = Double(number)
        case .real(let number)?: seconds = number
        case let other?: throw .wrongKind(key, expected: "a number of seconds", found: other)
        }
        guard seconds > 0, seconds <= Double(CatalogLimits.timeoutSeconds) else {
            throw .unfit(key, "it should be more than 0 and at most \(CatalogLimits.timeoutSeconds) seconds")
        }
        return .seconds(seconds)
    }

    private func choice<Choice: RawRepresentable<String> & CaseIterable>(
        _ key: String
    ) throws(BundleError) -> Choice? {
        guard let text = try text(key) else { return nil }
        guard let choice = Choice(rawValue: text) else { throw Self.notAmong(Choice.allCases.map(\.rawValue), key) }
        return choice
    }

    private static func notAmong(_ words: [String], _ key: String) -> BundleError {
        .unfit(key, "it should be one of \(words.joined(separator: ", "))")
    }

    private func text(_ key: String) throws(BundleError) -> String? {
        switch keys[key] {
        case nil: return nil
        case .string(let text)?: return text
        case let other?: throw .wrongKind(key, expected: "text", found: other)
        }
    }

    /// A list of texts, or one text; empty if the key is missing.
    private func texts(_ key: String) throws(BundleError) -> [String] {
        switch keys[key] {
        case nil: return []
        case .string(let text)?: return [text]
        case .array(let elements)?:
            return try elements.map { element throws(BundleError) in
                guard case .string(let text) = element else {
                    throw .wrongKind(key, expected: "a list of texts", found: element)
                }
                return text
            }
        case let other?: throw .wrongKind(key, expected: "a list of texts", found: other)
        }
    }

    // MARK: Values of which the valid part is used

    /// The elements of a list of dictionaries.
    private mutating func entries(_ key: String) -> [TolerantEntry] {
        switch keys[key] {
        case nil: return []
        case .array(let elements)?:
            var entries: [TolerantEntry] = []
            for (index, element) in elements.enumerated() {
                let place = "\(key), entry \(index + 1)"
                if case .dictionary(let keys) = element {
                    entries.append(TolerantEntry(keys: keys, place: place))
                } else {
                    warn("\(place): should be a dictionary, but is \(element.kind)")
                }
            }
            return entries
        case let other?:
            warn("\(key) should be a list of dictionaries, but is \(other.kind)")
            return []
        }
    }

    mutating func documentTypes() throws(BundleError) -> [DocumentType] {
        try claims("CFBundleDocumentTypes", "document types", limit: CatalogLimits.claims) { entry in
            entry.documentType().map { ($0, $0.contents.count) }
        }
    }

    mutating func urlTypes() throws(BundleError) -> [URLType] {
        try claims("CFBundleURLTypes", "URL schemes", limit: CatalogLimits.schemes) { entry in
            entry.urlType().map { ($0, $0.schemes.count) }
        }
    }

    mutating func activities() throws(BundleError) -> [HandlerActivity] {
        try claims("WaftActivities", "activities", limit: CatalogLimits.activities) { entry in
            entry.activity().map { ($0, 1) }
        }
    }

    mutating func declarations(
        _ origin: DeclarationRefusal.Origin
    ) throws(BundleError) -> [TypeDeclaration] {
        let key = origin == .exported ? "UTExportedTypeDeclarations" : "UTImportedTypeDeclarations"
        return try claims(key, "\(origin.rawValue) types", limit: CatalogLimits.declarations) { entry in
            entry.typeDeclaration().map { ($0, 1) }
        }
    }

    /// The usable entries of a list.
    ///
    /// - Parameters:
    ///   - what: the things that the entries claim, for people.
    ///   - limit: maximum number of these things in all entries.
    ///   - read: the value of an entry and the number of things that it claims; nil if the entry is not usable.
    private mutating func claims<Value>(
        _ key: String, _ what: String, limit: Int, _ read: (inout TolerantEntry) -> (value: Value, count: Int)?
    ) throws(BundleError) -> [Value] {
        var values: [Value] = []
        var count = 0
        for var entry in entries(key) {
            let claim = read(&entry)
            entry.warnings.forEach { warn($0) }
            guard let claim else { continue }
            count += claim.count
            guard count <= limit else { throw .tooMany(what, limit) }
            values.append(claim.value)
        }
        return values
    }
}

extension DocumentType.Contents {
    fileprivate var count: Int {
        switch self {
        case .types(let types): types.count
        case .tags(let extensions, let mimeTypes, _): extensions.count + mimeTypes.count
        }
    }
}
