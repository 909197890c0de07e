import ArgumentParser
import Operations
import Settings

/// Words for values, at the Tab key.
extension CompletionKind {
    /// Items of `waft send`, beside files: contacts with the colon that says that they are no file, such as `kitchen:`.
    static var sendItems: Self {
        .custom { words, index, _ in
            guard words.indices.contains(index), !words[index].isEmpty, !words[index].contains("/") else { return [] }
            let names = (try? CommandContext().people.contactNames) ?? []
            return CompletionWords.offered(names.map { $0 + ":" })
        }
    }

    /// Values of the setting that the word before names.
    static var settingValues: Self {
        .custom { words, index, _ in
            guard words.indices.contains(index - 1),
                let setting = SettingKey.all.first(where: { $0.name == words[index - 1] })
            else { return [] }
            return switch setting.kind {
            case .words(let values): CompletionWords.offered(values)
            case .truth: CompletionWords.offered(["true", "false"])
            case .text, .number, .list, .rules: []
            }
        }
    }

    /// Uniform type identifiers that begin with the typed text. Before the first letter only the public ones: there are
    /// thousands.
    static var types: Self {
        .custom { words, index, _ in
            let typed = words.indices.contains(index) ? words[index].lowercased() : ""
            let known = TypeWords.identifiers((try? CommandContext())?.home)
            return CompletionWords.offered(
                known.filter { $0.lowercased().hasPrefix(typed.isEmpty ? "public." : typed) })
        }
    }
}
