import Sharing
import UniformTypes

/// Shows the items of `waft send --dry-run`, which sends nothing.
enum DryRun {
    static func show(_ sources: [any ItemSource], json: Bool) {
        for (number, source) in sources.enumerated() {
            let item = source.offered
            if json {
                var line = EventLine(.item)
                line.item = number
                (line.name, line.kind, line.type) = (item.name.text, item.kind.rawValue, item.type.identifier)
                (line.size, line.entries) = (item.size, item.kind == .tree ? item.entries : nil)
                line.print()
                continue
            }
            var facts = [item.size.map(ByteCount.text) ?? "size not known"]
            if item.kind == .tree, let entries = item.entries { facts.append(OfferText.entries(entries)) }
            facts.append(TerminalText.escaped(TypeRegistry.system.name(of: item.type), limit: 80))
            Console.shared.result("\(TerminalText.escaped(item.name.text))  \(facts.joined(separator: ", "))")
        }
        if json { EventLine.done(.done).print() }
    }
}
