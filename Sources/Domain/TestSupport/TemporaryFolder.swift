import Foundation

/// A folder of a test's own, 0700, removed with all its contents when the test releases it.
///
/// Its path is short: the address of a Unix socket must fit.
package final class TemporaryFolder: Sendable {
    package let path: String

    /// - Parameter place: on the file system that the test wants.
    package init(in place: String = "/tmp") {
        var template = Array("\(place)/waft.XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else {
            preconditionFailure("no temporary folder can be made in \(place): \(String(cString: strerror(errno)))")
        }
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)
    }

    package static func / (folder: TemporaryFolder, name: String) -> String { folder.path + "/" + name }

    /// Writes a file and returns its path.
    @discardableResult
    package func file(_ name: String, _ text: String = "", mode: Int = 0o644) -> String {
        let path = self / name
        let isWritten = FileManager.default.createFile(
            atPath: path, contents: Data(text.utf8), attributes: [.posixPermissions: mode])
        precondition(isWritten, "\(path) cannot be written")
        return path
    }

    /// Writes a program and returns its path.
    @discardableResult
    package func program(_ name: String, _ text: String) -> String {
        Self.writeProgram(self / name, text)
        return self / name
    }

    /// Writes a program.
    ///
    /// Another process writes it. A child that another test forks meanwhile would hold this process's descriptor, and the
    /// kernel runs no file that is open for writing (ETXTBSY).
    package static func writeProgram(_ path: String, _ text: String) {
        guard let writer = popen("umask 022; cat >'\(path)' && chmod 755 '\(path)'", "we") else {
            preconditionFailure("no shell can be started")
        }
        fputs(text, writer)
        precondition(pclose(writer) == 0, "\(path) cannot be written")
    }

    /// The names in it, hidden ones too, in order.
    package var names: [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []).sorted()
    }
}
