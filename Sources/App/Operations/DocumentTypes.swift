package import ContentCheck
import Foundation
import HandlerCatalog
import ItemSources
package import Lines
package import Settings
package import Sharing
package import UniformTypes

extension Waft {
    /// The types of files. Reads the handlers, which can declare types.
    package func types() -> DocumentTypes {
        var catalog = home.handlerCatalog(settings, includingHook: true)
        catalog.languages = UserLanguages.names(ProcessInfo.processInfo.environment)
        return DocumentTypes(catalog.load())
    }
}

/// The types with which files would be offered.
package struct DocumentTypes {
    private let snapshot: CatalogSnapshot
    private let checker: ContentChecker

    fileprivate init(_ snapshot: CatalogSnapshot) {
        (self.snapshot, checker) = (snapshot, ContentChecker(types: snapshot.registry))
    }

    /// Looks at a file or a folder, and into a file.
    /// - Throws: `WaftError` for what could not be sent.
    package func type(of path: String) throws(WaftError) -> TypeLine {
        let registry = snapshot.registry
        let (type, kind): (UniformType, FileKind)
        do throws(SourceError) {
            (type, kind) = try ItemSources.look(at: path, registry: registry)
        } catch {
            throw WaftError(WaftExit(error), error.message, others: error.others)
        }
        let (verdict, words) = kind == .regularFile ? look(into: path, type) ?? (nil, "") : (nil, "")
        // The content of a file decides.
        let isBelieved = [.mislabelled, .lying].contains(verdict?.outcome) == false
        let icon = DocumentIcon(isBelieved ? type : verdict?.contentType ?? type, kind: kind, in: snapshot)
        var line = TypeLine(
            path: path, type: type.identifier, description: registry.description(of: type),
            conformsTo: registry.supertypes(of: type).map(\.type.identifier), icon: icon.name,
            genericIcon: icon.genericName, iconFile: icon.file)
        guard let verdict else { return line }
        (line.content, line.contentType) = (verdict.outcome.rawValue, verdict.contentType?.identifier)
        line.contentExplanation = verdict.explanation
        line.contentWords = verdict.line(declared: type, words, registry)
        return line
    }

    private func look(into path: String, _ declared: UniformType) -> (ContentVerdict?, words: String)? {
        let file = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var status = stat()
        guard fstat(file, &status) == 0 else { return nil }
        let size = UInt64(max(0, status.st_size))
        return (
            checker.check(descriptor: file, declared: declared, size: size),
            checker.description(descriptor: file, size: size)
        )
    }
}

extension ContentVerdict {
    /// The result of a look into a file, in one line.
    /// - Parameters:
    ///   - declared: the type by the name.
    ///   - words: the content in a few words, with identifiers.
    package func line(declared: UniformType, _ words: String, _ registry: TypeRegistry) -> String {
        let found = contentType.map(registry.name) ?? words
        let line =
            switch outcome {
            case .consistent: "contents match: \(found)"
            case .mislabelled: "the name says \(registry.name(of: declared)), the contents are \(found)"
            case .lying: "looks like \(registry.name(of: declared)), but is \(found): not opened"
            case .unverified: "contents not verified: \(explanation)"
            }
        return ShownText.line(line, limit: 600)
    }
}

/// People's words for types.
package enum TypeWords {
    /// The name of a type; its identifier if it has none.
    package static func name(of identifier: String) -> String {
        UniformType(identifier).map(TypeRegistry.system.name) ?? identifier
    }

    /// The identifier; of a dynamic one its tags.
    package static func identifier(_ identifier: String) -> String { UniformType(identifier)?.words ?? identifier }

    /// The identifiers that are known to a home, in order; those of the system without one.
    package static func identifiers(_ home: Home?) -> [String] {
        (home?.typeRegistry() ?? .system).types.map(\.identifier)
    }
}

extension OfferedItem {
    /// People's name for its type.
    package var typeName: String { TypeRegistry.system.name(of: type) }
}
