import Sharing
import WebPages

/// The page as one guest gets it.
struct WebPage {
    /// A file beside the page; nil for a name that no file has.
    static func file(_ name: String) -> (bytes: [UInt8], type: String)? {
        switch name {
        case "page.css": (style, "text/css")
        case "page.js": (script, "text/javascript")
        default: SharedPage.file(name)
        }
    }

    private static let style = PageFile.lean(PackageResources.page_css)
    private static let script = PageFile.lean(PackageResources.page_js)
    private static let template = String(decoding: PackageResources.page_html, as: UTF8.self)

    var words: PageWords
    /// The name of this machine.
    var host: String
    var isPlain: Bool
    /// Whether the guest has shown neither secret nor PIN.
    var asksPIN: Bool
    var takes = false
    var items: [SharedItem] = []
    /// The result of something that was done without script.
    var notice = ""

    var html: String {
        var html = ""
        var rest = Self.template[...]
        while let start = rest.firstRange(of: "{{"), let end = rest[start.upperBound...].firstRange(of: "}}") {
            html += rest[..<start.lowerBound] + value(rest[start.upperBound..<end.lowerBound])
            rest = rest[end.upperBound...]
        }
        return html + rest
    }

    private func value(_ key: Substring) -> String {
        if key.hasPrefix("w:") { return Self.escaped(words[String(key.dropFirst(2))]) }
        return switch key {
        case "lang": words.language
        case "host": Self.escaped(host)
        case "flags": flags.joined(separator: " ")
        case "items": items.map(Self.line).joined()
        case "notice": Self.escaped(notice)
        // Browsers without styles show everything.
        case "plain": isPlain ? Self.escaped(words["plain"]) : ""
        default: ""
        }
    }

    private var flags: [String] {
        var flags: [String] = []
        if asksPIN { flags.append("pin") }
        if takes { flags.append("takes") }
        if !items.isEmpty { flags.append("shares") }
        if isPlain { flags.append("plain") }
        if !notice.isEmpty { flags.append("notice") }
        return flags
    }

    private static func line(_ item: SharedItem) -> String {
        "<li class=\"\(item.isTree ? "tree" : "file")\"><a href=\"\(item.path)\" download><span class=\"name\">"
            + escaped(PathText.printable(item.name.text)) + "</span> <span class=\"size\">"
            + escaped(ByteCount.text(item.size)) + "</span></a></li>"
    }

    static func escaped(_ text: String) -> String {
        var html = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": html += "&amp;"
            case "<": html += "&lt;"
            case ">": html += "&gt;"
            case "\"": html += "&quot;"
            case "'": html += "&#39;"
            case "{": html += "&#123;"
            default: html.unicodeScalars.append(scalar)
            }
        }
        return html
    }

    /// The page that leads from the address with the secret to the page itself. A redirection would not do: browsers send
    /// a strict cookie only when the last step began here.
    static func door(_ words: PageWords, _ host: String, to path: String) -> String {
        """
        <!doctype html><html lang="\(words.language)"><meta charset="utf-8">\
        <meta name="viewport" content="width=device-width"><meta http-equiv="refresh" content="0;url=\(path)">\
        <title>\(escaped(host))</title><p><a href="\(path)">\(escaped(host))</a></p></html>

        """
    }
}
