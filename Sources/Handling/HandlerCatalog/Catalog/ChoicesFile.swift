import CLinuxShims
import Foundation
import SystemCalls
import UniformTypes

/// The user's choices on disk: a JSON object with `disabled` (a list of identifiers), `defaults` (type to identifier)
/// and `schemes` (scheme to identifier).
///
/// People edit it, and a later version may add to it. Reading skips invalid entries with a message; writing keeps
/// unknown keys.
struct ChoicesFile: Hashable, Sendable {
    /// Absolute.
    let path: String

    /// The choices, and the problems of the file. A missing file contains no choices.
    func read() -> (choices: UserChoices, problems: [String]) {
        var contents = Contents()
        do {
            contents.keys = try load() ?? [:]
        } catch {
            return (UserChoices(), ["it cannot be used: \(error)"])
        }
        let choices = UserChoices(
            disabled: contents.disabled(),
            typeDefaults: contents.defaults("defaults", "a uniform type") { UniformType($0) },
            schemeDefaults: contents.defaults("schemes", "a URL scheme") { URLScheme($0) }
        )
        return (choices, contents.problems)
    }

    /// Changes the choices and nothing else in the file. Waits while another process changes it.
    ///
    /// A file that cannot be parsed is first renamed to `handlers.json.damaged`.
    /// - Throws: the kernel's error.
    func change(_ body: (inout UserChoices) -> Void) throws(SystemError) {
        let lock = try FolderLock.taking(Paths.folder(of: path))
        var keys: [String: Any] = [:]
        do {
            keys = try load() ?? [:]
        } catch {
            if case .system(let error) = error { throw error }
            try moveAside()
        }
        var choices = read().choices
        body(&choices)
        keys["version"] = keys["version"] ?? 1
        keys["disabled"] = choices.disabled.sorted().map(\.text)
        keys["defaults"] = Dictionary(
            uniqueKeysWithValues: choices.typeDefaults.map { ($0.key.identifier, $0.value.text) })
        keys["schemes"] = Dictionary(uniqueKeysWithValues: choices.schemeDefaults.map { ($0.key.text, $0.value.text) })
        let options: JSONSerialization.WritingOptions = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        guard let data = try? JSONSerialization.data(withJSONObject: keys, options: options) else {
            throw SystemError(EINVAL)
        }
        try SmallFile.replace(path, with: Array(data) + [UInt8(ascii: "\n")], mode: 0o600)
        lock.release()
    }

    private enum FormatError: Error, CustomStringConvertible {
        case notAnObject
        case tooLarge
        case notAFile
        case system(SystemError)

        var description: String {
            switch self {
            case .notAnObject: "it is not a JSON object"
            case .tooLarge: "it is larger than \(CatalogLimits.documentBytes >> 10) KiB"
            case .notAFile: "it is not a regular file"
            case .system(let error): "\(error)"
            }
        }
    }

    /// - Returns: nil if there is no file.
    private func load() throws(FormatError) -> [String: Any]? {
        let bytes: [UInt8]
        do {
            bytes = try SmallFile.read(path, limit: CatalogLimits.documentBytes)
        } catch {
            switch error {
            case .missing: return nil
            case .tooLarge: throw .tooLarge
            case .link, .notRegular: throw .notAFile
            case .system(let error): throw .system(error)
            }
        }
        let object = try? JSONSerialization.jsonObject(with: Data(bytes))
        guard let keys = object as? [String: Any] else { throw .notAnObject }
        return keys
    }

    private func moveAside() throws(SystemError) {
        for number in 0..<100 {
            let aside = path + ".damaged" + (number == 0 ? "" : "-\(number)")
            if CLinuxShims_renameat2_noreplace(AT_FDCWD, path, AT_FDCWD, aside) == 0 { return }
            if errno != EEXIST { throw .last }
        }
        throw SystemError(EEXIST)
    }

    private struct Contents {
        var keys: [String: Any] = [:]
        var problems: [String] = []

        mutating func disabled() -> Set<BundleIdentifier> {
            guard let value = keys["disabled"] else { return [] }
            guard let elements = value as? [Any] else {
                problems.append("\"disabled\" in it should be a list of handlers' identifiers")
                return []
            }
            var identifiers: Set<BundleIdentifier> = []
            for element in elements {
                if let text = element as? String, let identifier = BundleIdentifier(text) {
                    identifiers.insert(identifier)
                } else {
                    problems.append("\"disabled\" in it has an entry that is not a handler's identifier")
                }
            }
            return identifiers
        }

        /// - Parameter what: the valid form of a key, as words for people.
        mutating func defaults<Key: Hashable>(
            _ name: String,
            _ what: String,
            _ read: (String) -> Key?
        ) -> [Key: BundleIdentifier] {
            guard let value = keys[name] else { return [:] }
            guard let entries = value as? [String: Any] else {
                problems.append("\"\(name)\" in it should be an object: \(what) to a handler's identifier")
                return [:]
            }
            var defaults: [Key: BundleIdentifier] = [:]
            // In order: of two keys that mean the same, the first by name counts.
            for (text, value) in entries.sorted(by: { $0.key < $1.key }) {
                guard let key = read(text), let identifier = (value as? String).flatMap({ BundleIdentifier($0) }) else {
                    problems.append(
                        "\"\(text.prefix(64))\" under \"\(name)\" is not \(what) with a handler's identifier")
                    continue
                }
                if defaults[key] == nil { defaults[key] = identifier }
            }
            return defaults
        }
    }
}
