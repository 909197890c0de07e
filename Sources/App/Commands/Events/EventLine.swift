import Foundation

/// One line of `--json`: an event, with exactly its fields.
///
/// The JSON object of a line has the version `v`, the name of the case as `event`, and the properties of the case's
/// value, by their names. Absent values are left out. `Commands.docc/events.schema.json` describes every line.
enum EventLine {
    case failed(Failed)

    // `waft desk`
    case desk(DeskCommand.Fields)

    /// Items that an event lists; offers can have tens of thousands.
    static let shownItems = 100

    var text: String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // Only infinities and the like cannot be encoded, and there are none.
        guard let data = try? encoder.encode(self) else { return "{}" }
        return TerminalText.escaped(json: String(decoding: data, as: UTF8.self))
    }

    func print() {
        Console.shared.result(text)
    }
}
