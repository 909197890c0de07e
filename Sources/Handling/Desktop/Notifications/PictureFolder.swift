import Foundation
import Glibc
import Sharing
import Synchronization
import SystemCalls

/// The pictures of notifications: files that only the user can read, each for as long as its notification is there.
package final class PictureFolder: Sendable {
    private let path: String
    private let last = Atomic(0)

    /// Removes the pictures of an earlier process.
    ///
    /// - Parameter path: absolute, of a folder that nothing else uses; its parent must be there.
    package init(path: String) {
        self.path = path
        for name in (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? [] { unlink(path + "/" + name) }
    }

    /// Writes a picture.
    /// - Returns: its file; nil if it cannot be written. A notification without its picture is a whole one.
    func write(_ preview: ItemPreview) -> PictureFile? {
        let number = last.add(1, ordering: .relaxed).newValue
        let file = "\(path)/\(number).\(preview.isJPEG ? "jpg" : "png")"
        do throws(SystemError) {
            if mkdir(path, 0o700) != 0, errno != EEXIST { return nil }
            let descriptor = try FileDescriptor.opening(file, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode: 0o600)
            let picture = PictureFile(path: file)
            try SmallFile.write(preview.bytes, to: descriptor.raw)
            return picture
        } catch {
            return nil
        }
    }
}

/// A picture on the disk; its deinit removes it.
final class PictureFile: Sendable {
    let path: String

    init(path: String) { self.path = path }

    deinit {
        unlink(path)
    }
}
