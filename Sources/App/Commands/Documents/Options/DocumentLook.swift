import Foundation
import Glibc
import UniformTypes

/// The result of a look into a document. No other program was asked.
struct DocumentLook {
    /// The type of its content.
    let type: UniformType
    /// How the content contradicts the declared type: a line, escaped.
    let warning: String?
    /// Whether no program may get it.
    let isLying: Bool
    /// Whether there is a preview.
    let isShowable: Bool
    let isText: Bool
    /// Whether it begins as a `.desktop` file does. Its name does not count.
    let isLauncher: Bool

    /// Texts and images are copied as data, all else as the place of the file.
    func copied(_ subject: DocumentSubject) -> Clipboard.Content {
        let mimeType = isText ? Clipboard.Content.text : warning == nil ? Clipboard.Content.images[type] : nil
        if let mimeType, let bytes = Self.bytes(of: subject) {
            return Clipboard.Content(mimeType: mimeType, bytes: bytes)
        }
        let url = URL(fileURLWithPath: subject.path, isDirectory: subject.isFolder).absoluteString
        return Clipboard.Content(mimeType: "text/uri-list", bytes: Array((url + "\r\n").utf8))
    }

    /// - Returns: nil for a folder, a large file, and one that cannot be read.
    private static func bytes(of subject: DocumentSubject) -> [UInt8]? {
        guard !subject.isFolder, let (file, size) = try? subject.open() else { return nil }
        defer { close(file) }
        guard size <= Clipboard.Content.dataBytes else { return nil }
        var failed = false
        let bytes = [UInt8](unsafeUninitializedCapacity: Int(size)) { buffer, count in
            while count < buffer.count {
                let more = pread(file, buffer.baseAddress! + count, buffer.count - count, off_t(count))
                if more < 0, errno == EINTR { continue }
                failed = failed || more < 0
                guard more > 0 else { return }
                count += more
            }
        }
        return failed ? nil : bytes
    }
}
