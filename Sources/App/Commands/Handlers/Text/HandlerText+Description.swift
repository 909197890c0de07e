import Foundation
import HandlerCatalog
import Sharing
import UniformTypes

extension HandlerText {
    /// Lines under one label.
    private static let shownLines = 64
    private static let labelWidth = 14

    /// The full description of a handler.
    func description(of bundle: HandlerBundle) -> [String] {
        var rows: [(label: String, values: [String])] = [
            ("identifier", [bundle.identifier.text]),
            ("state", [state(bundle)]),
        ]
        switch bundle.origin {
        case .user: rows.append(("folder", [Self.path(bundle.path) + " (yours)"]))
        case .machine: rows.append(("folder", [Self.path(bundle.path) + " (this machine's)"]))
        case .distribution: rows.append(("folder", [Self.path(bundle.path) + " (of a package)"]))
        case .configuration: rows.append(("started in", [Self.path(bundle.path)]))
        case .builtIn: break
        }
        rows += [
            ("runs", [bundle.executable.map(Self.path) ?? "nothing: it is built in"]),
            ("version", bundle.version.isEmpty ? [] : [Self.escaped(bundle.version)]),
            ("data folder", bundle.dataFolder.map { [Self.path($0)] } ?? []),
            ("installed", isInstalled(bundle) ? [Self.moment(bundle.installed)] : []),
            ("opens", isInstalled(bundle) ? bundle.documentTypes.flatMap { lines($0, bundle) } : [opens(bundle)]),
            ("opens URLs", bundle.urlTypes.flatMap { Self.lines($0, bundle) }),
            ("shares", bundle.activities.map { line($0, bundle) }),
            ("default for", typesDefault(of: bundle).map(\.identifier) + schemesDefault(of: bundle).map { "\($0):" }),
        ]
        if bundle.executable != nil { rows += launch(bundle) }
        rows += [
            ("exports", bundle.exportedTypes.map(line)),
            ("imports", bundle.importedTypes.map(line)),
            ("warning", troubles(bundle)),
        ]
        return [Self.name(bundle)] + rows.flatMap(Self.lines)
    }

    private func isInstalled(_ bundle: HandlerBundle) -> Bool { ![.configuration, .builtIn].contains(bundle.origin) }

    private func state(_ bundle: HandlerBundle) -> String {
        if isEnabled(bundle) { return "enabled" }
        return bundle.isBuiltIn ? "disabled: eligibility: handlers is set" : "disabled"
    }

    private func launch(_ bundle: HandlerBundle) -> [(label: String, values: [String])] {
        let rules = bundle.launch
        let mode =
            switch rules.mode {
            case .perItem: "perItem: once for each item"
            case .perTransfer: "perTransfer: once for all items of a transfer"
            case .resident: "resident: once; it keeps running and reads one item a line"
            }
        let permissions = permissions(of: bundle)
        return [
            ("started", [mode]),
            ("asked first", LaunchRules.Call.allCases.filter(rules.calls.contains).map(\.rawValue)),
            ("told of locks", LaunchRules.Notice.allCases.filter(rules.notices.contains).map(\.rawValue)),
            ("streams", rules.takesStreams ? ["sealed files that are too large for a clear copy"] : []),
            ("time limit", [timeLimit(rules)]),
            ("sandbox", [permissions == nil ? "none: it has all your permissions" : "strict: it may do only this:"]),
        ] + (permissions?.rows ?? [])
    }

    private func timeLimit(_ rules: LaunchRules) -> String {
        rules.timeout.map(Self.seconds) ?? Self.seconds(place.usualTimeLimit) + " (hookTimeout in the configuration)"
    }

    private func lines(_ documentType: DocumentType, _ bundle: HandlerBundle) -> [String] {
        let name = Self.quoted(documentType.name, bundle)
        let opens = documentType.rank != .none && documentType.role.opens ? "" : ": is not asked to open them"
        return documentType.types(in: snapshot.registry).map { type in
            "\(Self.escaped(type.words))  rank \(documentType.rank.rawValue), role \(documentType.role.rawValue)"
                + name + opens
        }
    }

    private func line(_ activity: HandlerActivity, _ bundle: HandlerBundle) -> String {
        let title = Self.escaped(bundle.localized(activity.title) ?? activity.title)
        let types = activity.itemTypes.map { Self.escaped($0.words) }.joined(separator: ", ")
        let most = activity.maximumItems.map { ", at most \($0)" } ?? ""
        return "\(title): \(types)\(most)  \(Self.escaped(activity.type))"
    }

    private static func lines(_ urlType: URLType, _ bundle: HandlerBundle) -> [String] {
        let name = quoted(urlType.name, bundle)
        let opens = urlType.role.opens ? "" : ": is not asked to open them"
        return urlType.schemes.map { "\($0):  role \(urlType.role.rawValue)\(name)\(opens)" }
    }

    /// The end of a line: a name from the bundle, in the user's language.
    private static func quoted(_ name: String?, _ bundle: HandlerBundle) -> String {
        guard let name else { return "" }
        return ", \"\(escaped(bundle.localized(name) ?? name))\""
    }

    private func line(_ declaration: TypeDeclaration) -> String {
        var parts: [String] = []
        if let description = declaration.description { parts.append("\"\(Self.escaped(description))\"") }
        if !declaration.parents.isEmpty {
            parts.append("conforms to " + declaration.parents.map(\.identifier).joined(separator: ", "))
        }
        let tags = declaration.extensions.map { ".\($0)" } + declaration.mimeTypes
        if !tags.isEmpty { parts.append(Self.escaped(tags.joined(separator: ", "))) }
        return "\(declaration.type)" + (parts.isEmpty ? "" : "  " + parts.joined(separator: "; "))
    }

    /// The table of a handler's permissions, indented.
    func permissionLines(of bundle: HandlerBundle) -> [String] {
        guard bundle.executable != nil else { return [] }
        let name = Self.name(bundle)
        guard let permissions = permissions(of: bundle) else {
            return ["  \(name) has no sandbox: it has all your permissions"]
        }
        return ["  \(name) may do only this:"] + permissions.rows.flatMap(Self.lines).map { "  " + $0 }
    }

    private static func lines(_ row: (label: String, values: [String])) -> [String] {
        var values = row.values
        if values.count > shownLines {
            values = values.prefix(shownLines) + ["and \(row.values.count - shownLines) more"]
        }
        return values.enumerated().map { index, value in
            let label = index == 0 ? row.label : ""
            return "  " + label + String(repeating: " ", count: max(1, labelWidth - label.count)) + value
        }
    }

    /// Such as `90 s` or `0.5 s`.
    static func seconds(_ duration: Duration) -> String {
        let (seconds, attoseconds) = duration.components
        let fraction = Double(attoseconds) / 1e18
        return fraction == 0 ? "\(seconds) s" : "\(Double(seconds) + fraction) s"
    }

    private static func moment(_ time: Timestamp) -> String {
        let format = Date.ISO8601FormatStyle(timeZone: .current).year().month().day()
            .dateTimeSeparator(.space).time(includingFractionalSeconds: false)
        return Date(timeIntervalSince1970: Double(time.seconds)).formatted(format)
    }
}
