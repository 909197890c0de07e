import Foundation
import Lines
import Operations

// Text from bundles is foreign: all words are escaped.

/// Longest path that is shown whole.
private let pathLimit = 4_096

private func shownPath(_ path: String) -> String { TerminalText.escaped(path, limit: pathLimit) }

extension HandlerLine: WordedLine {
    /// Types that are named in a line.
    private static let namedTypes = 8
    /// Lines under one label.
    private static let shownLines = 64
    private static let labelWidth = 14

    /// A handler as it stands in the list.
    var words: [String] {
        [
            "\(shownName)  \(identifier)  \(enabled ? "enabled" : "disabled")",
            "  opens  \(opens)",
            "  from   \(source)",
        ] + (defaults.isEmpty ? [] : ["  default for \(Self.some(defaults))"])
            + shownWarnings.map { "  warning: \($0)" }
    }

    /// Whether it is a bundle.
    var isInstalled: Bool { ![.configuration, .builtIn].contains(origin) }

    /// In the user's language.
    private var shownName: String { TerminalText.escaped(localizedName ?? name) }

    private var shownWarnings: [String] { warnings.map { TerminalText.escaped($0, limit: pathLimit + 400) } }

    /// The types and schemes for which the user chose it.
    private var defaults: [String] { defaultTypes + defaultSchemes.map { "\($0):" } }

    private static func some(_ words: [String]) -> String {
        let more = words.count > namedTypes ? " and \(words.count - namedTypes) more" : ""
        return words.prefix(namedTypes).joined(separator: ", ") + more
    }

    private var opens: String {
        switch origin {
        case .builtIn:
            return enabled ? "everything else: it keeps it in the Inbox" : "nothing: eligibility: handlers is set"
        case .configuration: return "items that no installed handler opens"
        case .user, .machine, .distribution: break
        }
        var seen: Set<String> = []
        let types = documentTypes.filter(\.opens).map(\.type).filter { seen.insert($0).inserted }
        let all =
            types.map(Self.typeWords) + Set(urlTypes.filter(\.opens).map(\.scheme)).sorted().map { "\($0): URLs" }
        return all.isEmpty ? "nothing" : Self.some(all)
    }

    private static func typeWords(_ type: String) -> String {
        TerminalText.escaped(TypeWords.identifier(type))
    }

    private var source: String {
        switch origin {
        case .configuration: "hook: in the configuration, \(shownPath(executable ?? ""))"
        case .builtIn: "built in"
        case .user, .machine, .distribution: folder
        }
    }

    private var folder: String {
        let owner =
            switch origin {
            case .user: " (yours)"
            case .machine: " (this machine's)"
            case .distribution: " (of a package)"
            case .configuration, .builtIn: ""
            }
        return shownPath(path ?? "") + owner
    }

    // MARK: Details

    /// The full description of a handler.
    var details: [String] {
        var rows: [(label: String, values: [String])] = [("identifier", [identifier]), ("state", [state])]
        if origin != .builtIn { rows.append((isInstalled ? "folder" : "started in", [folder])) }
        rows += [
            ("runs", [executable.map(shownPath) ?? "nothing: it is built in"]),
            ("version", version.map { [TerminalText.escaped($0)] } ?? []),
            ("data folder", dataFolder.map { [shownPath($0)] } ?? []),
            ("installed", isInstalled ? [Self.moment(installed ?? LineTime(milliseconds: 0))] : []),
            ("opens", isInstalled ? documentTypes.map(Self.claim) : [opens]),
            ("opens URLs", urlTypes.map(Self.claim)),
            ("shares", (activities ?? []).map(Self.activity)),
            ("default for", defaults),
        ]
        if executable != nil { rows += launchRows }
        rows += [
            ("exports", exports.map(Self.declaration)),
            ("imports", imports.map(Self.declaration)),
            ("warning", shownWarnings),
        ]
        return [shownName] + rows.flatMap(Self.lines)
    }

    private var state: String {
        if enabled { return "enabled" }
        return origin == .builtIn ? "disabled: eligibility: handlers is set" : "disabled"
    }

    private var launchRows: [(label: String, values: [String])] {
        let mode =
            switch launch {
            case "perItem": "perItem: once for each item"
            case "perTransfer": "perTransfer: once for all items of a transfer"
            default: "resident: once; it keeps running and reads one item a line"
            }
        let limit = Self.seconds(timeLimit ?? 0)
        return [
            ("started", [mode]),
            ("asked first", (launchCalls ?? []).filter { !notices.contains($0) }),
            ("told of locks", notices),
            ("streams", streams == true ? ["sealed files that are too large for a clear copy"] : []),
            ("time limit", [hasUsualTimeLimit ? limit + " (hookTimeout in the configuration)" : limit]),
            ("sandbox", [permissions == nil ? "none: it has all your permissions" : "strict: it may do only this:"]),
        ] + (permissions?.rows ?? [])
    }

