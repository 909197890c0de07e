import Glibc
import Sharing
import SystemCalls

// Consents are small files in the staging folder: the number of items stored and, while a transfer is under way, its
// id, its peer, and its number of arrivals, with one space between them.
extension Partials {
    /// Maximum bytes read of a file; no consent is that long.
    private static let consentBytes = 256

    /// - Returns: nil if there is none, or if it has expired.
    func consent(_ name: String) -> ConsentMark? {
        // An unreadable consent counts as nothing stored: the user did say yes.
        read(name).map { Self.mark($0) ?? ConsentMark(stored: 0) }
    }

    /// - Returns: nil if there is none, or if it has expired.
    private func read(_ name: String) -> String? {
        guard let used = used(name), !isExpired(used, at: time.now()) else { return nil }
        let raw = openat(folder.raw, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard raw >= 0 else { return nil }
        let file = FileDescriptor(owning: raw)
        return withUnsafeTemporaryAllocation(byteCount: Self.consentBytes, alignment: 1) { buffer in
            let count = max(0, pread(file.raw, buffer.baseAddress, buffer.count, 0))
            return String(decoding: buffer[..<count], as: UTF8.self)
        }
    }

    func setConsent(_ name: String, _ mark: ConsentMark?) {
        guard let mark else {
            unlinkat(folder.raw, name, 0)
            return
        }
        let isNew = used(name) == nil
        let raw = openat(folder.raw, name, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0o600)
        guard raw >= 0 else { return }
        let file = FileDescriptor(owning: raw)
        _ = Self.text(mark).withCString { write(file.raw, $0, strlen($0)) }
        // The file survives a crash as long as the items begun under it: those are synced later.
        if isNew { addedConsent() }
    }

    /// The names of all consents in the folder.
    var consentNames: [String] {
        var names: [String] = []
        guard var contents = try? FolderContents.make(of: folder.raw) else { return [] }
        while let name = try? contents.next() {
            let text = String(cString: name)
            if Self.isForm("o-", text) { names.append(text) }
        }
        return names
    }

    func changeConsents(_ change: (ConsentMark) -> ConsentMark?) {
        for name in consentNames {
            guard let text = read(name) else { continue }
            // Remove a consent whose contents were lost in a power cut: its end could not be determined.
            guard let mark = Self.mark(text) else {
                setConsent(name, nil)
                continue
            }
            let changed = change(mark)
            // Writing renews its age.
            if changed != mark { setConsent(name, changed) }
        }
    }

    private static func text(_ mark: ConsentMark) -> String {
        guard let begun = mark.begun else { return String(mark.stored) }
        return "\(mark.stored) \(begun.transfer.text) \(begun.peer.text) \(begun.arrivals)"
    }

    private static func mark(_ text: String) -> ConsentMark? {
        let fields = text.split(separator: " ")
        guard let stored = fields.first.flatMap({ Int($0) }), stored >= 0 else { return nil }
        guard fields.count == 4, let transfer = TransferID(String(fields[1])),
            let peer = PeerID(text: String(fields[2])),
            let arrivals = Int(fields[3])
        else { return ConsentMark(stored: stored) }
        return ConsentMark(stored: stored, begun: .init(transfer, from: peer, arrivals: arrivals))
    }
}
