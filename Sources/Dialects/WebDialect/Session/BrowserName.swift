import Sharing

/// The name of a browser for people, such as `Firefox on Android`, from the `User-Agent` that it sends.
enum BrowserName {
    /// Characters of the name of another program.
    static let limit = 60

    /// A browser names its ancestors too: the first of these that is there is its own name.
    private static let browsers: KeyValuePairs = [
        "Edg": "Edge", "OPR/": "Opera", "SamsungBrowser": "Samsung Internet", "FxiOS": "Firefox", "Firefox": "Firefox",
        "CriOS": "Chrome", "Chromium": "Chromium", "Chrome": "Chrome", "Safari": "Safari",
    ]
    private static let systems: KeyValuePairs = [
        "iPhone": "iPhone", "iPad": "iPad", "Android": "Android", "CrOS": "ChromeOS", "Windows": "Windows",
        "Mac OS X": "Mac", "Linux": "Linux",
    ]

    /// - Parameter agent: foreign text.
    /// - Returns: for other programs, the start of their text, without control characters.
    static func of(_ agent: String) -> String {
        let agent = String(agent.prefix(500))
        guard let browser = browsers.first(where: { agent.contains($0.key) })?.value else {
            let name = PathText.printable(agent, limit: limit)
            return name.isEmpty ? "an unknown program" : name
        }
        let system = systems.first { agent.contains($0.key) }?.value
        return system.map { "\(browser) on \($0)" } ?? browser
    }
}
