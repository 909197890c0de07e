import Foundation
import TestSupport

/// A session at a shell, as a document prints it.
struct PrintedSession: Sendable {
    struct Step: Sendable {
        /// The machine before the prompt, as in `kitchen$ `.
        var machine: String
        var command: String
        var output: [String]
    }

    /// Path and first line, below the root of the repository.
    let place: String
    /// The lines before the first prompt; in a dialogue all lines.
    private(set) var lead: [String] = []
    private(set) var steps: [Step] = []

    /// The first words of the block; tests find it by them.
    var title: String { steps.first?.command ?? lead.first ?? "" }

    private init(_ block: CodeBlock, in document: String) {
        place = "\(document):\(block.line)"
        for text in block.lines {
            if let prompt = text.prefixMatch(of: /(\w*)\$ (.*)/) {
                let command = prompt.2.split(separator: "  #", maxSplits: 1)[0].trimmingCharacters(in: .whitespaces)
                steps.append(Step(machine: String(prompt.1), command: command, output: []))
            } else if steps.isEmpty {
                lead.append(text)
            } else {
                steps[steps.count - 1].output.append(text)
            }
        }
    }

    /// The blocks with a prompt or a question.
    static func all() throws -> [PrintedSession] {
        try UserDocument.all.flatMap { document in
            try CodeBlock.all(in: document).map { PrintedSession($0, in: document) }
        }.filter { session in !session.steps.isEmpty || session.lead.contains { $0.contains("[y/n]") } }
    }

    /// The only block with these first words.
    static func named(_ title: String) throws -> PrintedSession {
        let whole = try all().filter { $0.title == title }
        let found = whole.isEmpty ? try all().filter { $0.title.hasPrefix(title) } : whole
        guard found.count == 1, let session = found.first else {
            throw EventLog.Ended(description: "the documents have \(found.count) blocks that begin with: \(title)")
        }
        return session
    }
}

/// Replaces values that vary from run to run by a mark of their kind, in a document and in the real output.
enum Comparable {
    private typealias Rule = (pattern: String, mark: String)

    private static let rules: [Rule] = [
        (#"\e\[[0-9;]*[A-Za-z]"#, ""),
        (#"\b[0-9a-z]{4}(-[0-9a-z]{4}){3}\b"#, "KEY"),
        (#"\bport \d+"#, "port PORT"),
        (#"\b[\d.]+ [kMGTP]?B free\b"#, "ROOM free"),
        (#"\b\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\b"#, "TIME"),
        (#"\b\d{3}-\d{3}-\d{3}\b"#, "CODE"),
        (#"\b\d{1,2}(-[a-z]{3,}){2}\b"#, "CODE"),
        // Shown only if the arrival is some seconds old.
        (#"; last touched TIME"#, ""),
        (#"(?m)^    \d{3} \d{3}(    [a-z]+ [a-z]+ [a-z]+)$"#, "    DIGITS"),
        (#"Landlock ABI \d+"#, "Landlock ABI N"),
        // `ls -l`: blocks, links, owner, group and date.
        (#"(?m)^total \d+$"#, "total BLOCKS"),
        (#"(?m)^(-[rwx-]{9})\S* +\d+ +\S+ +\S+ +(\d+) +\w{3} +\d+ +[\d:]+ "#, "$1 1 me me $2 DATE "),
        (#"(?m) +$"#, ""),
    ]

    /// - Parameters:
    ///   - home: stands for `/home/me`.
    ///   - isDialogue: the user's answers are removed: a terminal without echo shows none, and no newline either.
    static func text(_ text: String, home: String = "/home/me", isDialogue: Bool = false) -> String {
        var text = text.replacing("\r\n", with: "\n").replacing(home, with: "/home/me")
        if isDialogue { text = text.replacing(#/(\[y/n\]|machine:) ?(?:y|[\d-]+)?\n?/#) { "\($0.1) " } }
        for rule in rules {
            text = text.replacingOccurrences(of: rule.pattern, with: rule.mark, options: .regularExpression)
        }
        return text.trimmingCharacters(in: .newlines)
    }
}
