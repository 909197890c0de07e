import Glibc
import Inbox
import Lines
package import Settings
import Sharing
import Synchronization
import SystemCalls

/// The clear copy of a sealed item, for a program that a person has chosen. It lies in memory; the receiver removes it when
/// it locks or ends.
package enum ClearDocument {
    /// A holder of copies, beside the handlers.
    package enum Reader: Sendable {
        /// The applications that a person chooses, all together: a copy stays after the verb, and is the same for all.
        case applications
        /// This process, which removes its copy at its end. Others that read the same item keep theirs.
        case thisProcess

        fileprivate var program: String {
            switch self {
            case .applications: "org.waft.documents"
            case .thisProcess: "\(Self.prefix)\(getpid())"
            }
        }

        private static let prefix = "org.waft.documents-"

        fileprivate static func isProcess(_ program: String) -> Bool { program.hasPrefix(prefix) }
    }

    /// The folder of this process, locked while it lives.
    private static let held = Mutex<OpenFolder?>(nil)

    /// Removes the copies that dead processes of this home have left.
    package static func removeDead(_ home: Home) {
        ClearFolder.removeDead(candidates: home.clearFolders, isOwn: Reader.isProcess)
    }

    /// - Throws: `WaftError`: `locked`; `noRoom` for an item that does not fit in memory.
    static func path(
        of arrival: Arrival, for reader: Reader, in waft: Waft, keys: FileKeys
    ) throws(WaftError) -> String {
        let program = reader.program
        func tooLarge(_ reason: String) -> WaftError {
            WaftError(
                .noRoom, "\(DocumentName(arrival).head): \(reason)", hint: "take it out with: waft inbox take")
        }
        let noFolder = "no folder in memory can hold its clear copy"
        guard let folder = ClearFolder(candidates: waft.home.clearFolders, isSwept: false) else {
            throw tooLarge(noFolder)
        }
        let most = waft.settings.clearQuota ?? folder.free / 2
        guard arrival.size <= most else {
            throw tooLarge("its clear copy takes more than \(ByteCount.text(most)) of memory (clearQuota)")
        }
        let inbox = try waft.trustedInbox
        let isThere =
            switch reader {
            case .applications: folder.folder(of: program) != nil
            case .thisProcess:
                held.withLock { held in
                    if held == nil { held = folder.hold(program) }
                    return held != nil
                }
            }
        guard isThere else { throw tooLarge(noFolder) }
        do throws(LeavingError) {
            return switch reader {
            case .applications: try folder.sharedCopy(arrival, inbox: inbox, keys: keys, for: program)
            case .thisProcess: try folder.copy(arrival, inbox: inbox, keys: keys, for: program)
            }
        } catch {
            if case .thisProcess = reader { end(program, in: folder) }
            throw WaftError(error)
        }
    }

    /// Removes the copy of this process.
    static func end(in home: Home) {
        guard let folder = ClearFolder(candidates: home.clearFolders, isSwept: false) else { return }
        end(Reader.thisProcess.program, in: folder)
    }

    private static func end(_ program: String, in folder: ClearFolder) {
        folder.end(program)
        held.withLock { $0 = nil }
    }
}

/// A file that an operation makes where the user says. No file is replaced.
package enum NewFile {
    /// - Throws: `WaftError`: `usage` if there is a file already, or no folder; `noRoom`. Nothing of the new file is left.
    package static func write(_ bytes: [UInt8], to path: String) throws(WaftError) {
        do throws(SystemError) {
            let file = try FileDescriptor.opening(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode: 0o666)
            do throws(SystemError) {
                try SmallFile.write(bytes, to: file.raw)
            } catch {
                unlink(path)
                throw error
            }
        } catch {
            switch error.number {
            case EEXIST:
                throw WaftError(
                    .usage, "\(path) is there already, and no file is replaced", hint: "give another name")
            case ENOENT, ENOTDIR:
                throw WaftError(.usage, "\(path): its folder is not there", hint: "make the folder first")
            case ENOSPC, EDQUOT: throw WaftError(.noRoom, "\(path) cannot be written (\(error))")
            default: throw WaftError(.unexpected, "\(path) cannot be written (\(error))")
            }
        }
    }
}
