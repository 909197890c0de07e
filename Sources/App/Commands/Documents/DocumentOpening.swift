import ArgumentParser
import ContentCheck
import Handlers
import Lines
import Sharing
import UniformTypes

/// Options of the verbs that hand a document to the desktop.
struct OpeningOptions: ParsableArguments {
    @Flag(
        name: .long,
        help: "Hand it on even if it is not what it claims to be, or if the desktop would run it.")
    var anyway = false
}

/// The rule for documents that are handed to the desktop: none that lies about its content, and none that the desktop
/// would run.
struct DocumentOpening {
    let registry: TypeRegistry

    /// - Throws: `CommandError` `ineligible` if it may not be handed on.
    func check(_ subject: DocumentSubject, _ look: DocumentLook) throws(CommandError) {
        if let objection = objection(to: subject, look) {
            throw CommandError(.ineligible, objection, hint: "to open it all the same: --anyway")
        }
    }

    /// - Returns: one line, escaped; nil if it may be handed on.
    func objection(to subject: DocumentSubject, _ look: DocumentLook) -> String? {
        if look.isLying, let warning = look.warning { return warning }
        if let content = subject.arrival?.content, content.outcome == .lying {
            return "\(subject.head): \(TerminalText.escaped(content.explanation))"
        }
        let types = [subject.declared, look.type]
        guard look.isLauncher || RunByOpening.includes(types, name: subject.path, registry) else { return nil }
        let what = look.isLauncher ? "a launcher" : TerminalText.escaped(look.type.identifier)
        return "\(subject.head): the desktop would run it instead of showing it: \(what)"
    }
}
