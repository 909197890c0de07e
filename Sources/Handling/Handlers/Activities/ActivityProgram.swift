import Foundation
import Glibc
import HandlerCatalog
package import Sharing
import Synchronization

/// The program of a handler, when it does an activity of the share sheet. It runs in its sandbox, and may also read the
/// shared items.
package struct ActivityProgram: Sendable {
    /// How an activity has ended.
    package struct End: Sendable {
        package var outcome: AttemptOutcome
        /// Absolute paths in the handler's data folder.
        package var returnedItems: [String]
        /// Why items that it returned are not among them: one line; nil if all are.
        package var remark: String?
    }

    /// Time limit of `can-perform`.
    package static let questionTime: Duration = .seconds(2)
    /// Bytes of the answer on standard output.
    private static let answerBytes = 1 << 20
    /// Items that are returned.
    private static let returnedItems = 1_000

    private let program: HandlerProgram
    private let runner: HandlerRunner

    /// - Parameters:
    ///   - files: absolute paths of the shared items, which the program may read.
    ///   - copies: absolute path of the folder with those that were made for it; nil if none was.
    package init(_ program: HandlerProgram, runner: HandlerRunner, files: [String], copies: String? = nil) {
        var program = program
        program.readablePaths += files
        program.copyFolders += [copies].compactMap(\.self)
        (self.program, self.runner) = (program, runner)
    }

    /// Asks whether it can do the activity now. Every answer but a yes in time is a no.
    package func can(_ activity: String, _ items: [SharedFacts]) async -> Bool {
        var program = program
        program.timeLimit = min(program.timeLimit, Self.questionTime)
        let outcome = try? await runner.run(program, .perform(activity, items, isQuestion: true))
        return outcome?.answer == .yes
    }

    /// Does the activity.
    /// - Throws: if the task is cancelled; the program has been ended.
    package func perform(_ activity: String, _ items: [SharedFacts]) async throws(CancellationError) -> End {
        let kept = KeptBeginning(limit: Self.answerBytes)
        guard let (pipe, writing) = try? DrainedPipe.make(sink: { kept.take($0) }) else {
            return End(outcome: AttemptOutcome(.failed, reason: "there are no descriptors left"), returnedItems: [])
        }
        let outcome: AttemptOutcome
        do throws(CancellationError) {
            defer { close(writing) }
            outcome = try await runner.run(program, .perform(activity, items, isQuestion: false), output: writing)
        } catch {
            pipe.close()
            throw error
        }
        await pipe.catchUp()
        pipe.close()
        guard outcome.answer == .yes else { return End(outcome: outcome, returnedItems: []) }
        return end(outcome, kept.bytes)
    }

    private struct Answer: Decodable {
        var returnedItems: [String]?
    }

    private func end(_ outcome: AttemptOutcome, _ output: [UInt8]) -> End {
        let named = (try? JSONDecoder().decode(Answer.self, from: Data(output)))?.returnedItems ?? []
        let found = named.prefix(Self.returnedItems).compactMap(returned)
        let lost = named.count - found.count
        return End(
            outcome: outcome, returnedItems: found,
            remark: lost == 0 ? nil : "\(lost) of the items that it returned are not in its data folder")
    }

    /// - Returns: the real path of an item in the data folder; nil for any other.
    private func returned(_ path: String) -> String? {
        guard let folder = program.dataFolder, let root = realpath(folder, nil) else { return nil }
        defer { free(root) }
        guard let real = realpath(PathText.isAbsolute(path) ? path : PathText.joined(folder, path), nil) else {
            return nil
        }
        defer { free(real) }
        let found = String(cString: real)
        return PathText.part(of: found, below: String(cString: root)) == nil ? nil : found
    }
}
