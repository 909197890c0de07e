import Endpoints
import Foundation
import HandlerCatalog
import Handlers
import Inbox
import Lines
import Settings
import Sharing
import UniformTypes

/// The call of a handler that the user chose, for a file outside the Inbox. The handler runs here, and its sandbox lets it read
/// this file too. The journal has only items of the Inbox.
struct FileRequest {
    private let context: CommandContext

    init(_ context: CommandContext) { self.context = context }

    /// - Parameter type: of the file.
    /// - Throws: `CommandError`: `usage` for a file in the Inbox or a mistake in the settings, `unexpected` if the handler could
    ///   not be called.
    func call(
        _ bundle: HandlerBundle, _ subject: DocumentSubject, _ type: UniformType, _ annotation: Annotation
    ) async throws -> AttemptOutcome {
        let path = URL(fileURLWithPath: subject.path).standardizedFileURL.path
        let real = URL(fileURLWithPath: path).resolvingSymlinksInPath().path
        let inbox = URL(fileURLWithPath: try context.inbox).resolvingSymlinksInPath().path
        guard PathText.part(of: real, below: inbox) == nil else {
            throw CommandError(
                .usage, "\(subject.head): it is in the Inbox, where a handler gets items by their number",
                hint:
                    "waft inbox open-in \(TerminalText.escaped(PathText.names(in: real).last.map(String.init) ?? real))"
            )
        }
        // With the user's settings: a handler may have to have a sandbox.
        let opening = try OpenCommand.opening(CommandContext())
        guard var program = opening.program(bundle) else {
            throw CommandError(.unexpected, "\(subject.head): \(TerminalText.escaped(bundle.shownName)) has no program")
        }
        program.readablePaths.append(real)
        let facts = SharedFacts(
            file: path, name: PathText.names(in: path).last.map(String.init) ?? path, type: type,
            kind: subject.isFolder ? .tree : .file, size: subject.fileSize)
        let call = HookCall.open(facts, isBatch: program.mode == .perTransfer).annotated(annotation.values)
        do {
            return try await Interruption.watching(Cancellation(), goodbye: .zero) { [program] in
                try await opening.ask(program, call)
            }
        } catch is CancellationError {
            throw WaftExit.interrupted.code
        }
    }
}
