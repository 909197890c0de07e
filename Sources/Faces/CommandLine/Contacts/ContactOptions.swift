import ArgumentParser
import Operations

extension ContactTerms.Answer: ExpressibleByArgument {}

/// Flags of `allow` and `set`: which offers of a contact are accepted, and where their items go.
struct ContactOptions: ParsableArguments {
    @Option(
        name: .long,
        help: ArgumentHelp("What to do with its offers: ask, accept or decline.", valueName: "answer"))
    var policy: ContactTerms.Answer?

    @Option(
        name: .customLong("for"),
        help: ArgumentHelp("How long acceptance lasts, such as 2h or 30d; ever: without end.", valueName: "duration"))
    var duration: String?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "How long it stays a contact, such as 30d: then it is a stranger again; ever: without end.",
            valueName: "duration"))
    var until: String?

    @Option(
        name: .long, parsing: .upToNextOption,
        help: ArgumentHelp(
            "Accept these types, and all that conform to them; any: all types.", valueName: "uti"), completion: .types)
    var types: [String] = []

    @Option(
        name: .long, help: ArgumentHelp("Accept offers up to this size, such as 5GB; any: any size.", valueName: "size")
    )
    var sizeAtMost: String?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "Accept up to this size in 24 hours, such as 5GB; items that you accepted yourself count; any: any size.",
            valueName: "size"))
    var sizePerDay: String?

    @Option(
        name: .long,
        help: ArgumentHelp("Accept offers of at most this many items; any: any number.", valueName: "count"))
    var itemsAtMost: String?

    @Option(
        name: .long,
        help: ArgumentHelp("Accept at these times of the day, such as 08:00-18:00; any: always.", valueName: "times"))
    var time: String?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "Handler for its items, asked before the others; \"inbox\": no handler; \"\": only the others.",
            valueName: "handler"), completion: .handlers)
    var handler: String?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "Folder below the Inbox for its items; \"\": the Inbox itself.",
            valueName: "folder"))
    var folder: String?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "How its items are sealed: none, untilFirstUnlock, unlessOpen or complete; usual: as the settings say.",
            valueName: "class"))
    var protect: String?

    private var terms: [(flag: String, term: ContactTerms.Term, texts: [String])] {
        let rows: [(String, ContactTerms.Term, [String?])] = [
            ("--for", .until, [duration]), ("--until", .ends, [until]), ("--types", .types, types),
            ("--size-at-most", .sizeAtMost, [sizeAtMost]),
            ("--size-per-day", .sizePerDay, [sizePerDay]), ("--items-at-most", .itemsAtMost, [itemsAtMost]),
            ("--time", .hours, [time]), ("--handler", .handler, [handler]), ("--folder", .folder, [folder]),
            ("--protect", .protection, [protect]),
        ]
        return rows.map { ($0.0, $0.1, $0.2.compactMap(\.self)) }.filter { !$0.2.isEmpty }
    }

    var isEmpty: Bool { policy == nil && terms.isEmpty }

    /// The values of the flags.
    /// - Throws: `WaftError` that names the flag.
    func terms(_ waft: Waft) throws(WaftError) -> ContactTerms {
        var read = ContactTerms(policy: policy)
        for (flag, term, texts) in terms {
            do throws(WaftError) { try read.read(term, texts, on: waft) } catch { throw error.at(flag) }
        }
        return read
    }
}
