package import Age
import Sharing

/// The public keys to which arrivals are sealed: the file `recipients`.
///
/// It has a line for each key, and above it a comment `# ROLE`: `L` and `U` for the own key pairs, `recovery` for further
/// keys that open everything too, or `recipient` alone for a drop box. A comment `# kept  KEEPER` names the keeper of the
/// own private keys. `age -R` reads the same file. Earlier files have lines `KEY  ROLE` and `kept  KEEPER`, which are read too.
package struct ProtectionRecipients: Sendable {
    /// The own keys.
    package struct Own: Sendable {
        package let whileUnlocked: AgeRecipient
        package let sinceFirstUnlock: AgeRecipient
        /// The keeper of the private keys: `passphrase` or `keyring`.
        package let keeper: VaultMode

        package init(whileUnlocked: AgeRecipient, sinceFirstUnlock: AgeRecipient, keeper: VaultMode) {
            (self.whileUnlocked, self.sinceFirstUnlock) = (whileUnlocked, sinceFirstUnlock)
            self.keeper = keeper
        }

        package subscript(role: IdentityRole) -> AgeRecipient {
            switch role {
            case .whileUnlocked: whileUnlocked
            case .sinceFirstUnlock: sinceFirstUnlock
            }
        }
    }

    /// Nil for a drop box.
    package let own: Own?
    /// Recovery keys, or the keys of a drop box, of which there is at least one.
    package let others: [AgeRecipient]

    /// Recovery keys, or keys of a drop box.
    package static let maximumOthers = 8
    static let fileBytes = 16 << 10

    package var isDropBox: Bool { own == nil }

    /// - Throws: `VaultError` `unfit` for too many keys, a key that is given twice, or none at all.
    package init(own: Own?, others: [AgeRecipient]) throws(VaultError) {
        guard others.count <= Self.maximumOthers else {
            throw VaultError(.unfit, "at most \(Self.maximumOthers) further keys can open what arrives")
        }
        guard own != nil || !others.isEmpty else { throw VaultError(.unfit, "a drop box needs at least one recipient") }
        let all = others + IdentityRole.allCases.compactMap { own?[$0] }
        guard Set(all).count == all.count else { throw VaultError(.unfit, "a recipient is given twice") }
        (self.own, self.others) = (own, others)
    }

    /// The keys to which an item of a class is sealed; none for the class that is not sealed.
    func recipients(for protection: ProtectionClass) -> [AgeRecipient] {
        guard let role = IdentityRole(protection) else { return [] }
        return (own.map { [$0[role]] } ?? []) + others
    }

    /// A key that a user gives.
    ///
    /// - Throws: `VaultError` `unfit` with the kind of key that Waft does not take.
    package static func read(_ text: String) throws(VaultError) -> AgeRecipient {
        do throws(AgeError) {
            return try AgeRecipient(parsing: text)
        } catch {
            // A private key is not repeated.
            let isSecret = text.uppercased().hasPrefix("AGE-")
            let shown = isSecret ? "that" : "\"\(ShownText.line(text, limit: 80))\""
            guard case .unsupported(let kind) = error else {
                throw VaultError(.unfit, "\(shown) is not a public key of age, which begins with age1")
            }
            throw VaultError(.unfit, "\(shown) is \(kind); Waft takes the public keys of age itself only")
        }
    }

    // MARK: The file

    private static let keptWord = "kept"
    private static let recoveryWord = "recovery"
    private static let dropBoxWord = "recipient"
    private static let roles = IdentityRole.allCases.map(\.rawValue) + [recoveryWord, dropBoxWord]

    /// The text of the file.
    var text: String {
        var lines = ["# The keys to which Waft seals what arrives. Change it only by: waft protection"]
        if let own {
            lines.append("# \(Self.keptWord)  \(own.keeper.rawValue)")
            lines += IdentityRole.allCases.flatMap { ["# \($0.rawValue)", own[$0].description] }
        }
        let word = own == nil ? Self.dropBoxWord : Self.recoveryWord
        lines += others.flatMap { ["# \(word)", $0.description] }
        return lines.map { $0 + "\n" }.joined()
    }

    /// Reads the file.
    ///
    /// - Throws: `VaultError` `damaged` with the number of the line.
    init(text: String, path: String) throws(VaultError) {
        var keys: [IdentityRole: AgeRecipient] = [:]
        var (recovery, dropBox): ([AgeRecipient], [AgeRecipient]) = ([], [])
        var keeper: VaultMode?
        // Of the comment above.
        var role: String?
        for (number, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            var words = line.split(separator: " ").map(String.init)
            if words.first == "#" {
                words.removeFirst()
                if words.count == 1, Self.roles.contains(words[0]) { role = words[0] }
                guard words.count == 2, words[0] == Self.keptWord else { continue }
            } else if words.isEmpty || line.hasPrefix("#") {
                continue
            } else if words.count == 1, let known = role {
                words.append(known)
                role = nil
            }
            func fault(_ reason: String) -> VaultError { .damaged(path, "line \(number + 1): \(reason)") }
            guard words.count == 2 else { throw fault("it is not a key and its role") }
            let word = words[1]
            if words[0] == Self.keptWord {
                guard keeper == nil, let mode = VaultMode(rawValue: word) else { throw fault("it names no keeper") }
                keeper = mode
                continue
            }
            let key: AgeRecipient
            do { key = try AgeRecipient(parsing: words[0]) } catch { throw fault("it has no key of age") }
            switch (IdentityRole(rawValue: word), word) {
            case (let role?, _):
                guard keys.updateValue(key, forKey: role) == nil else { throw fault("there are two keys \(word)") }
            case (nil, Self.recoveryWord): recovery.append(key)
            case (nil, Self.dropBoxWord): dropBox.append(key)
            default: throw fault("a key has no such role")
            }
        }
        do throws(VaultError) {
            switch (keys[.whileUnlocked], keys[.sinceFirstUnlock], keeper) {
            case (let whileUnlocked?, let sinceFirstUnlock?, let keeper?) where dropBox.isEmpty:
                let own = Own(whileUnlocked: whileUnlocked, sinceFirstUnlock: sinceFirstUnlock, keeper: keeper)
                try self.init(own: own, others: recovery)
            case (nil, nil, nil) where recovery.isEmpty && !dropBox.isEmpty:
                try self.init(own: nil, others: dropBox)
            default:
                throw VaultError(.damaged, "keys are missing, or do not belong together")
            }
        } catch {
            throw .damaged(path, error.description)
        }
    }
}
