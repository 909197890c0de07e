import Lines
import Sharing
import UniformTypes

/// Saves images and films in the user's folder for pictures. Nothing is replaced.
struct SaveImageActivity: Activity {
    let context: CommandContext

    let type = ActivityType.saveImage
    let title = "Save to Pictures"
    let category = ActivityCategory.action

    func obstacle(_ items: ShareItems) -> String? {
        let fits = items.items.allSatisfy { item in
            item.offered.kind == .file
                && [UniformType.image, .movie].contains { TypeRegistry.system.conforms(item.offered.type, to: $0) }
        }
        guard fits else { return "images and films are saved there" }
        let previewing = Previewing(context, lines: 1, json: false)
        for path in items.items.compactMap(\.path) {
            guard let subject = try? DocumentSubject(path: path, previewing.registry),
                let look = try? previewing.look(at: subject), !look.isLying
            else { return "it is not what it claims to be: see waft preview" }
        }
        return PicturesFolder.path == nil ? "the folder for pictures is not known" : nil
    }

    func perform(_ items: ShareItems, _ scene: ShareScene) async throws -> [String] {
        guard let path = PicturesFolder.path else {
            throw CommandError(.ineligible, "the folder for pictures is not known")
        }
        let folder = try PicturesFolder(path)
        return try items.items.map { item throws(CommandError) in
            let saved = try folder.save(item)
            scene.say("\(item.offered.name.text): saved as \(saved)")
            return saved
        }
    }
}
