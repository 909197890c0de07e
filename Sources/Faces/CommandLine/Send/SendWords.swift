/// The words of `waft send` or `waft share`, with the items taken out of the options.
///
/// The argument parser's time grows with the square of the number of positional arguments: ten seconds for the 20,000
/// that `waft send photos/*` can have. So it is given the options only.
struct SendWords {
    private(set) var items: [String] = []
    private(set) var options: [String] = []

    /// Options that take the next word as their value.
    static let withValue: Set<String> = [
        "--to", "--text", "--url", "--name", "--type", "--note", "--wait", "--timeout", "--expires",
        "--to-code", "--code-words", "--people", "--for", "--remember", "--at", "--from",
        "--exclude", "--source", "--subject", "--thumbnail", "--exclude-activity", "--activity", "--annotation",
        "--pin", "--progress",
    ]

    /// - Parameter words: everything after the verb.
    init(_ words: some Sequence<String>) {
        items.reserveCapacity(words.underestimatedCount)
        var isValue = false
        var onlyItems = false
        for word in words {
            if onlyItems || (!isValue && (word == "-" || !word.hasPrefix("-"))) {
                items.append(word)
            } else if !isValue, word == "--" {
                onlyItems = true
            } else {
                options.append(word)
                isValue = !isValue && Self.withValue.contains(word)
            }
        }
    }
}
