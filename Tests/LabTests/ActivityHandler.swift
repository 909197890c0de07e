import Foundation

extension Host {
    /// Adds a handler with one activity.
    /// - Parameters:
    ///   - name: the last part of the handler's identifier, which begins with `org.example.`
    ///   - title: of the activity, as XML.
    ///   - more: further keys of the activity, as XML.
    ///   - script: its program.
    func addHandler(
        _ name: String, activity type: String, title: String, itemTypes: String, more: String = "", script: String
    ) throws {
        let bundle = home + "/handlers/\(name).handler"
        try FileManager.default.createDirectory(atPath: bundle, withIntermediateDirectories: true)
        try """
        <?xml version="1.0"?><plist version="1.0"><dict>
        <key>CFBundleIdentifier</key><string>org.example.\(name)</string>
        <key>CFBundleExecutable</key><string>run</string>
        <key>WaftActivities</key><array><dict>
        <key>WaftActivityType</key><string>\(type)</string><key>Title</key><string>\(title)</string>
        <key>ItemTypes</key><array><string>\(itemTypes)</string></array>\(more)</dict></array>
        </dict></plist>
        """.write(toFile: bundle + "/Info.plist", atomically: false, encoding: .utf8)
        try writeScript(script, to: bundle + "/run")
    }
}
