package import Sharing

/// The name of a file, a folder, or an item of the Inbox in the lines about it.
package struct DocumentName: Encodable, Hashable, Sendable {
    /// The number of the item in the journal; absent for another file, as are its names.
    package let arrival: Int64?
    /// The name that was offered.
    package let name: String?
    /// The name it has in the Inbox.
    package let stored: String?
    package let path: String

    /// - Parameter path: of a file outside the Inbox, as the user wrote it.
    package init(path: String) {
        (arrival, name, stored, self.path) = (nil, nil, nil, path)
    }

    package init(_ arrival: Arrival) {
        (self.arrival, name) = (arrival.number.value, arrival.item.name.text)
        (stored, path) = (arrival.stored.name.text, arrival.stored.path)
    }

    /// The beginning of a sentence about it, fit for people.
    package var head: String {
        guard let arrival, let stored else { return ShownText.line(path, limit: 1_000) }
        return "\(arrival)  \(ShownText.line(stored, limit: 200))"
    }
}

/// A line with the names of a document beside its facts.
package protocol DocumentLine: Line {
    associatedtype Facts: Encodable & Sendable

    var document: DocumentName { get }
    var facts: Facts { get }
}

extension DocumentLine {
    package func encode(to encoder: any Encoder) throws {
        try document.encode(to: encoder)
        try facts.encode(to: encoder)
    }
}

/// The part of a document that is shown for the whole.
package struct PreviewLine: DocumentLine {
    package static let event = "preview"

    package enum Form: String, Encodable, Sendable {
        case text, image, document, archive, folder, link
    }

    package struct Member: Encodable, Sendable {
        /// The path in the archive or folder.
        package let member: String
        /// `file`, `tree`, `link` or `other`.
        package let kind: String
        package let size: UInt64?

        package init(member: String, kind: String, size: UInt64? = nil) {
            (self.member, self.kind, self.size) = (member, kind, size)
        }
    }

    package struct Facts: Encodable, Sendable {
        package var type: String
        /// Bytes of a file.
        package var size: UInt64?
        package var content: String?
        package var contentType: String?
        package var contentExplanation: String?
        package var shownAs = Form.text
        package var encoding: String?
        /// Of a text, or of the first page of a document.
        package var lines: [String]?
        /// Whether there is more than is shown.
        package var isCut: Bool?
        package var pixelWidth: UInt32?
        package var pixelHeight: UInt32?
        package var pageCount: Int?
        package var members: [Member]?
        package var urlParts: LinkParts?

        package init(type: String) { self.type = type }
    }

    /// A name in a folder.
    package enum Row: Hashable, Sendable {
        /// - Parameters:
        ///   - level: 0 for the names in the folder itself.
        ///   - kind: as of a member.
        case entry(level: Int, name: String, kind: String, size: UInt64?)
        /// Stands for as many further names.
        case omitted(level: Int, count: Int)
    }

    package let document: DocumentName
    package var facts: Facts
    /// How the content contradicts the declared type; for people.
    package var warning: String?
    /// Lines of an image in coloured characters, fit for a terminal.
    package var drawing: [String] = []
    /// The names in a folder, in the order of a tree.
    package var tree: [Row] = []

    package init(_ document: DocumentName, type: String) {
        (self.document, facts) = (document, Facts(type: type))
    }
}

/// A picture of a document was written.
package struct PictureLine: DocumentLine {
    package static let event = "picture"

    package struct Facts: Encodable, Sendable {
        /// Of the document.
        package let type: String
        /// `image/png` or `image/jpeg`.
        package let mediaType: String
        package let pixelWidth: UInt32
        package let pixelHeight: UInt32
        /// The file that was written.
        package let picture: String

        package init(type: String, mediaType: String, pixelWidth: UInt32, pixelHeight: UInt32, picture: String) {
            (self.type, self.mediaType, self.picture) = (type, mediaType, picture)
            (self.pixelWidth, self.pixelHeight) = (pixelWidth, pixelHeight)
        }
    }

    package let document: DocumentName
    package let facts: Facts
    /// Bytes of the picture; for people.
    package let size: UInt64

    package init(_ document: DocumentName, _ facts: Facts, size: UInt64) {
        (self.document, self.facts, self.size) = (document, facts, size)
    }
}

/// Something that can be done with a document.
package enum DocumentAction: String, CaseIterable, Encodable, Sendable {
    case preview
    case open
    case openIn = "open-in"
    case copy
    case showInFolder = "show-in-folder"
    case take
    case remove
}

/// An action that works for a document here.
package struct OptionLine: DocumentLine {
    package static let event = "option"

    package struct Facts: Encodable, Sendable {
        package let type: String
        package let action: DocumentAction
    }

    package let document: DocumentName
    package let facts: Facts
    /// How the content contradicts the declared type; for people.
    package let warning: String?

    package init(_ document: DocumentName, type: String, action: DocumentAction, warning: String? = nil) {
        (self.document, facts, self.warning) = (document, Facts(type: type, action: action), warning)
    }
}

/// A program that can get a document.
package struct OpenInLine: DocumentLine {
    package static let event = "openIn"

    package struct Facts: Encodable, Sendable {
        package let type: String
        /// Its place in the list, from 1.
        package let place: Int
        /// Its name for people.
        package let program: String
        /// The identifier of a handler.
        package var handler: String?
        /// The desktop id of an application.
        package var application: String?
        package var isDefault: Bool?
    }

    package let document: DocumentName
    package private(set) var facts: Facts
    /// The type that a handler declares, for people.
    package private(set) var opens: String?
    /// Whether an application gets this terminal.
    package private(set) var runsInTerminal = false

    private init(_ document: DocumentName, _ type: String, _ place: Int, _ program: String) {
        self.document = document
        facts = Facts(type: type, place: place, program: program)
    }

    package init(
        _ document: DocumentName, type: String, place: Int, program: String, handler: String, opens: String
    ) {
        self.init(document, type, place, program)
        (facts.handler, self.opens) = (handler, opens)
    }

    package init(
        _ document: DocumentName, type: String, place: Int, program: String, application: String, isDefault: Bool,
        runsInTerminal: Bool
    ) {
        self.init(document, type, place, program)
        (facts.application, facts.isDefault) = (application, isDefault ? true : nil)
        self.runsInTerminal = runsInTerminal
    }
}

/// A document was opened by a program that the user chose, or by the desktop.
package struct DocumentOpenedLine: DocumentLine {
    package static let event = "opened"

    package struct Facts: Encodable, Sendable {
        /// The identifier of a handler.
        package var handler: String?
        package var handlerAnswer: String?
        package var exitCode: Int?
        /// The desktop id of an application.
        package var application: String?
        package var exit = WaftExit.done
    }

    package let document: DocumentName
    package private(set) var facts = Facts()
    /// The end of a sentence about it, for people; foreign text is fit for them.
    package let said: String

    /// By the desktop, or by an application.
    package init(_ document: DocumentName, application: String? = nil, said: String) {
        (self.document, facts.application, self.said) = (document, application, said)
    }

    /// By a handler.
    package init(_ document: DocumentName, handler: String, answer: String, exitCode: Int?, said: String) {
        (self.document, self.said) = (document, said)
        (facts.handler, facts.handlerAnswer, facts.exitCode) = (handler, answer, exitCode)
    }
}
