import CArchiveShims
import Sharing

/// libarchive, which is loaded at the first archive and stays.
enum ArchiveLibrary {
    /// Its name by its interface, which has been the same since 2012; programs that are linked look for this name too.
    static let fileName = "libarchive.so.13"

    private static let loaded = Result { () throws(TransferFault) in try load(fileName) }

    /// Its functions, by their own names.
    /// - Throws: `unexpected` where it is not installed, in words for the user.
    static func functions() throws(TransferFault) -> CArchiveShims_Functions { try loaded.get() }

    /// Loads a library of that name, each time.
    static func load(_ name: String) throws(TransferFault) -> CArchiveShims_Functions {
        try withUnsafeTemporaryAllocation(of: CArchiveShims_Functions.self, capacity: 1) {
            (room) throws(TransferFault) in
            guard let functions = room.baseAddress else { throw TransferFault(.unexpected, "there is no memory") }
            if let reason = CArchiveShims_load(name, functions) {
                throw TransferFault(
                    .unexpected, "AirDrop needs libarchive, which cannot be loaded: \(String(cString: reason))")
            }
            return functions.pointee
        }
    }
}
