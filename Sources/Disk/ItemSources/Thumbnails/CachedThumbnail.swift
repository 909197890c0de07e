import ContentCheck
import Digests
import Foundation
import Glibc
package import Sharing
import SystemCalls

/// The thumbnails that the desktop has made of files: the Thumbnail Managing Standard of freedesktop.org.
package enum CachedThumbnail {
    /// The sizes of thumbnails, the better one first: 256 and 128 pixels.
    private static let sizes = ["large", "normal"]

    /// The cache of this user; nil without a home.
    package static func folder(_ environment: [String: String]) -> String? {
        if let cache = environment["XDG_CACHE_HOME"], PathText.isAbsolute(cache) { return cache + "/thumbnails" }
        return environment["HOME"].flatMap { PathText.isAbsolute($0) ? $0 + "/.cache/thumbnails" : nil }
    }

    /// Finds the thumbnail of a file. Blocks on the disk.
    ///
    /// - Parameters:
    ///   - path: of the file; a relative one is taken from the working directory.
    ///   - folder: of the cache.
    /// - Returns: nil if there is none that fits into an offer, and if it was made of an earlier state of the file.
    package static func find(of path: String, in folder: String) -> ItemPreview? {
        let address = uri(URL(fileURLWithPath: path).standardizedFileURL.path)
        var status = stat()
        guard stat(path, &status) == 0, let name = MD5.hexadecimal(address) else { return nil }
        for size in sizes {
            guard let bytes = try? SmallFile.read("\(folder)/\(size)/\(name).png", limit: Limits.previewBytes) else {
                continue
            }
            let texts = PNGTexts.all(in: bytes)
            guard texts["Thumb::URI"] == address, texts["Thumb::MTime"] == String(status.st_mtim.tv_sec) else {
                continue
            }
            if let preview = ItemPreview(bytes) { return preview }
        }
        return nil
    }

    /// The URI of a path as GLib writes it: the cache's names are made of these.
    static func uri(_ path: String) -> String {
        let kept = Set("!$&'()*+,-./:=@_~0123456789".utf8)
        return path.utf8.reduce(into: "file://") { text, byte in
            let isLetter = (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
            if isLetter || kept.contains(byte) {
                text.unicodeScalars.append(Unicode.Scalar(byte))
            } else {
                text += "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
            }
        }
    }
}
