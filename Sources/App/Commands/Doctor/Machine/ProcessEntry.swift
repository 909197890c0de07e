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

    var user: uid_t? {
        var status = stat()
        return stat(folder, &status) == 0 ? status.st_uid : nil
    }

    /// The network namespace, as text; nil if it cannot be seen.
    var network: String? { Self.link(folder + "/ns/net") }

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
