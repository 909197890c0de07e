import ArgumentParser
import Lines
import Operations

/// `waft contacts group`.
struct ContactsGroupCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "group",
        abstract: "Contacts to which you send together, by waft send --to @NAME.",
        discussion: """
            Examples:
              waft contacts group lab add kitchen attic
              waft contacts group lab remove attic
              waft contacts group lab delete
              waft contacts group               all groups

            A contact that you forget stays in its groups: waft send says then that it is missing, until you remove it.
            """
    )

    enum Change: String, ExpressibleByArgument, CaseIterable {
        case add, remove, delete
    }

    @Argument(help: ArgumentHelp("Name of the group; without it all are listed.", valueName: "name"))
    var name: String?

    @Argument(help: ArgumentHelp("add, remove or delete; without it the group is shown.", valueName: "change"))
    var change: Change?

    @Argument(
        help: ArgumentHelp("Contacts to add or to remove.", valueName: "contact"), completion: .contacts)
    var members: [String] = []

    @OptionGroup var output: OutputOptions

    func validate() throws {
        let needsMembers = change == .add || change == .remove
        if members.isEmpty == needsMembers, change != nil {
            throw ValidationError(needsMembers ? "give at least one contact" : "delete takes no contacts")
        }
    }

    func run() async throws {
        let groups = try await output.doing { waft async throws(WaftError) -> [GroupLine] in
            guard let name else { return try waft.contacts.groups() }
            return switch change {
            case nil: [try waft.contacts.group(name)]
            case .add: [try await waft.contacts.add(members, toGroup: name)]
            case .remove: [try await waft.contacts.remove(members, fromGroup: name)]
            case .delete: [try await waft.contacts.deleteGroup(name)]
            }
        }
        for group in groups { output.show(group) }
        if name == nil, groups.isEmpty {
            output.note("there are no groups; make one with: waft contacts group NAME add CONTACT")
        }
    }
}

extension GroupLine: WordedLine {
    var words: [String] {
        if deleted == true { return ["deleted the group \(TerminalText.escaped(name))"] }
        let names = peers.map { member in
            member.contact.map { TerminalText.escaped($0) } ?? "no contact any more: \(member.id ?? "")"
        }
        return ["@\(TerminalText.escaped(name))  \(names.isEmpty ? "no members" : names.joined(separator: ", "))"]
    }
}
