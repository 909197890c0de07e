import Foundation
import Lines
import Operations
import Sharing

/// A call that a window may make: a window may do nothing besides the calls of the table. No call runs a program that the
/// window chooses, and none gives a program a right: an attacker in a window would run programs as the user.
struct DeskCall: Sendable {
    /// The calls by their paths.
    static let all: [String: DeskCall] = [codes, contacts, inbox, machine, offers, settings]
        .reduce(into: [:]) { $0.merge($1) { one, _ in one } }

    /// Bytes of the values of one call.
    static let bytes = 4 << 20

    /// Reads the values of a call.
    /// - Throws: `DecodingError`.
    let read: @Sendable (Data) throws -> @Sendable (DeskWork) async throws -> WaftExit

    /// - Parameter work: throws `WaftError`.
    init<Values: Decodable & Sendable>(_ work: @escaping @Sendable (Values, DeskWork) async throws -> WaftExit) {
        read = { bytes in
            let values = try JSONDecoder().decode(Values.self, from: bytes)
            return { desk in try await work(values, desk) }
        }
    }

    /// A call whose answer is some lines.
    static func lines<Values: Decodable & Sendable>(
        _ lines: @escaping @Sendable (Values, Waft) async throws -> [any Line]
    ) -> DeskCall {
        DeskCall { (values: Values, desk: DeskWork) in
            try await desk.lines.add(try await lines(values, desk.waft()))
            return .done
        }
    }

    /// The values of a call that has none.
    struct Nothing: Decodable, Sendable {}
}

/// The means of a call that is under way.
struct DeskWork: Sendable {
    let host: DeskServer.Host
    let questions: DeskQuestions
    let lines: DeskLines

    /// The Waft with the settings as they are now; those with faults have their defaults.
    func waft() throws(WaftError) -> Waft { try host.forgiving() }

    func show(_ line: any Line) async throws { try await lines.add(line) }

    /// Shows lines that come while something works that does not wait for the window.
    func showing(
        _ work: @escaping @Sendable (_ show: @escaping @Sendable (any Line) -> Void) async throws -> WaftExit
    ) async throws -> WaftExit {
        let (said, feed) = AsyncStream<any Line>.makeStream()
        async let exit = {
            defer { feed.finish() }
            return try await work { feed.yield($0) }
        }()
        for await line in said { try await show(line) }
        return try await exit
    }

    /// Lets this program do something in a process of its own: foreign bytes are parsed there, and keys are stretched.
    /// - Parameter words: of the command line, with `--json`.
    func apart(_ words: [String], input: String = "") async throws -> WaftExit {
        // Each has the beginning of its own next line.
        let lines = lines.beside()
        let end = await host.program.run(words, input: input) { try await lines.add($0) }
        return WaftExit(rawValue: Int32(clamping: end)) ?? .unexpected
    }
}