    private static func claim(_ claim: TypeClaim) -> String {
        let opens = claim.opens ? "" : ": is not asked to open them"
        return "\(typeWords(claim.type))  rank \(claim.rank), role \(claim.role)"
            + quoted(claim.localizedName ?? claim.name) + opens
    }

    private static func claim(_ claim: SchemeClaim) -> String {
        let opens = claim.opens ? "" : ": is not asked to open them"
        return "\(claim.scheme):  role \(claim.role)\(quoted(claim.localizedName ?? claim.name))\(opens)"
    }

    /// The end of a line: a name from the bundle.
    private static func quoted(_ name: String?) -> String {
        name.map { ", \"\(TerminalText.escaped($0))\"" } ?? ""
    }

    private static func activity(_ activity: Activity) -> String {
        let types = activity.itemTypes.map(typeWords).joined(separator: ", ")
        let most = activity.maximumItems.map { ", at most \($0)" } ?? ""
        return "\(TerminalText.escaped(activity.title)): \(types)\(most)  \(TerminalText.escaped(activity.type))"
    }

    private static func declaration(_ declaration: Declaration) -> String {
        var parts: [String] = []
        if let description = declaration.description { parts.append("\"\(TerminalText.escaped(description))\"") }
        if !declaration.conformsTo.isEmpty {
            parts.append("conforms to " + declaration.conformsTo.joined(separator: ", "))
        }
        let tags = declaration.extensions.map { ".\($0)" } + declaration.mimeTypes
        if !tags.isEmpty { parts.append(TerminalText.escaped(tags.joined(separator: ", "))) }
        return declaration.type + (parts.isEmpty ? "" : "  " + parts.joined(separator: "; "))
    }

    fileprivate static func lines(_ row: (label: String, values: [String])) -> [String] {
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
    private static func seconds(_ seconds: Double) -> String {
        Int64(exactly: seconds).map { "\($0) s" } ?? "\(seconds) s"
    }

    private static func moment(_ time: LineTime) -> String {
        time.date.formatted(
            Date.ISO8601FormatStyle(timeZone: .current).year().month().day()
                .dateTimeSeparator(.space).time(includingFractionalSeconds: false))
    }

    // MARK: Changes

    /// The words after its installation.
    /// - Parameters:
    ///   - program: as it was typed.
    ///   - warningCount: of the last warnings, which are of the installation.
    func installation(of program: String, isCopy: Bool, warningCount: Int) -> [String] {
        let form = isCopy ? "a copy of \(shownPath(program))" : "\(shownPath(program)), in place"
        var lines = [
            "installed \(TerminalText.escaped(name)) (\(identifier)) in \(shownPath(path ?? ""))",
            "  opens  \(opens)",
            "  runs   \(form)",
        ]
        if let permissions {
            // The first path is the program, if it is stored elsewhere.
            lines += permissions.reads.dropFirst(isCopy ? 0 : 1).map { "  reads  \(shownPath($0))" }
            lines += permissions.writes.map { "  writes \(shownPath($0))" }
            if permissions.network { lines.append("  uses   the network") }
            if permissions.sockets { lines.append("  uses   Unix sockets, and by them your other programs") }
            if !permissions.environment.isEmpty {
                let names = permissions.environment.joined(separator: ", ")
                lines.append("  gets   \(names) of the receiver's environment")
            }
        }
        return lines
            + (shownWarnings.suffix(warningCount) + shownWarnings.dropLast(warningCount)).map { "  warning: \($0)" }
    }
}

extension HandlerPermissions {
    /// Rows for a table.
    fileprivate var rows: [(label: String, values: [String])] {
        let reads = ["the system's folders, its bundle, the Inbox, and the folders it writes to"] + reads.map(shownPath)
        let writes =
            [dataFolder.map { "its data folder \(shownPath($0))" }, "a temporary folder for each call"].compactMap(
                \.self)
            + writes.filter { $0 != dataFolder }.map(shownPath)
        var rows: [(label: String, values: [String])] = [
            ("reads", reads),
            ("writes", writes),
            ("Inbox", ["deletes items and moves them out; changes none"]),
            ("network", [network ? "yes" : "no"]),
            ("sockets", [sockets ? "yes: it can connect to your other programs by Unix sockets" : "no"]),
        ]
        if !environment.isEmpty {
            rows.append(("variables", ["\(environment.joined(separator: ", ")) of the receiver's environment"]))
        }
        return rows + [
            ("signals", ["only to its own processes"]),
            ("kernel", [TerminalText.escaped(kernel, limit: 400)]),
        ]
    }
}

extension HandlerProblemLine: WordedLine {
    var words: [String] {
        let identifier = identifier.map { "  \($0)" } ?? ""
        let state = severity == .unusable ? "cannot be used" : "warning"
        return [
            "\(TerminalText.escaped(name))\(identifier)  \(state)",
            "  why    \(TerminalText.escaped(reason, limit: 400))",
            "  from   \(shownPath(path))",
            "  to do  \(TerminalText.escaped(hint, limit: pathLimit + 400))",
        ]
    }
}

extension HandlerRemovedLine: WordedLine {
    var words: [String] {
        var lines = ["removed \(shownPath(path))"]
        if let dataFolder {
            lines.append("  \(isDataRemoved ? "removed" : "kept") its data folder \(shownPath(dataFolder))")
        }
        let forgotten = forgottenTypes + forgottenSchemes.map { "\($0):" }
        if !forgotten.isEmpty { lines.append("  it was your default for \(forgotten.joined(separator: ", "))") }
        return lines
    }
}

extension HandlerDefaultLine: WordedLine {
    /// The type or scheme, as it is typed.
    var subject: String { TerminalText.escaped(type ?? "\(scheme ?? ""):") }

