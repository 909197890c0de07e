import Foundation
import Glibc
import Sharing
import SystemCalls

/// A program of the system that makes a small picture of a file, by its `.thumbnailer` file.
struct Thumbnailer: Hashable {
    /// Absolute path of the program.
    let program: String
    /// Its arguments, with `%i`, `%u`, `%o` and `%s` in them.
    private let words: [String]
    /// The types of files that it reads.
    let types: Set<String>

    private static let maximumBytes = 64 << 10
    private static let maximumFiles = 200

    /// - Parameter text: of a desktop entry file with a group `Thumbnailer Entry`.
    /// - Returns: nil if the entry is incomplete.
    init?(_ text: String) {
        var (keys, isInGroup) = ([String: String](), false)
        for line in text.split(whereSeparator: \.isNewline) {
            if line.hasPrefix("[") {
                isInGroup = line.trimmingCharacters(in: .whitespaces) == "[Thumbnailer Entry]"
            } else if isInGroup, let sign = line.firstIndex(of: "=") {
                let key = line[..<sign].trimmingCharacters(in: .whitespaces)
                keys[key] = line[line.index(after: sign)...].trimmingCharacters(in: .whitespaces)
            }
        }
        // Words with quotes are rare, and such a program is left out.
        guard let line = keys["Exec"], !line.contains(where: { "\"'\\`$".contains($0) }) else { return nil }
        var words = line.split(separator: " ").map(String.init)
        guard let program = words.first, PathText.isAbsolute(program) else { return nil }
        words.removeFirst()
        (self.program, self.words) = (program, words)
        types = Set((keys["MimeType"] ?? "").split(separator: ";").map { $0.lowercased() })
    }

    /// The entries that come before all others, in this order: those of the libraries and programs that desktops show
    /// pictures, documents and films with. So no package that brings another one decides which parser reads the files of
    /// strangers.
    private static let known = [
        "gdk-pixbuf-thumbnailer", "glycin-image-rs", "librsvg", "evince", "org.gnome.Evince", "org.gnome.Papers",
        "atril",
        "ffmpegthumbnailer", "totem",
    ].map { $0 + suffix }
    private static let suffix = ".thumbnailer"

    /// Reads all of a folder: the known ones first, and then the others by their names. Blocks on the disk.
    static func all(in folder: String) -> [Thumbnailer] {
        let found = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        let names = known.filter(found.contains) + found.filter { !known.contains($0) }.sorted()
        return names.filter { $0.hasSuffix(suffix) }.prefix(maximumFiles).compactMap { name in
            guard let bytes = try? SmallFile.read("\(folder)/\(name)", limit: maximumBytes),
                let thumbnailer = Thumbnailer(String(decoding: bytes, as: UTF8.self)),
                access(thumbnailer.program, X_OK) == 0
            else { return nil }
            return thumbnailer
        }
    }

    /// Its arguments for a file on its standard input and a picture on its standard output.
    func arguments(pixels: Int) -> [String] {
        words.map { word in
            var (result, isCode) = ("", false)
            for character in word {
                if isCode {
                    isCode = false
                    switch character {
                    case "i": result += "/dev/stdin"
                    case "u": result += "file:///dev/stdin"
                    case "o": result += "/dev/stdout"
                    case "s": result += String(pixels)
                    case "%": result += "%"
                    default: break
                    }
                } else if character == "%" {
                    isCode = true
                } else {
                    result.append(character)
                }
            }
            return result
        }
    }
}
