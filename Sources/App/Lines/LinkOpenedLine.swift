/// A program that was asked to open a URL, and its answer.
package struct LinkAttempt: Encodable, Sendable {
    /// Its identifier.
    package let handler: String
    package let name: String
    /// `yes`, `no`, `later` or `failed`.
    package let handlerAnswer: String
    package let exitCode: Int?
    package let signal: Int?
    package let reason: String?
    package let output: String?

    /// - Parameters:
    ///   - reason: empty for none.
    ///   - output: its standard error; empty for none.
    package init(
        handler: String, name: String, answer: String, exitCode: Int?, signal: Int?, reason: String, output: String
    ) {
        (self.handler, self.name, handlerAnswer) = (handler, name, answer)
        (self.exitCode, self.signal) = (exitCode, signal)
        (self.reason, self.output) = (reason.isEmpty ? nil : reason, output.isEmpty ? nil : output)
    }
}

/// A URL that was opened.
package struct LinkOpenedLine: Line {
    package static let event = "opened"

    package let url: String
    package let scheme: String
    /// The handler that has opened it.
    package let handler: String
    package let attempts: [LinkAttempt]
    package var exit = WaftExit.done

    /// - Returns: nil without an attempt.
    package init?(url: String, scheme: String, attempts: [LinkAttempt]) {
        guard let last = attempts.last else { return nil }
        (self.url, self.scheme, handler, self.attempts) = (url, scheme, last.handler, attempts)
    }
}

/// A URL that nothing has opened.
package struct LinkFailedLine: Line {
    package static let event = "failed"

    package let url: String
    package let scheme: String
    package let attempts: [LinkAttempt]
    /// One line, fit for people.
    package let reason: String
    /// Exit code of the command, were this the only URL.
    package let exit: WaftExit
    /// Advice, if there is any; one line.
    @Unsaid package var hint: String?

    package init(
        url: String, scheme: String, attempts: [LinkAttempt], reason: String, exit: WaftExit, hint: String? = nil
    ) {
        (self.url, self.scheme, self.attempts, self.reason) = (url, scheme, attempts, reason)
        self.exit = exit
        _hint = Unsaid(wrappedValue: hint)
    }
}

/// The parts of a URL that it has, as handlers get them.
package struct LinkParts: Encodable, Sendable {
    package struct QueryItem: Encodable, Sendable {
        package let name: String
        package let value: String?

        package init(name: String, value: String?) { (self.name, self.value) = (name, value) }
    }

    package let url: String
    package let scheme: String
    package var user: String?
    package var password: String?
    package var host: String?
    package var port: UInt16?
    package let path: String
    /// Decoded.
    package var pathSegments: [String]?
    package var query: String?
    /// Decoded.
    package var queryItems: [QueryItem]?
    package var fragment: String?

    package init(url: String, scheme: String, path: String) {
        (self.url, self.scheme, self.path) = (url, scheme, path)
    }
}