    var words: [String] {
        guard let handler else { return ["\(subject)  no default"] }
        let state =
            switch state {
            case .disabled: ", which is disabled"
            case .missing: ", which is not installed"
            case .enabled, nil: ""
            }
        return ["\(subject)  \(name.map { "\(TerminalText.escaped($0)) (\(handler))" } ?? handler)\(state)"]
    }

    /// The words after a choice.
    var change: String {
        isInbox
            ? "\(subject) stays in the Inbox from now on, and no handler is asked"
            : "\(TerminalText.escaped(name ?? "")) is asked first about \(subject) from now on"
    }
}

// MARK: Decisions

extension HandlerDecisionLine: WordedLine {
    /// The whole decision.
    var words: [String] {
        let subject = path.map { "\(shownPath($0)): " } ?? ""
        let kind = exists == false ? ", by its type only: the file does not exist" : ""
        var lines = ["\(subject)\(Self.typeWords(type, description))\(kind)"]
        if let content, let contentWords {
            let words = ContentWords.line(
                content, declared: description ?? type, found: contentWords, explanation: contentExplanation ?? "")
            lines.append("  \(words)")
        }
        if handedOnAs != type { lines.append("  handed on as \(Self.typeWords(handedOnAs, handedOnDescription))") }
        if isEligibilityRuled {
            let no = TerminalText.escaped(reason ?? "", limit: 400)
            lines.append("  can be sent here: \(eligible ? "yes" : "no: \(no)")")
        }
        lines += claimants.enumerated().map { index, claimant in
            let explanation = TerminalText.escaped(claimant.explanation ?? "", limit: 600)
            return "  \(index + 1). \(TerminalText.escaped(claimant.shownName))  \(explanation)"
        }
        return lines + passedOver.map(\.words) + ["  \(outcome)"] + (asked.first?.permissionLines ?? [])
    }

    /// The handlers that get the item, or the reason why none does.
    private var outcome: String {
        if !eligible { return "no handler gets it: it cannot be sent here" }
        if content == "lying" {
            return "no handler gets it: its content does not match its type; it stays in the Inbox, marked"
        }
        return AskedHandler.chain(asked) ?? "no handler gets it: it stays in the Inbox"
    }

    private static func typeWords(_ type: String, _ description: String?) -> String {
        type + (description.map { " (\(TerminalText.escaped($0)))" } ?? "")
    }
}

extension SchemeDecisionLine: WordedLine {
    /// The whole decision.
    var words: [String] {
        let scheme = urlParts.scheme
        var lines = ["\(TerminalText.escaped(url, limit: 400)): a URL of the scheme \(scheme)"]
        if builtIn {
            lines.append("  \(scheme): is built in: waft open hands it to xdg-open; no handler can claim it")
        } else {
            lines += claimants.enumerated().map { index, claimant in
                let isDefault = claimant.defaultFor == nil ? "" : "your default for \(scheme):; "
                return "  \(index + 1). \(TerminalText.escaped(claimant.shownName))  \(isDefault)role \(claimant.role)"
            }
            let outcome = AskedHandler.chain(asked) ?? "no handler opens it: \(otherSchemes)"
            lines += passedOver.map(\.words) + ["  \(outcome)"]
        }
        let received =
            openedWhenReceived
            ? "opened at once, because openReceivedURLs in the configuration lists its scheme" : "stored, not opened"
        return lines + ["  when received: \(received)"] + (asked.first?.permissionLines ?? [])
    }

