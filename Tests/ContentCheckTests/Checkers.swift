import Testing
import UniformTypes

@testable import ContentCheck

/// The source of the rules of the shared MIME database in a test.
enum Knowledge: String, CaseIterable, Sendable {
    /// The machine's database: the package `shared-mime-info`.
    case database
    /// No database: the built-in signatures only.
    case builtIn

    var checker: ContentChecker {
        switch self {
        case .database: Self.withDatabase
        case .builtIn: Self.withoutDatabase
        }
    }

    private static let withDatabase = ContentChecker(database: MagicDatabase(dataFolders: ["/usr/share"]))
    private static let withoutDatabase = ContentChecker(database: .none)
}

/// Contents with a name, and the expected result.
struct Case: Sendable, CustomTestStringConvertible {
    let name: String
    let bytes: [UInt8]
    let outcome: ContentVerdict.Outcome
    /// The expected content type; nil skips the comparison.
    let contentType: String?

    init(_ name: String, _ bytes: [UInt8], _ outcome: ContentVerdict.Outcome, _ contentType: String? = nil) {
        self.name = name
        self.bytes = bytes
        self.outcome = outcome
        self.contentType = contentType
    }

    var testDescription: String { "\(name): \(outcome)" }

    func expect(with knowledge: Knowledge, sourceLocation: SourceLocation = #_sourceLocation) {
        let verdict = knowledge.checker.check(bytes: bytes, declaredName: name)
        #expect(verdict.outcome == outcome, "\(knowledge): \(verdict.explanation)", sourceLocation: sourceLocation)
        if let contentType {
            #expect(
                verdict.contentType?.identifier == contentType, "\(knowledge): \(verdict.explanation)",
                sourceLocation: sourceLocation)
        }
        #expect(
            verdict.explanation.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7F },
            sourceLocation: sourceLocation)
    }
}

extension ContentChecker {
    /// Checks the bytes as the type that a file of this name has.
    func check(bytes: [UInt8], declaredName: String) -> ContentVerdict {
        check(bytes: bytes, declared: TypeRegistry.system.type(forFileName: declaredName, kind: .regularFile))
    }
}
