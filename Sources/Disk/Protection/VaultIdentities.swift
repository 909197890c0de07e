package import Age
import Foundation
package import Secrets
package import Sharing

/// The private keys of a machine, as an identity file of age has them: a comment line before each key says its role and
/// when it was made. The current keys come first, behind them those of before each `waft protection rotate`.
///
/// The recovery keys stand in it too: whoever changes the file of the public keys cannot change these.
package struct VaultIdentities: Sendable {
    /// A private key with its role.
    package struct Entry: Sendable {
        package let role: IdentityRole
        /// When it was made, as in RFC 3339.
        package let made: String
        package let identity: AgeIdentity

        package init(role: IdentityRole, made: String, identity: AgeIdentity) {
            (self.role, self.made, self.identity) = (role, made, identity)
        }
    }

    /// The current key of a role stands before its older ones.
    package let entries: [Entry]
    /// The recovery keys.
    package let recovery: [AgeRecipient]
    /// The public keys of the current keys, also of a role whose private keys were left out.
    private let current: [IdentityRole: AgeRecipient]

    /// Key pairs of one role, the old ones with the current one.
    package static let maximumAges = 32
    /// Bytes of their text.
    package static let textBytes = 32 << 10

    package init(entries: [Entry], recovery: [AgeRecipient]) {
        let current = Dictionary(
            entries.map { ($0.role, $0.identity.recipient) }, uniquingKeysWith: { first, _ in first })
        self.init(entries, recovery, current)
    }

    private init(_ entries: [Entry], _ recovery: [AgeRecipient], _ current: [IdentityRole: AgeRecipient]) {
        (self.entries, self.recovery, self.current) = (entries, recovery, current)
    }

    /// New keys.
    ///
    /// - Throws: `VaultError` `storage` if libcrypto makes none.
    package static func generate(
        recovery: [AgeRecipient] = [], at time: WallTime = .now
    ) throws(VaultError) -> VaultIdentities {
        var entries: [Entry] = []
        for role in IdentityRole.allCases {
            do {
                entries.append(Entry(role: role, made: stamp(time), identity: try AgeIdentity.generate()))
            } catch {
                throw VaultError(.storage, "\(error)")
            }
        }
        return VaultIdentities(entries: entries, recovery: recovery)
    }

    /// New keys; these stay behind them, to read what is there.
    ///
    /// - Throws: `VaultError` `unfit` if there are too many old keys.
    package func rotated(at time: WallTime = .now) throws(VaultError) -> VaultIdentities {
        guard entries.count / IdentityRole.allCases.count < Self.maximumAges else {
            throw VaultError(.unfit, "there are \(Self.maximumAges) key pairs already; no more are kept")
        }
        let new = try Self.generate(at: time)
        return VaultIdentities(entries: new.entries + entries, recovery: recovery)
    }

    /// The public key of the current key of a role; nil if there is none.
    package func recipient(_ role: IdentityRole) -> AgeRecipient? { current[role] }

    /// The private keys of one role alone. All public keys stay known, to compare those of the machine with them.
    package func only(_ role: IdentityRole) -> VaultIdentities {
        VaultIdentities(entries.filter { $0.role == role }, recovery, current)
    }

    /// These without the private keys.
    var publicKeys: VaultIdentities { VaultIdentities([], recovery, current) }

    /// Whether the public keys of a machine are the newest of these, with the same recovery keys. A role of which no
    /// key was ever here is not compared.
    ///
    /// Older ones do not match: whoever has learnt the keys that a rotation has retired could put them back.
    func match(_ recipients: ProtectionRecipients) -> Bool {
        guard let own = recipients.own else { return false }
        return current.allSatisfy { own[$0.key] == $0.value } && Set(recovery) == Set(recipients.others)
    }

    /// Whether the public keys of a machine are of before a rotation.
    func retired(_ recipients: ProtectionRecipients) -> Bool {
        guard let own = recipients.own, !match(recipients), Set(recovery) == Set(recipients.others) else {
            return false
        }
        return current.keys.allSatisfy { role in
            entries.contains { $0.role == role && $0.identity.recipient == own[role] }
        }
    }

    /// Whether these are the keys that a rotation has made of the others.
    func follow(_ others: VaultIdentities) -> Bool {
        entries.count > others.entries.count
            && entries.suffix(others.entries.count).map(\.identity.recipient)
                == others.entries.map(\.identity.recipient)
    }

    /// The public keys of the current keys.
    ///
    /// - Throws: `VaultError` `unfit` for keys of one role only.
    func recipients(keptBy keeper: VaultMode) throws(VaultError) -> ProtectionRecipients {
        guard let whileUnlocked = recipient(.whileUnlocked), let sinceFirstUnlock = recipient(.sinceFirstUnlock) else {
            throw VaultError(.unfit, "a private key is missing")
        }
        let own = ProtectionRecipients.Own(
            whileUnlocked: whileUnlocked, sinceFirstUnlock: sinceFirstUnlock, keeper: keeper)
        return try ProtectionRecipients(own: own, others: recovery)
    }

    private static func stamp(_ time: WallTime) -> String {
        Date(timeIntervalSince1970: Double(time.milliseconds / 1_000)).ISO8601Format()
    }
}

