import PropertyLists
import SystemCalls

/// The panes of a handler's `Settings.bundle`, read from `Root.plist` on.
///
/// Uses the valid parts, and warns about the rest: a broken pane takes no handler out of use.
struct SettingsPanes {
    static let bundleName = "Settings.bundle"
    private static let root = "Root"

    private let folder: BundleFolder
    private let languages: [String]
    private(set) var rows: [HandlerSettings.Row] = []
    /// One line each, for people.
    private(set) var warnings: [String] = []
    /// Absolute paths of the files that were looked for.
    private(set) var files: [String] = []
    private var panes: Set<String> = []
    private var keys: Set<String> = []
    private var isFull = false

    /// - Parameter languages: of titles, in order of preference.
    init(of folder: BundleFolder, languages: [String]) {
        (self.folder, self.languages) = (folder, languages)
        add(pane: Self.root, depth: 0)
    }

    private static func path(_ pane: String) -> String { "\(bundleName)/\(pane).plist" }

    private mutating func add(pane: String, depth: Int) {
        let name = Self.path(pane)
        files.append(folder.path + "/" + name)
        panes.insert(pane)
        do throws(BundleError) {
            guard let bytes = try folder.contents(of: name, limit: CatalogLimits.paneBytes) else {
                if depth > 0 || Paths.isThere(folder.path + "/" + Self.bundleName) {
                    warnings.append("\(name) is missing")
                }
                return
            }
            try add(bytes, name, pane, depth)
        } catch {
            warnings.append("\(error)")
        }
    }

    private mutating func add(_ bytes: [UInt8], _ name: String, _ pane: String, _ depth: Int) throws(BundleError) {
        let keys: [String: PropertyList]
        do {
            keys = try PropertyList.dictionary(from: bytes, within: CatalogLimits.pane)
        } catch {
            throw .file(name, "\(error)")
        }
        guard let specifiers = keys["PreferenceSpecifiers"]?.array else {
            throw .file(name, "has no list PreferenceSpecifiers")
        }
        let table = keys["StringsTable"]?.string ?? pane
        let texts = folder.texts(named: table, under: Self.bundleName, in: languages)
        for (index, specifier) in specifiers.enumerated() {
            guard !isFull else { return }
            let place = "\(name), entry \(index + 1)"
            guard let entries = specifier.dictionary else {
                warnings.append("\(place): should be a dictionary, but is \(specifier.kind)")
                continue
            }
            do {
                try add(SettingSpecifier(keys: entries, texts: texts).meaning(), depth)
            } catch {
                warnings.append("\(place): \(error.reason)")
            }
        }
    }

    private mutating func add(_ meaning: SettingSpecifier.Meaning, _ depth: Int) throws(SettingSpecifier.Fault) {
        switch meaning {
        case .group(let title, let note):
            if !title.isEmpty { append(.heading(title)) }
            if !note.isEmpty { append(.note(note)) }
        case .row(.setting(let setting)):
            guard !keys.contains(setting.key) else { throw .init("its Key is that of another setting") }
            guard keys.count < CatalogLimits.settingKeys else {
                throw .init("is left out: there are \(CatalogLimits.settingKeys) settings before it")
            }
            keys.insert(setting.key)
            append(.setting(setting))
        case .row(let row): append(row)
        case .pane(let title, let file):
            guard !panes.contains(file) else { throw .init("its File \(file) is a pane already") }
            guard depth + 1 < CatalogLimits.paneDepth, panes.count < CatalogLimits.panes else {
                throw .init("is left out: there are too many panes")
            }
            if !title.isEmpty { append(.heading(title)) }
            add(pane: file, depth: depth + 1)
        }
    }

    private mutating func append(_ row: HandlerSettings.Row) {
        guard rows.count < CatalogLimits.settingRows else {
            if !isFull { warnings.append("\(Self.bundleName) has more than \(CatalogLimits.settingRows) rows") }
            isFull = true
            return
        }
        rows.append(row)
    }
}
