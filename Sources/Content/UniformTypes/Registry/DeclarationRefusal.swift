/// Why a declaration by a bundle, or a part of one, did not take effect.
package struct DeclarationRefusal: Hashable, Sendable, CustomStringConvertible {
    /// Which of the two lists it was in.
    package enum Origin: String, Hashable, Sendable {
        case exported
        case imported
    }

    /// The reason for the refusal.
    package enum Reason: Hashable, Sendable {
        /// `public.` and `com.apple.` can only be imported, `dyn.` not even that.
        case reservedIdentifier
        /// An exported type that the system declares itself.
        case declaredBySystem
        /// Another bundle, installed earlier, exports it, or this one does twice.
        case exportedBefore
        /// It would conform to itself, with the declarations that came before.
        case cycle
        /// More parents or tags than `TypeDeclaration.Limits` allow.
        case tooLarge
        /// More declarations than `TypeDeclaration.Limits` allow.
        case tooManyDeclarations
        /// Nothing declares this parent. The declaration holds without it.
        case unknownParent(UniformType)
        /// The entry at this index of `extensions` is no extension. The declaration holds without it.
        case malformedExtension(at: Int)
        /// The entry at this index of `mimeTypes` is no MIME type. The declaration holds without it.
        case malformedMIMEType(at: Int)
    }

    /// The type of the declaration.
    package let type: UniformType

    /// Which list, and the place in it.
    package let origin: Origin
    package let index: Int

    package let reason: Reason

    /// Whether the declaration holds without the refused part.
    package var isPartial: Bool {
        switch reason {
        case .unknownParent, .malformedExtension, .malformedMIMEType: true
        default: false
        }
    }

    /// One line for people, in lower case. Foreign text in it is a well-formed identifier at most.
    package var description: String {
        let what = "\(origin.rawValue) type \(type)"
        return switch reason {
        case .reservedIdentifier:
            type.isDynamic
                ? "did not take the \(what): a dynamic identifier cannot be declared"
                : "did not take the \(what): public. and com.apple. identifiers cannot be exported, only imported"
        case .declaredBySystem: "did not take the \(what): the system declares it already"
        case .exportedBefore: "did not take the \(what): it is exported already, and the older export stands"
        case .cycle: "did not take the \(what): it would conform to itself by way of what it conforms to"
        case .tooLarge:
            "did not take the \(what): more than \(TypeDeclaration.Limits.parents) parents "
                + "or \(TypeDeclaration.Limits.tags) extensions or MIME types"
        case .tooManyDeclarations:
            "did not take the \(what): there are \(TypeDeclaration.Limits.declarations) declarations already"
        case .unknownParent(let parent): "left out that the \(what) conforms to \(parent): nothing declares \(parent)"
        case .malformedExtension(let index): "left out extension \(index + 1) of the \(what): it is not an extension"
        case .malformedMIMEType(let index): "left out MIME type \(index + 1) of the \(what): it is not a MIME type"
        }
    }
}
