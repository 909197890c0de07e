extension String {
    /// The text with a sign replaced wherever a program of another language sees it.
    ///
    /// `replacing` goes by characters: a quote with a combining mark is another character for it, and still a quote for
    /// a shell.
    package func replacing(scalar: Unicode.Scalar, with words: String) -> String {
        var result = ""
        for other in unicodeScalars {
            if other == scalar { result += words } else { result.unicodeScalars.append(other) }
        }
        return result
    }
}
