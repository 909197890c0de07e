import Glibc
import Sharing
import SystemCalls

/// Walks through a folder once before the offer: counts its entries, and finds every entry that cannot be sent.
enum TreeCount {
    /// - Parameter leftOut: called with each entry that cannot be sent and is left out, in walk order.
    /// - Returns: the amounts, and what the folder needs of the disk that receives it.
    /// - Throws: one fault for the entries that cannot be sent, in walk order: path, reason and advice for each.
    static func totals(
        of root: consuming FileDescriptor, origin: String, selection: TreeSelection = .everything,
        leftOut: @escaping (SourceError) -> Void = { _ in }
    ) throws(SourceError) -> (TreeTotals, DiskNeeds) {
        let user = geteuid()
        let walk = try FolderWalk(root, origin: origin, isOffered: false, selection: selection)
        walk.leftOut = leftOut
        var totals = TreeTotals()
        var (needs, alike) = (DiskNeeds(), AlikeNames())
        var found: SourceError?
        while true {
            do throws(SourceError) {
                guard let step = try walk.next() else { break }
                if try totals.count(step, of: walk, for: user) {
                    needs.add(step, &alike)
                    continue
                }
            } catch {
                // The walk continues after the entry that failed.
                if selection.skipsUnsendable {
                    leftOut(error)
                    continue
                }
                guard var faults = found else {
                    found = error
                    continue
                }
                let hasRoom = faults.add(error)
                found = faults
                if hasRoom { continue }
                break
            }
            throw found ?? TreeTotals.tooMuch(origin)
        }
        if let found { throw found }
        return (totals, needs)
    }
}

extension DiskNeeds {
    fileprivate mutating func add(_ step: FolderWalk.Step, _ names: inout AlikeNames) {
        switch step {
        case .folder(let path):
            add(path.name, isFile: false)
            if names.add(path.name) { alike = true }
            names.enter()
        case .file(let path):
            add(path.name)
            if names.add(path.name) { alike = true }
        case .link(let path, _):
            links = true
            add(path.name, isFile: false)
            if names.add(path.name) { alike = true }
        case .folderClosed:
            names.leave()
        }
    }
}
