import Sharing
import SystemCalls

/// Why the handlers could not be changed, or why a name stands for no single handler.
package struct CatalogError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kind of failure, from which the caller chooses an exit code.
    package enum Code: Hashable, Sendable {
        /// No handler has this name.
        case unknownHandler
        /// Several handlers have this name.
        case ambiguousName
        /// An argument cannot be used: a name, a type, a scheme or a file.
        case unfit
        /// The program to run is missing, or cannot be read.
        case missingProgram
        /// The name is already taken.
        case nameTaken
        /// The handler is built in, or is not in the user's folder, so the user cannot remove it.
        case notYours
        /// The file system reported an error.
        case storage
    }

    package let code: Code
    /// One line, lower case: the step that failed, and why.
    package let description: String

    private init(_ code: Code, _ description: String) {
        self.code = code
        self.description = description
    }

    /// - Parameter names: of the installed handlers.
    static func unknownHandler(_ name: String, among names: [String] = []) -> CatalogError {
        let near = NearWord.closest(to: name, among: names).map { "; did you mean \($0)?" } ?? ""
        return CatalogError(.unknownHandler, "there is no handler \(name)\(near)")
    }

    static func ambiguousName(_ name: String, _ identifiers: [BundleIdentifier]) -> CatalogError {
        let list = identifiers.map(\.text).joined(separator: ", ")
        return CatalogError(.ambiguousName, "\(name) is the name of several handlers; say which: \(list)")
    }

    static let builtIn = CatalogError(
        .notYours,
        "the handler Inbox is built in; with eligibility: handlers in the configuration it takes nothing"
    )

    static let hook = CatalogError(
        .notYours,
        "the hook is set by hook: in the configuration; change it there"
    )

    static let hookIsLast = CatalogError(
        .unfit,
        "the hook is asked after all handlers; it cannot be a default"
    )

    static func notYours(_ path: String) -> CatalogError {
        CatalogError(.notYours, "\(path) is not in your own folder; disable it instead")
    }

    static func doesNotOpen(_ handler: String, _ what: String) -> CatalogError {
        CatalogError(.unfit, "\(handler) does not open \(what)")
    }

    static func disabled(_ handler: String) -> CatalogError {
        CatalogError(.unfit, "\(handler) is disabled; enable it first")
    }

    static func nameTaken(_ name: String) -> CatalogError {
        CatalogError(.nameTaken, "there is a handler \(name) already; remove it first, or choose another name")
    }

    static func unfit(_ reason: String) -> CatalogError { CatalogError(.unfit, reason) }

    static func unfitProgram(_ path: String, _ reason: String) -> CatalogError {
        CatalogError(.unfit, "\(path) cannot be used as a handler: \(reason)")
    }

    static func missingProgram(_ path: String, _ error: SystemError) -> CatalogError {
        CatalogError(.missingProgram, "\(path) cannot be used as a handler: \(error)")
    }

    static func storage(_ path: String, _ error: SystemError) -> CatalogError {
        CatalogError(.storage, "\(path) could not be written: \(error)")
    }
}
