import Foundation
import Glibc

/// A process of this machine, as proc(5) shows it.
struct ProcessEntry: Hashable {
    let id: Int32
    /// At most 15 bytes; the program chooses it.
    let name: String

    private var folder: String { "/proc/\(id)" }

    /// The processes that can be seen. Some may end meanwhile.
    static var all: [ProcessEntry] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
        return names.compactMap { Int32($0) }.sorted().compactMap { id in
            guard let text = try? String(contentsOfFile: "/proc/\(id)/comm", encoding: .utf8) else { return nil }
            return ProcessEntry(id: id, name: text.trimmingCharacters(in: .newlines))
        }
    }

    /// The words of its command line; empty for a process that has ended.
    var words: [String] { Self.texts(folder + "/cmdline") }

    /// A variable of its environment; nil if it is not set or cannot be read.
    func variable(_ name: String) -> String? {
        Self.texts(folder + "/environ").lazy.compactMap { text in
            text.hasPrefix(name + "=") ? String(text.dropFirst(name.count + 1)) : nil
        }.first
    }

    /// From a file that all can read: the folder of a process that none may look into belongs to root.
    var user: uid_t? {
        let text = (try? String(contentsOfFile: folder + "/status", encoding: .utf8)) ?? ""
        let line = text.split(separator: "\n").first { $0.hasPrefix("Uid:") }
        // Real, effective, saved and that of the file system.
        return line.flatMap { line in
            let words = line.split { $0 == "\t" || $0 == " " }
            return words.count > 2 ? uid_t(words[2]) : nil
        }
    }

    /// Whether only root may see its files.
    var isHidden: Bool { Self.link(folder + "/exe") == nil }

    /// The number of a table of the network namespace, which no other namespace has; nil if it cannot be seen. The
    /// link to the namespace is hidden of a process that none may look into.
    var network: UInt64? { Self.network(folder) }

    /// - Parameter folder: of a process.
    static func network(_ folder: String) -> UInt64? {
        var status = stat()
        return stat(folder + "/net/dev", &status) == 0 ? UInt64(status.st_ino) : nil
    }

    static func link(_ path: String) -> String? {
        var bytes = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = readlink(path, &bytes, bytes.count)
        return count > 0 ? String(decoding: bytes[..<count].map(UInt8.init(bitPattern:)), as: UTF8.self) : nil
    }

    /// Texts that end with NUL.
    private static func texts(_ path: String) -> [String] {
        let data = FileManager.default.contents(atPath: path) ?? Data()
        return data.split(separator: 0, omittingEmptySubsequences: false).map { String(decoding: $0, as: UTF8.self) }
            .dropLast()
    }
}
