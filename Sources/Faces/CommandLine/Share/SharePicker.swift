import Lines
import Operations
import Sharing

/// The share sheet with a marked row, as keys change it. Pure: `SharePrompt` draws it. Enter means the marked row, and the mark stays with
/// its row when peers come and go.
struct SharePicker {
    /// Shown above the question.
    static let hint = "Arrow keys and Enter choose. Or type a name, number or address. Esc gives up."
    /// Lines beside the rows: the hint, the question, and the one that the terminal keeps.
    private static let otherLines = 3
    /// Characters of the typed text.
    private static let maximumTyped = 255

    private(set) var sheet: ShareSheet
    private var typed = ""
    private var marked: Int?

    init(_ sheet: ShareSheet) { self.sheet = sheet }

    /// Fixes the rows, and marks the first.
    mutating func open() {
        _ = sheet.open(width: 0)
        markFirst()
    }

    /// A peer was found, or the facts about it changed.
    mutating func found(_ peer: SharePeers.Peer) {
        let wasEmpty = sheet.count == 0
        _ = sheet.found(peer)
        if sheet.isOpen, wasEmpty, typed.isEmpty { markFirst() }
    }

    mutating func gone(_ id: PeerID) { _ = sheet.gone(id) }

    /// A stranger is marked only by a key: a hasty Enter sends nothing to one.
    private mutating func markFirst() { marked = sheet.count > 0 && !sheet.isStranger(row: 0) ? 0 : nil }

    // MARK: Keys

    /// - Returns: the answer if the key gives one. After `unclear` the question is asked again.
    mutating func press(_ key: TerminalKey) -> ShareSheet.Answer? {
        switch key {
        case .enter:
            let answer = marked.map(sheet.answer(row:)) ?? sheet.answer(to: typed)
            if case .unclear = answer { type("") }
            return answer
        case .escape:
            if typed.isEmpty { return .givenUp }
            type("")
        case .end: return .givenUp
        case .text(let text): type(String((typed + text).prefix(Self.maximumTyped)))
        case .erase: type(String(typed.dropLast()))
        case .eraseAll: type("")
        case .first: marked = shown.first
        case .last: marked = shown.last
        case .up: move(by: -1)
        case .down: move(by: 1)
        }
        return nil
    }

    /// Marks the row of a name or a number, or else the first row that has the text. An address and `q` mark no row.
    private mutating func type(_ text: String) {
        typed = text
        if text.isEmpty { return markFirst() }
        marked = sheet.row(answering: text)
        guard marked == nil, case .unclear = sheet.answer(to: text), !sheet.isName(text) else { return }
        marked = (0..<sheet.count).first { sheet.has(text, in: $0) }
    }

    private mutating func move(by step: Int) {
        let rows = shown
        guard !rows.isEmpty else { return }
        let place = marked.flatMap { rows.firstIndex(of: $0) } ?? (step > 0 ? -1 : rows.count)
        marked = rows[(place + step + rows.count) % rows.count]
    }

    /// The rows that have the typed text, and the marked one; all if none has it.
    private var shown: [Int] {
        let all = Array(0..<sheet.count)
        let rows = all.filter { $0 == marked || sheet.has(typed, in: $0) }
        return typed.isEmpty || rows.isEmpty ? all : rows
    }

    // MARK: The list

    /// The rows around the marked one, the hint, and the question with what is typed.
    /// - Parameters:
    ///   - width: columns of the terminal.
    ///   - height: its lines.
    func lines(_ question: String, width: Int, height: Int) -> [String] {
        let rows = shown
        let room = max(height - Self.otherLines, 1)
        let place = marked.flatMap { rows.firstIndex(of: $0) } ?? 0
        let start = max(0, min(place - room / 2, rows.count - room))
        let list = rows.dropFirst(start).prefix(room).map { ($0 == marked ? "> " : "  ") + sheet.line($0) }
        // The end of the text is where the person types.
        var end = typed[...]
        while !end.isEmpty, question.columns + end.columns >= width { end.removeFirst() }
        return list + [Self.hint, question + end]
    }
}
