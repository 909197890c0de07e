import ArgumentParser
import ContentCheck
import Control
import Endpoints
import HandlerCatalog
import Handlers
import Inbox
import Journal
import Settings
import Sharing

/// `waft inbox remove`: delete items.
struct InboxRemoveCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove",
        abstract: "Delete items of the Inbox.",
        discussion: """
            Example: waft inbox remove 12

            waft inbox verify no longer reports removed items as missing, even if another program moved or deleted them. Exit \
            code 15 if a handler still reads an item after five seconds.
            """
    )

    @Argument(
        help: ArgumentHelp(
            "Numbers of items, as waft inbox shows them, or their names.", valueName: "item"),
        completion: .inboxItems)
    var arrivals: [String]

    @OptionGroup var readers: ReaderOptions

    @OptionGroup var output: OutputOptions

    func run() async throws {
        let gone = Leaving.Ending(how: .removed, words: "it was gone already")
        let leaving = Leaving(
            inbox: try CommandContext(isForgiving: true).inbox, now: readers.now, json: output.json, whenReplaced: gone)
        let exit = try await leaving.each(arrivals) { entry throws(LeavingError) in
            let wasThere = try InboxLeaving.remove(entry.arrival, inbox: leaving.inbox)
            return wasThere ? Leaving.Ending(how: .removed, words: "removed") : gone
        }
        if exit != .done { throw exit.code }
    }
}
