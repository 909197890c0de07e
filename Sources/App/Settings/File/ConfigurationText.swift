import Foundation
import SystemCalls

/// The text of a configuration file, within its limits.
package struct ConfigurationText: Sendable {
    /// Bytes of a configuration file; people write a few hundred.
    package static let maximumBytes = 1 << 20

    package let path: String
    package let text: String

    package init(path: String, text: String) {
        (self.path, self.text) = (path, text)
    }

    /// Reads a file; a link is followed.
    ///
    /// - Returns: nil if there is no file.
    /// - Throws: `Settings.InvalidError` for a file that is unreadable, larger than `maximumBytes`, or not UTF-8.
    package init?(path: String) throws(Settings.InvalidError) {
        var status = stat()
        guard stat(path, &status) == 0 || errno != ENOENT && errno != ENOTDIR else { return nil }
        let bytes: [UInt8]
        do {
            guard let real = realpath(path, nil) else { throw SystemError.last }
            defer { free(real) }
            bytes = try SmallFile.read(String(cString: real), limit: Self.maximumBytes)
        } catch SmallFile.AccessError.tooLarge {
            throw Self.unusable(path, "is larger than 1 MiB, and cannot be a configuration")
        } catch SmallFile.AccessError.notRegular {
            throw Self.unusable(path, "is not a regular file")
        } catch let SmallFile.AccessError.system(error) {
            throw Self.unusable(path, "cannot be read: \(error)")
        } catch {
            throw Self.unusable(path, "cannot be read: \(error)")
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw Self.unusable(path, "is not UTF-8 text")
        }
        self.init(path: path, text: text)
    }

    private static func unusable(_ path: String, _ words: String) -> Settings.InvalidError {
        Settings.InvalidError(file: path, [Settings.InvalidError.Fault(words)])
    }
}
