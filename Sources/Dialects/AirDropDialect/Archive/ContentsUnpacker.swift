import NIOCore
import Sharing

/// Moves the members of an archive into an incoming transfer, and compares each with the announced items.
final class ContentsUnpacker {
    private let transfer: IncomingTransfer
    private let asked: AskedOffer
    private let accepted: [Bool]
    private let archive: CPIOReader

    /// The item of the current members.
    private var current: Item?
    private var ignoredBytes: UInt64 = 0
    private var ignoredMembers: UInt64 = 0
    /// Number of members so far at places for which several files were announced.
    private var turns: [String: Int] = [:]
    /// Entries that were left out or renamed.
    private(set) var remarks: RemarkList

    /// The state of the current item.
    private struct Item {
        var number: Int
        var isTree: Bool
        var modified: Timestamp?
        /// All folders made so far: some archives list the contents of a folder before the folder.
        var folders: Set<SafeRelativePath> = []
        var folderBytes = 0
        /// The open folders around the last member, outermost first; a member outside them closes them.
        var open: [(path: SafeRelativePath, modified: Timestamp?)] = []
    }

    /// - Parameter verdict: the given answer; the unpacker skips members of items that were not accepted.
    init(_ transfer: IncomingTransfer, _ asked: AskedOffer, _ verdict: Verdict, archive: CPIOReader) {
        self.transfer = transfer
        self.asked = asked
        self.accepted = verdict.items.map { $0.answer == .accepted }
        self.archive = archive
        self.remarks = asked.remarks
    }

    /// Reads the archive to its end.
    func run() throws(TransferError) {
        try archive.open()
        while let member = try archive.next() { try take(member) }
        try endItem()
    }

    /// Stores the links of the question, which are in no archive.
    static func takeLinks(
        of asked: AskedOffer, _ verdict: Verdict, into transfer: IncomingTransfer
    ) throws(TransferError) {
        for (item, contents) in asked.links where verdict.items[item].answer == .accepted {
            try transfer.beginItem(item)
            try transfer.beginFile(
                FileEntry(path: nil, executable: false, modified: nil, size: UInt64(contents.readableBytes)))
            try contents.withUnsafeReadableBytes { (bytes) throws(TransferError) in try transfer.write(bytes) }
            try transfer.endFile(digest: nil)
            try transfer.endItem(digest: nil)
        }
    }

    private func take(_ member: CPIOReader.Member) throws(TransferError) {
        let found: MemberPath
        do throws(NameError) {
            var path = try MemberPath(member.path)
            path.unwrap { asked.places[$0] != nil }
            found = path
        } catch .tooDeep {
            return try leaveOut(member.path, NameError.tooDeep)
        } catch {
            throw TransferError(.unsafeName, "a member cannot be stored: \(error.said(of: member.path))")
        }
        let item = asked.places.item(of: found)
        let isItem = item?.depth == found.names.count
        // This is the archive's root, the wrapper, or a folder around an item.
        if item == nil, asked.places.isAround(found) {
            guard case .folder = member.kind else { throw .malformed("an archive that is one file") }
            return try ignore()
        }
        var start: [UInt8] = []
        if case .file = member.kind, !isItem {
            if found.looksLikeFinderFile { return try ignoreContents(beginning: 0) }
            if found.looksLikeSidecar {
                while start.count < Self.sidecarMagic.count, let bytes = try archive.data() { start += bytes }
                if start.starts(with: Self.sidecarMagic) { return try ignoreContents(beginning: start.count) }
            }
        }
        guard let item, let number = number(of: item.place, isItem: isItem) else {
            throw TransferError(.notAccepted, "something came that was not announced")
        }
        guard accepted[number] else { return try passOver() }
        let path: SafeRelativePath?
        do throws(NameError) {
            path = try found.path(below: item.depth)
        } catch {
            return try leaveOut(found.text, error)
        }
        if current?.number != number { try begin(number) }
        if let path, path.name != found.names.last.map(String.init) { remarks.renamed(found.text, path.name) }
        try take(member, at: path, found.text, start)
    }

    /// The item at a place. If several files were announced for it, each member is the next of them.
    private func number(of place: String, isItem: Bool) -> Int? {
        guard let numbers = asked.places[place] else { return nil }
        guard numbers.count > 1, isItem else { return numbers.first }
        let turn = turns[place, default: 0]
        turns[place] = turn + 1
        return numbers[min(turn, numbers.count - 1)]
    }