// MARK: The text

extension VaultIdentities {
    private static let recoveryWord = "recovery"
    private static let secretStart = Array("AGE-SECRET-KEY-1".utf8)

    /// The lines of an identity file of age, without their newlines.
    package var lines: [SecretBytes] {
        func line(_ text: String) -> SecretBytes { SecretBytes(Array(text.utf8)) }
        return [line("# Private keys of Waft. To read an item without Waft: age -d -i FILE")]
            + recovery.map { line("# \(Self.recoveryWord) \($0)") }
            + entries.flatMap { [line("# \($0.role.rawValue) \($0.made)"), $0.identity.text] }
    }

    /// The text of an identity file of age.
    package var text: SecretBytes {
        let lines = lines
        return SecretBytes(count: lines.reduce(0) { $0 + $1.count + 1 }) { room in
            var end = 0
            for line in lines {
                line.withBytes {
                    UnsafeMutableRawBufferPointer(rebasing: room[end..<end + $0.count]).copyMemory(from: $0)
                }
                end += line.count
                room[end] = UInt8(ascii: "\n")
                end += 1
            }
        }
    }

    /// Reads a text as `text` writes it.
    ///
    /// - Throws: `VaultError` `damaged`, which repeats nothing of the text.
    package init(parsing text: SecretBytes) throws(VaultError) {
        guard text.count <= Self.textBytes else {
            throw .unusableKeys("they are larger than \(Self.textBytes >> 10) KiB")
        }
        try self.init(lines: Self.ranges(of: text).map { text[$0] })
    }

    /// Reads the lines of a text as `lines` writes them.
    ///
    /// - Throws: as above.
    package init(lines: [SecretBytes]) throws(VaultError) {
        var entries: [Entry] = []
        var recovery: [AgeRecipient] = []
        var next: (role: IdentityRole, made: String)?
        for (index, line) in lines.enumerated() {
            func fault(_ reason: String) -> VaultError { .unusableKeys("line \(index + 1): \(reason)") }
            if line.withBytes({ $0.starts(with: Self.secretStart) }) {
                guard let (role, made) = next else { throw fault("a key has no role") }
                next = nil
                do {
                    entries.append(Entry(role: role, made: made, identity: try AgeIdentity(parsing: line)))
                } catch {
                    throw fault("a key is damaged")
                }
                continue
            }
            guard line.withBytes({ $0.isEmpty || $0[0] == UInt8(ascii: "#") }) else {
                throw fault("it is neither a key nor a comment")
            }
            // A comment holds no secret.
            let words = String(decoding: line.revealed.dropFirst(), as: UTF8.self).split(separator: " ").map(
                String.init)
            guard words.count == 2 else { continue }
            if words[0] == Self.recoveryWord {
                do { recovery.append(try AgeRecipient(parsing: words[1])) } catch {
                    throw fault("it has no key of age")
                }
            } else if let role = IdentityRole(rawValue: words[0]), Self.isTime(words[1]) {
                next = (role, words[1])
            }
        }
        let maximum = IdentityRole.allCases.count * Self.maximumAges
        guard !entries.isEmpty, entries.count <= maximum, recovery.count <= ProtectionRecipients.maximumOthers else {
            throw .unusableKeys("there are none, or too many")
        }
        self.init(entries: entries, recovery: recovery)
    }

    private static func isTime(_ text: String) -> Bool {
        (1...32).contains(text.utf8.count) && text.utf8.allSatisfy { (0x2B...0x5A).contains($0) }
    }

    private static func ranges(of text: SecretBytes) -> [Range<Int>] {
        text.withBytes { bytes in
            var (ranges, start): ([Range<Int>], Int) = ([], 0)
            for (place, byte) in bytes.enumerated() where byte == UInt8(ascii: "\n") {
                ranges.append(start..<place)
                start = place + 1
            }
            if start < bytes.count { ranges.append(start..<bytes.count) }
            return ranges
        }
    }
}
