import Lines
import Sharing
import UniformTypes

/// Prints documents, images and texts, by `lp`.
struct PrintActivity: Activity {
    let type = ActivityType.print
    let title = "Print"
    let category = ActivityCategory.action

    private static let printable: [UniformType] = [.pdf, .image, .text]

    func obstacle(_ items: ShareItems) -> String? {
        guard SystemProgram("lp") != nil else { return "lp is missing; install cups-client" }
        let fits = items.items.allSatisfy { item in
            item.offered.kind != .tree && item.offered.kind != .url
                && Self.printable.contains { TypeRegistry.system.conforms(item.offered.type, to: $0) }
        }
        return fits ? nil : "PDF documents, images and texts are printed"
    }

    func perform(_ items: ShareItems, _ scene: ShareScene) async throws -> [String] {
        guard let program = SystemProgram("lp") else { throw CommandError(.ineligible, "lp is missing") }
        let paths = try items.files(in: scene.spool)
        let said = try await program.run(["-t", items.title, "--"] + paths)
        scene.say("\(items.title): " + (said.isEmpty ? "sent to the printer" : said))
        return []
    }
}
