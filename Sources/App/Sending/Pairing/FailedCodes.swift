import Foundation
import Pairing
import Secrets
package import Settings
import Sharing
import SystemCalls

/// The spoken codes that have failed here in the last hour. A false machine gets a guess each time that a person types a
/// code: one that has failed is not taken again by mistake. The file holds no code, but what scrypt makes of it with a
/// random salt. All calls may block on the disk, and derive a key.
package struct FailedCodes: Sendable {
    /// How long a code is remembered, in milliseconds.
    private static let lifetime: Int64 = 3_600_000
    static let maximumCount = 16
    /// Bytes of the file.
    private static let maximumBytes = 8 << 10
    private static let saltBytes = 16

    private let path: String

    /// - Parameter path: absolute.
    package init(path: String) { self.path = path }

    private struct Book: Codable {
        var salt: String
        /// The newest first.
        var entries: [Entry] = []
    }

    private struct Entry: Codable {
        var digest: String
        /// Milliseconds since 1970.
        var failed: Int64
    }

    func contains(_ code: SpokenCode, now: WallTime = .now) -> Bool {
        guard let book = read(now), !book.entries.isEmpty, let digest = Self.digest(code, book.salt) else {
            return false
        }
        return book.entries.contains { $0.digest == digest }
    }

    /// Notes a code that has failed. Without a disk for it, nothing is noted.
    func note(_ code: SpokenCode, now: WallTime = .now) {
        guard let lock = try? FolderLock.taking(SmallFile.folder(of: path)) else { return }
        noteLocked(code, now)
        lock.release()
    }

    private func noteLocked(_ code: SpokenCode, _ now: WallTime) {
        var book = read(now) ?? Book(salt: Hexadecimal.text(KeyDerivation.random(Self.saltBytes)))
        guard let digest = Self.digest(code, book.salt) else { return }
        let others = book.entries.filter { $0.digest != digest }
        book.entries = Array(([Entry(digest: digest, failed: now.milliseconds)] + others).prefix(Self.maximumCount))
        guard let bytes = try? JSONEncoder().encode(book) else { return }
        try? SmallFile.replace(path, with: Array(bytes), mode: 0o600)
    }

    private static func digest(_ code: SpokenCode, _ salt: String) -> String? {
        let password = SecretBytes(Array(code.text.utf8))
        let digest = try? KeyDerivation.scrypt(password: password, salt: Array(salt.utf8), workFactor: 14, count: 32)
        return digest.map { Hexadecimal.text($0.revealed) }
    }

    private func read(_ now: WallTime) -> Book? {
        guard let bytes = try? SmallFile.read(path, limit: Self.maximumBytes),
            var book = try? JSONDecoder().decode(Book.self, from: Data(bytes))
        else { return nil }
        // A clock that was set back makes nothing last longer.
        book.entries.removeAll { entry in
            let (age, isFar) = now.milliseconds.subtractingReportingOverflow(entry.failed)
            return isFar || !(0..<Self.lifetime).contains(age)
        }
        return book
    }
}

extension Home {
    /// The spoken codes that have failed here.
    package var failedCodes: FailedCodes { FailedCodes(path: run + "/failed-codes.json") }
}
