import Foundation

/// The configuration file of the first start: every setting with its default, as comments.
package enum ConfigurationTemplate {
    /// Made from the rows of `SettingKey`, with an empty line between two groups.
    package static let text = ([wrapped(introduction)] + SettingKey.groups.map(block))
        .map { $0.joined(separator: "\n") + "\n" }.joined(separator: "\n")

    private static let introduction = """
        Settings of Waft. waftd uses a change at once. Command line options override \
        WAFT_... environment variables, and these override this file.
        """

    /// Characters of a line.
    private static let width = 117

    private static func block(_ keys: [SettingKey]) -> [String] {
        let single = keys.filter { !$0.isNested }.flatMap { wrapped(comment($0)) + entry($0) }
        return single + nested(keys.filter(\.isNested))
    }

    private static func comment(_ key: SettingKey) -> String {
        let variable = key.variable.map { key.kind == .list ? " (\($0), with commas)" : " (\($0))" } ?? ""
        let detail = key.detail.map { ": \($0)" } ?? ""
        let more = [key.note, key.otherwise.map { "Default: \($0)." }].compactMap(\.self).map { " \($0)" }
        return key.summary + variable + detail + "." + more.joined()
    }

    /// `#port: 9238`
    private static func entry(_ key: SettingKey) -> [String] {
        let value = key.value
        let text = "\(key.name):\(value.hasPrefix("\n") ? "" : " ")\(value)"
        return text.split(separator: "\n").map { "#\($0)" }
    }

    /// Settings of nested mappings: their comments, and one line for each inner setting or mapping.
    private static func nested(_ keys: [SettingKey]) -> [String] {
        var lines = keys.flatMap { wrapped(comment($0)) }
        let paths = keys.map { $0.name.split(separator: ".") }
        guard let outer = paths.first?.first else { return [] }
        lines.append("#\(outer):")
        let inners = paths.map { $0[1] }
        for (number, inner) in inners.enumerated() where inners.firstIndex(of: inner) == number {
            let rows = zip(keys, paths).filter { $1[1] == inner }
            let values = rows.map { $1.count > 2 ? "\($1[2]): \($0.value)" : $0.value }.joined(separator: ", ")
            lines.append("#  \(inner): \(rows[0].1.count > 2 ? "{\(values)}" : values)")
        }
        return lines
    }

    /// As comments, in lines of at most `width` characters.
    private static func wrapped(_ text: String) -> [String] {
        text.split(separator: "\n").flatMap { paragraph in
            if paragraph.hasPrefix(" ") { return ["# \(paragraph)"] }
            var lines = ["#"]
            for word in paragraph.split(separator: " ") {
                if lines[lines.count - 1].count + 1 + word.count > width { lines.append("#") }
                lines[lines.count - 1] += " \(word)"
            }
            return lines
        }
    }

    /// Writes it where no file is; never over one.
    /// - Returns: whether it was written.
    package static func writeIfMissing(at path: String) -> Bool {
        // A missing template is no reason not to start: errors are passed over. Half of one would be: it is given its name
        // when all of it is on the disk.
        guard access(path, F_OK) != 0 else { return false }
        let temporary = path + ".new"
        unlink(temporary)
        let file = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard file >= 0 else { return false }
        let handle = FileHandle(fileDescriptor: file, closeOnDealloc: true)
        // Not by a rename, which would replace what the user has written meanwhile.
        let isWhole = (try? handle.write(contentsOf: Data(text.utf8))) != nil && fsync(file) == 0
        defer { unlink(temporary) }
        return isWhole && link(temporary, path) == 0
    }
}

extension SettingKey {
    /// The value in the template.
    fileprivate var value: String { example ?? text(of: Settings(hostName: "")) ?? "" }
}
