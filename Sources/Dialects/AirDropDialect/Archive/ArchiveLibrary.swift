import CArchiveShims
import Sharing

/// Loads libarchive for the first archive, and keeps it.
enum ArchiveLibrary {
    private static let loaded = Result { () throws(TransferError) in try load(CARCHIVE_SHIMS_LIBRARY) }

    /// The library's functions, by their own names.
    /// - Throws: `unexpected`, with a message for the user, if the library is not installed.
    static func functions() throws(TransferError) -> CArchiveShims_Functions { try loaded.get() }

    /// Loads a library with this name at each call.
    static func load(_ name: String) throws(TransferError) -> CArchiveShims_Functions {
        try withUnsafeTemporaryAllocation(of: CArchiveShims_Functions.self, capacity: 1) {
            (room) throws(TransferError) in
            guard let functions = room.baseAddress else { throw TransferError(.unexpected, "there is no memory") }
            if let reason = CArchiveShims_load(name, functions) {
                throw TransferError(
                    .unexpected, "AirDrop needs libarchive, which cannot be loaded: \(String(cString: reason))")
            }
            return functions.pointee
        }
    }
}