    /// The schemes that handlers here open, as advice about a scheme that none opens.
    private var otherSchemes: String {
        let shown = openedSchemes.prefix(20).map { "\($0):" }.joined(separator: ", ")
        let more = openedSchemes.count > 20 ? " and \(openedSchemes.count - 20) more" : ""
        return openedSchemes.isEmpty ? "no handler here opens URLs" : "handlers here open \(shown)\(more)"
    }
}

extension PassedOverHandler {
    fileprivate var words: String {
        "  not asked: \(TerminalText.escaped(shownName)): \(TerminalText.escaped(reason, limit: 400))"
    }
}

extension AskedHandler {
    fileprivate static func chain(_ handlers: [AskedHandler]) -> String? {
        guard let first = handlers.first else { return nil }
        let next = handlers.dropFirst().first.map {
            "; if it says no, \(TerminalText.escaped($0.shownName)) is asked"
        }
        return "\(TerminalText.escaped(first.shownName)) gets it\(next ?? "")"
    }

    /// The table of its permissions, indented; nothing for one that is no program.
    fileprivate var permissionLines: [String] {
        guard sandbox != nil else { return [] }
        let name = TerminalText.escaped(shownName)
        guard let permissions else { return ["  \(name) has no sandbox: it has all your permissions"] }
        return ["  \(name) may do only this:"] + permissions.rows.flatMap(HandlerLine.lines).map { "  " + $0 }
    }
}

// MARK: Settings

/// Characters of a value that a list shows.
private let shownCharacters = 200

/// A value as a list shows it: that of a password field is shown only to those who ask for it.
private func shown(_ value: String, isSecure: Bool) -> String {
    if value.isEmpty { return "\"\"" }
    return isSecure ? "(hidden)" : TerminalText.escaped(value, limit: shownCharacters)
}

extension HandlerSettingLine: WordedLine {
    /// Characters of a value: it has at most 4,096 bytes, and each may be escaped.
    private static let valueLimit = 40_960

    /// The value alone.
    var words: [String] { values.map { TerminalText.escaped($0, limit: Self.valueLimit) } }

    /// The line of a list.
    /// - Parameter width: columns of the longest key.
    func row(width: Int) -> String {
        let source = setBy == "default" ? "the default" : "set"
        let title = title.map { TerminalText.escaped($0) + ": " } ?? ""
        let value = shown(values.first ?? "", isSecure: isSecure)
        let accepted = TerminalText.escaped(accepted, limit: 1_000)
        return "  \(setting.padded(to: width))  \(value)  (\(source))  \(title)\(accepted)"
    }
}

extension HandlerSettingRow {
    /// The line of a row that is no setting.
    var words: String {
        switch self {
        case .heading(let title): TerminalText.escaped(title)
        case .note(let text): "  " + TerminalText.escaped(text)
        case .unknown(let type, let title):
            "  " + TerminalText.escaped(title) + "  (Waft does not know \(TerminalText.escaped(type)))"
        case .setting(let setting): setting.row(width: 0)
        }
    }
}

extension HandlerSettingChangedLine: WordedLine {
    var words: [String] {
        let new = shown(values.first ?? "", isSecure: isSecure) + (isSet ? "" : ", the default")
        let was = shown(formerValues.first ?? "", isSecure: isSecure) + (wasSet ? "" : ", the default")
        return ["\(setting): \(new)  (was \(was))"]
    }
}

/// The result of a look into a file, in one line.
enum ContentWords {
    /// - Parameters:
    ///   - outcome: `consistent`, `unverified`, `mislabelled` or `lying`.
    ///   - declared: the type by the name, in words.
    ///   - found: the content, in words.
    static func line(_ outcome: String, declared: String, found: String, explanation: String) -> String {
        let line =
            switch outcome {
            case "consistent": "contents match: \(found)"
            case "mislabelled": "the name says \(declared), the contents are \(found)"
            case "lying": "looks like \(declared), but is \(found): not opened"
            default: "contents not verified: \(explanation)"
            }
        return TerminalText.escaped(line, limit: 600)
    }
}
