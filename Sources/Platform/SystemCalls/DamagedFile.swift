import Glibc

/// Moves damaged files to a name with the current time, such as `contacts.json.damaged-20261123T233210Z`: a new file
/// can take their place, and none of their contents is lost.
package enum DamagedFile {
    private static let mark = ".damaged-"
    /// Maximum number of names to try in one second.
    private static let maximumTries = 1_000

    /// Moves away the file, folder or link at a path.
    ///
    /// - Parameter companions: endings of the names of files that belong to it; those are moved with it.
    /// - Returns: its new path.
    /// - Throws: the kernel's error; `EEXIST` if every name is taken. Files that were moved before it stay moved.
    package static func setAside(_ path: String, with companions: [String] = []) throws(SystemError) -> String {
        let base = path + mark + timestamp()
        for number in 1...maximumTries {
            let new = number == 1 ? base : "\(base)-\(number)"
            guard ([""] + companions).allSatisfy({ !isThere(new + $0) }) else { continue }
            for ending in [""] + companions where isThere(path + ending) {
                try systemCall { rename(path + ending, new + ending) }
            }
            try SmallFile.syncFolder(SmallFile.folder(of: path))
            return new
        }
        throw SystemError(EEXIST)
    }

    /// The names in a folder of files that were set aside from a file of that name, in the order of their times.
    package static func names(of file: String, in folder: String) -> [String] {
        guard let stream = opendir(folder) else { return [] }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name.hasPrefix(file + mark) { names.append(name) }
        }
        return names.sorted()
    }

    private static func isThere(_ path: String) -> Bool {
        var status = stat()
        return lstat(path, &status) == 0
    }

    private static func timestamp() -> String {
        var (now, parts) = (time(nil), tm())
        gmtime_r(&now, &parts)
        return withUnsafeTemporaryAllocation(of: CChar.self, capacity: 32) { buffer in
            let count = strftime(buffer.baseAddress.unsafelyUnwrapped, buffer.count, "%Y%m%dT%H%M%SZ", &parts)
            return String(decoding: UnsafeRawBufferPointer(buffer)[..<count], as: UTF8.self)
        }
    }
}
