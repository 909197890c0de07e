import Lines
import Sharing
import UniformTypes

/// Shows the items of `waft send --dry-run`, which sends nothing.
enum DryRun {
    static func show(_ sources: [any ItemSource], json: Bool) {
        let output = OutputOptions(json: json)
        for (number, source) in sources.enumerated() {
            let item = source.offered
            if json {
                output.show(PlannedLine(number, item), as: [])
                continue
            }
            var facts = [item.size.map(ByteCount.text) ?? "size not known"]
            if item.kind == .tree, let entries = item.entries { facts.append(OfferText.entries(entries)) }
            facts.append(TerminalText.escaped(TypeRegistry.system.name(of: item.type), limit: 80))
            Console.shared.result("\(TerminalText.escaped(item.name.text))  \(facts.joined(separator: ", "))")
        }
        if json { output.show(DoneLine(exit: .done), as: []) }
    }
}
