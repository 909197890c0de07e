import Desktop
import HandlerCatalog
import Sharing
import UniformTypes

/// A program that can get a document, for programs.
struct OpenInFields: FieldGroups {
    struct Program: Encodable {
        var type: String
        /// Its place in the list, from 1.
        var place: Int
        /// Its name for people.
        var program: String
        /// The identifier of a handler.
        var handler: String?
        /// The desktop id of an application.
        var application: String?
        var isDefault: Bool?
    }

    var subject: EventLine.Subject
    var program: Program

    var groups: [any Encodable] { [subject, program] }

    init(subject: EventLine.Subject, program: Program) { (self.subject, self.program) = (subject, program) }

    /// - Parameter index: of the target in the list.
    init(_ list: OpenInList, _ index: Int) {
        let target = list.targets[index]
        subject = list.subject.event
        program = Program(type: list.type.identifier, place: index + 1, program: target.name)
        switch target {
        case .handler(let bundle, _): program.handler = bundle.identifier.text
        case .application(let application):
            program.application = application.identifier
            program.isDefault = application.isDefault ? true : nil
        }
    }
}
