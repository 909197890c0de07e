import Foundation
import SystemCalls

/// The values that the user has set for one handler: a JSON object by the keys of the settings, in Waft's own
/// configuration, where no handler reads or writes.
///
/// People may edit it, and bundles change: reading passes over everything that is no value.
struct HandlerSettingsFile: Hashable, Sendable {
    /// Absolute.
    let path: String

    /// The values, and why the file cannot be used. A missing file has none of both.
    func read() -> (values: [String: HandlerSettingValue], problem: String?) {
        let bytes: [UInt8]
        do throws(SmallFile.AccessError) {
            bytes = try SmallFile.read(path, limit: CatalogLimits.documentBytes)
        } catch {
            switch error {
            case .missing: return ([:], nil)
            case .tooLarge: return ([:], "is larger than \(CatalogLimits.documentBytes >> 10) KiB")
            case .link: return ([:], "is a symbolic link")
            case .notRegular: return ([:], "is not a regular file")
            case .system(let error): return ([:], "cannot be read: \(error)")
            }
        }
        guard let found = try? JSONDecoder().decode([String: Found].self, from: Data(bytes)) else {
            return ([:], "is not a JSON object")
        }
        return (found.compactMapValues(\.value), nil)
    }

    /// Changes the values. Waits while another process changes them. A file that cannot be used is first set aside.
    ///
    /// - Throws: the kernel's error; `EFBIG` if the values would be too large together.
    func change(_ body: (inout [String: HandlerSettingValue]) -> Void) throws(SystemError) {
        let lock = try FolderLock.taking(Paths.folder(of: path))
        var (values, problem) = read()
        if problem != nil { _ = try DamagedFile.setAside(path) }
        let old = values
        body(&values)
        guard values != old else { return }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        guard let data = try? encoder.encode(values) else { throw SystemError(EINVAL) }
        guard data.count < CatalogLimits.documentBytes else { throw SystemError(EFBIG) }
        try SmallFile.replace(path, with: Array(data) + [UInt8(ascii: "\n")], exactly: 0o600)
        lock.release()
    }

    /// - Returns: whether there was one.
    /// - Throws: the kernel's error.
    func remove() throws(SystemError) -> Bool {
        guard Paths.isThere(path) else { return false }
        let lock = try FolderLock.taking(Paths.folder(of: path))
        if unlink(path) != 0, errno != ENOENT { throw .last }
        lock.release()
        return true
    }

    /// A value of the object; nil for one that no setting has.
    private struct Found: Decodable {
        let value: HandlerSettingValue?

        init(from decoder: any Decoder) throws {
            value = try? HandlerSettingValue(from: decoder)
        }
    }
}
