import ArgumentParser
import Operations

/// A time as people type it: a number of seconds, or a time such as `2m`.
struct Seconds {
    /// Above 0, at most a year.
    let duration: Duration

    /// For options.
    /// - Throws: `ValidationError` with words that follow the parser's.
    static func read(_ text: String) throws -> Seconds {
        guard let seconds = Seconds(argument: text) else {
            throw ValidationError("it should be seconds above 0, or a time such as 2m")
        }
        return seconds
    }

    init?(argument: String) {
        let year = 31_536_000
        if let seconds = Double(argument) {
            guard seconds > 0, seconds <= Double(year) else { return nil }
            duration = .milliseconds(Int64((seconds * 1_000).rounded(.up)))
        } else {
            guard let read = try? ContactTerms.duration(argument), read <= .seconds(year) else { return nil }
            duration = read
        }
    }
}
