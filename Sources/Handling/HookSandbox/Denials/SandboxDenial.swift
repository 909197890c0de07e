import Glibc
import SystemCalls

/// An access that the sandbox seems to have refused, guessed from the hook's messages: the kernel tells only the hook.
package struct SandboxDenial: Hashable, Sendable, CustomStringConvertible {
    /// The user's remedy for a denial.
    package enum Remedy: Hashable, Sendable {
        /// To let the hook write in this folder, or to this file.
        case allow(path: String)
        /// To let the hook read or write this file or folder: the message does not say which of the two it tried.
        case allowReading(path: String)
        /// None: this is one of Waft's own folders.
        case leaveWaft
        /// To write in the hook's data folder: its bundle is read-only.
        case useData
        /// To give the hook its own folder: the denied folder cannot be writable, or is too large a permission.
        case folderOfItsOwn
        /// None: a hook can only read, move out and remove the contents of the Inbox.
        case leaveInbox
        /// To copy and then remove, as mv(1) does: the kernel denies a rename that would make a file writable.
        case copyOutOfInbox
    }

    /// Maximum number of bytes read from the end of a hook's standard error.
    package static let longestTail = 65_536
    /// Maximum number of reported denials.
    package static let maximumDenials = 8

    /// The refused path, an absolute path as the hook printed it. It is the hook's text: escape it for every output.
    package let path: String
    /// The user's remedy for it.
    package let remedy: Remedy

    /// The kind of program, which decides how the user names a writable folder.
    package enum Owner: Hashable, Sendable, CaseIterable {
        /// A handler's bundle: by a flag of `waft handlers add`.
        case bundle
        /// The configuration's own hook: by `hookWritable` in `config.yaml`.
        case configuredHook
    }

    /// One line for the log of a bundle's program.
    package var description: String { text(for: .bundle) }

    /// One line for the hook's log.
    package func text(for owner: Owner) -> String {
        switch remedy {
        case .allow(let place):
            "the sandbox seems to have refused a write to \(path): to allow it, add \(Self.permission(place, owner))"
        case .allowReading(let place):
            "the sandbox seems to have refused \(path): to allow reading it, add \(Self.permission(place, owner, .reading)); "
                + "to allow writing too, \(Self.permission(place, owner))"
        case .leaveWaft:
            "the sandbox refused \(path): Waft's own folders are closed to handlers, and no flag opens them"
        case .useData:
            "the sandbox refused a write to \(path): a handler's bundle is read-only; write in the folder that WAFT_DATA names"
        case .folderOfItsOwn:
            "the sandbox seems to have refused a write to \(path): make a folder for what this handler writes, "
                + "and add \(Self.permission(nil, owner))"
        case .leaveInbox:
            "the sandbox seems to have refused a write to \(path): files in the Inbox can be read, moved out and "
                + "removed, not written"
        case .copyOutOfInbox:
            "the sandbox refused to rename \(path) out of the Inbox: copy it and then remove it, as mv does"
        }
    }

    private enum Access: String {
        case reading = "readable"
        case writing = "writable"
    }

    /// - Parameter place: nil for any place.
    private static func permission(_ place: String?, _ owner: Owner, _ access: Access = .writing) -> String {
        switch owner {
        case .bundle:
            return "--\(access.rawValue) " + (place.map(ShellWord.quoted) ?? "FOLDER")
        case .configuredHook:
            let key = "hook" + access.rawValue.prefix(1).uppercased() + access.rawValue.dropFirst()
            return key + ": [" + (place.map(quotedForYAML) ?? "FOLDER") + "] to config.yaml"
        }
    }

    /// The denials that a hook's standard error reports, each path once.
    ///
    /// This is a guess, for people to read: other causes have the same messages.
    ///
    /// - Parameters:
    ///   - standardError: its end; no more than ``longestTail`` bytes of it are read.
    ///   - plan: the plan of the hook's sandbox.
    package static func denials(in standardError: String, plan: SandboxPlan) -> [SandboxDenial] {
        guard plan.level != .none else { return [] }
        var found: [SandboxDenial] = []
        let tail = String(decoding: standardError.utf8.suffix(longestTail), as: UTF8.self)
        for line in tail.split(whereSeparator: \.isNewline) {
            guard let complaint = Complaint(line), let denial = SandboxDenial(complaint, plan: plan),
                !found.contains(where: { $0.path == denial.path })
            else { continue }
            found.append(denial)
            if found.count == maximumDenials { break }
        }
        return found
    }

    private init?(_ complaint: Complaint, plan: SandboxPlan) {
        if complaint.isCrossDevice {
            guard let source = complaint.paths.first, Self.isBeneath(source, plan.inbox) else { return nil }
            path = source
            remedy = .copyOutOfInbox
            return
        }
        let writable = [plan.dataFolder, plan.temporaryFolder] + plan.writablePaths
        // If a line names two paths, the second is the destination. A script's message also names the script.
        let programs = [plan.executable] + plan.readablePaths.filter { !Self.isFolder($0) }
        let candidates = complaint.paths.filter { !programs.contains($0) }
        guard let denied = candidates.last(where: { path in !writable.contains { Self.isBeneath(path, $0) } })
        else { return nil }
        path = denied
        if Self.isBeneath(denied, plan.inbox) {
            remedy = .leaveInbox
            return
        }
        if plan.forbiddenPlaces.contains(where: { $0 != plan.bundle && Self.isBeneath(denied, $0) }) {
            // The hook's own bundle is inside the handlers' folder, which is closed.
            remedy = Self.isBeneath(denied, plan.bundle) ? .useData : .leaveWaft
            return
        }
        if Self.isBeneath(denied, plan.bundle) {
            remedy = .useData
            return
        }
        if !complaint.isOfWriting, access(denied, R_OK) == 0 {
            remedy = .allowReading(path: denied)
            return
        }
        let place = Self.isFolder(denied) ? denied : Self.parent(of: denied)
        // If the user may not write there either, the sandbox is not the cause, and no flag would help.
        guard access(place, W_OK) == 0 || access(denied, W_OK) == 0 else { return nil }
        remedy = Self.isTooMuch(place, plan: plan) ? .folderOfItsOwn : .allow(path: place)
    }

    private static func isBeneath(_ path: String, _ folder: String) -> Bool {
        path == folder || path.utf8.starts(with: (folder.utf8.last == UInt8(ascii: "/") ? folder : folder + "/").utf8)
    }

    /// Whether a folder cannot be made writable: it contains the Inbox, or is too large a permission for a hook.
    private static func isTooMuch(_ folder: String, plan: SandboxPlan) -> Bool {
        if folder == "/" || isBeneath(plan.inbox, folder) { return true }
        guard let home = getenv("HOME") else { return false }
        return folder == String(cString: home)
    }

    private static func isFolder(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }

    private static func parent(of path: String) -> String {
        let parts = path.utf8.split(separator: UInt8(ascii: "/")).map { Substring($0) }
        return "/" + parts.dropLast().joined(separator: "/")
    }

    /// The path as a YAML value.
    private static func quotedForYAML(_ path: String) -> String {
        ShellWord.isPlain(path) ? path : "'" + path.replacing(scalar: "'", with: "''") + "'"
    }
}
