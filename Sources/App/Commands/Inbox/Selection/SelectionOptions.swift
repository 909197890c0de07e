import ArgumentParser
import Glibc
import Journal
import Lines
import Sharing

/// Options that select items of the Inbox: the same for each verb that works on several. An item has to fit all of them.
struct SelectionOptions: ParsableArguments {
    @Option(
        name: .long,
        help: ArgumentHelp("Select items by their numbers, such as 1-50,60.", valueName: "list"))
    var numbers: String?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "Select items by a pattern for their names in the Inbox, such as 'f*.txt'.", valueName: "pattern"))
    var match: String?

    @OptionGroup var filter: ArrivalFilterOptions

    @Flag(name: .customLong("dry-run"), help: "Print the items, and change nothing.")
    var dryRun = false

    /// Whether no option selects; then words name the items.
    var isEmpty: Bool { numbers == nil && match == nil && filter.isEmpty }

    /// Checks that the items are either named or selected.
    /// - Parameter hasWords: whether words name items.
    func check(hasWords: Bool) throws(ValidationError) {
        if hasWords, !isEmpty { throw ValidationError("Name items or select them, not both.") }
        if !hasWords, isEmpty {
            throw ValidationError("Name an item, or select several: --numbers 1-5, --match '*.txt', --since 2d.")
        }
    }

    /// The items that the words name, in their order; without words the selected ones, in the order of arrival.
    ///
    /// - Throws: `CommandError`: `usage` for an option without a meaning and for a word that means two items, `inputMissing`
    ///   if no item is selected.
    func items(_ words: [String], _ context: CommandContext) throws(CommandError) -> [ChosenItem] {
        guard !isEmpty else { return try words.map { word throws(CommandError) in try ChosenItem(word: word) } }
        let wanted = try numbers.map { text throws(CommandError) in
            guard let wanted = NumberSet(text) else {
                throw CommandError(.usage, "--numbers is a list of numbers and ranges, such as 1-50,60")
            }
            return wanted
        }
        let choice = try ArrivalChoice(filter, context)
        let entries = try JournalReading.entriesThere(choice.filter).filter { entry in
            wanted?.contains(entry.arrival.number.value) != false
                && match.map { fnmatch($0, entry.arrival.stored.name.text, 0) == 0 } != false
        }
        guard !entries.isEmpty else { throw CommandError(.inputMissing, "no item in the Inbox is selected") }
        return entries.map(ChosenItem.item)
    }
}
