import Glibc
import SystemCalls

/// Changes a configuration file as a whole: readers see the old text or the new one, also after a crash.
package enum ConfigurationWriting {
    /// Why a file could not be written: one line.
    package struct Failure: Error, CustomStringConvertible {
        package let description: String
    }

    /// Reads a file, changes its text, and replaces it, while no other process does so.
    ///
    /// A link in the last place of the path is followed once, and stays. The new file has the mode of the old one; a file
    /// that was missing gets 0600.
    /// - Parameter change: the new text; the same text if nothing is to be written. A missing file
    ///   has the text of the template.
    /// - Returns: the old text.
    /// - Throws: `Failure`, `Settings.InvalidError` for a file that is not read, or an error of `change`.
    @discardableResult
    package static func change(
        _ path: String, _ change: (ConfigurationText) throws -> ConfigurationText
    ) throws -> ConfigurationText {
        let target = try target(of: path)
        let folder = SmallFile.folder(of: target)
        do {
            let lock = try FolderLock.taking(folder)
            let result = Result { try replace(path, target, change) }
            lock.release()
            return try result.get()
        } catch let error as SystemError {
            throw Failure(description: "\(path) cannot be written: \(error)")
        }
    }

    private static func replace(
        _ path: String, _ target: String, _ change: (ConfigurationText) throws -> ConfigurationText
    ) throws -> ConfigurationText {
        removeRemains(of: target, in: SmallFile.folder(of: target))
        let old = try ConfigurationText(path: path) ?? ConfigurationText(path: path, text: ConfigurationTemplate.text)
        let new = try change(old)
        guard new.text != old.text else { return old }
        var status = stat()
        let mode = stat(target, &status) == 0 ? status.st_mode & 0o7777 : 0o600
        try SmallFile.replace(target, with: Array(new.text.utf8), exactly: mode)
        return old
    }

    private static func target(of path: String) throws(Failure) -> String {
        guard let target = link(path) else { return path }
        let whole = target.hasPrefix("/") ? target : SmallFile.folder(of: path) + "/" + target
        guard link(whole) == nil else {
            throw Failure(description: "\(path) is a link to a link, which is not followed; write to \(whole)")
        }
        return whole
    }

    private static func link(_ path: String) -> String? {
        var bytes = [CChar](repeating: 0, count: Int(PATH_MAX) + 1)
        let count = readlink(path, &bytes, bytes.count - 1)
        guard count > 0 else { return nil }
        return String(decoding: bytes.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// Removes the temporary files of processes that were killed. None of them runs, as this one has the lock.
    private static func removeRemains(of target: String, in folder: String) {
        guard let directory = opendir(folder) else { return }
        defer { closedir(directory) }
        let start = ".\(SmallFile.name(of: target))."
        while let entry = readdir(directory) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name.hasPrefix(start), name.dropFirst(start.count).allSatisfy(\.isNumber) { unlink(folder + "/" + name) }
        }
    }
}