    private func take(
        _ member: CPIOReader.Member, at path: SafeRelativePath?, _ text: String, _ start: [UInt8]
    ) throws(TransferError) {
        guard let path else {
            switch member.kind {
            case .folder where current?.isTree == true: current?.modified = member.modified
            case .file where current?.isTree == false:
                try takeFile(member, at: nil, start)
                // An item that is a file has no more members.
                try endItem()
            default: throw .malformed("an item of another kind than was announced")
            }
            return
        }
        guard current?.isTree == true else { throw .malformed("something inside a file") }
        switch member.kind {
        case .file:
            try enterFolder(of: path)
            try takeFile(member, at: path, start)
        case .folder:
            try enterFolder(of: path)
            try makeFolder(path, modified: member.modified)
        case .link(let target):
            let safe: SafeLinkTarget
            do throws(NameError) {
                safe = try SafeLinkTarget(MemberPath.composed(target), of: path)
            } catch {
                return try leaveOut(text, "\(error) (to \(PathText.printable(target, limit: 120)))")
            }
            try enterFolder(of: path)
            try transfer.link(path, target: safe)
        case .special:
            try leaveOut(text, "it is neither file, folder nor link")
        }
    }

    // MARK: Items

    private func begin(_ number: Int) throws(TransferError) {
        try endItem()
        try transfer.beginItem(number)
        current = Item(number: number, isTree: transfer.offer.items[number].kind == .tree)
    }

    private func endItem() throws(TransferError) {
        guard let item = current else { return }
        if item.isTree {
            try leaveFolders(without: nil)
            try transfer.folderClosed(nil, modified: item.modified)
        }
        try transfer.endItem(digest: nil)
        current = nil
    }

    private func takeFile(
        _ member: CPIOReader.Member, at path: SafeRelativePath?, _ start: [UInt8]
    ) throws(TransferError) {
        try transfer.beginFile(
            FileEntry(path: path, executable: member.executable, modified: member.modified, size: member.size))
        if !start.isEmpty {
            try ByteBuffer(bytes: start).withUnsafeReadableBytes { (bytes) throws(TransferError) in
                try transfer.write(bytes)
            }
        }
        while let bytes = try archive.data() { try transfer.write(bytes) }
        try transfer.endFile(digest: nil)
    }

    // MARK: Folders

    private func enterFolder(of path: SafeRelativePath) throws(TransferError) {
        try leaveFolders(without: path)
        try makeFolders(above: path)
    }

    /// Closes the open folders that do not contain `path`, innermost first; nil closes all.
    private func leaveFolders(without path: SafeRelativePath?) throws(TransferError) {
        while let last = current?.open.last, path.map({ !$0.isBelow(last.path) }) ?? true {
            current?.open.removeLast()
            if last.modified != nil { try transfer.folderClosed(last.path, modified: last.modified) }
        }
    }

    private func makeFolders(above path: SafeRelativePath) throws(TransferError) {
        guard let parent = path.parent, current?.folders.contains(parent) == false else { return }
        var missing: [SafeRelativePath] = []
        var next: SafeRelativePath? = parent
        while let folder = next, current?.folders.contains(folder) == false {
            missing.append(folder)
            next = folder.parent
        }
        for folder in missing.reversed() { try makeFolder(folder, modified: nil) }
    }

    private func makeFolder(_ path: SafeRelativePath, modified: Timestamp?) throws(TransferError) {
        if current?.folders.insert(path).inserted == true {
            current?.folderBytes += path.text.utf8.count
            guard current?.folderBytes ?? 0 <= AirDropLimits.folderPathBytes else {
                throw .malformed("more folders than can be remembered")
            }
            try transfer.folder(path)
        } else {
            try ignore()
        }
        current?.open.append((path, modified))
    }

    // MARK: Skipped entries

    /// Apple's sender adds sidecars for metadata that Linux file systems do not store: resource forks and Finder data.
    private static let sidecarMagic: [UInt8] = [0x00, 0x05, 0x16, 0x07]

    /// - Parameter beginning: number of its bytes that have been read.
    private func ignoreContents(beginning: Int) throws(TransferError) {
        try ignore()
        ignoredBytes += UInt64(beginning)
        while let bytes = try archive.data() {
            ignoredBytes += UInt64(bytes.count)
            guard ignoredBytes <= AirDropLimits.ignoredBytes else { throw .malformed("too much beside the contents") }
        }
    }

    private func ignore() throws(TransferError) {
        ignoredMembers += 1
        guard ignoredMembers <= Limits.entriesPerItem else { throw .malformed("too much beside the contents") }
    }

    /// Leaves out an entry that cannot be stored; the other entries are unaffected.
    private func leaveOut(_ entry: String, _ reason: some CustomStringConvertible) throws(TransferError) {
        remarks.leftOut(entry, reason)
        try passOver()
    }

    /// Skips a member of an item that was not accepted: AirDrop's answer cannot decline single items.
    private func passOver() throws(TransferError) {
        try ignore()
        while try archive.data() != nil {}
    }
}
