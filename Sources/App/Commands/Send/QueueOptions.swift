import ArgumentParser
import Contacts
import Control
import Outbox

/// How `waft send` leaves things to the daemon.
struct QueueOptions: ParsableArguments {
    @Flag(name: .long, help: "Let the daemon send it when the peer is reachable, even after a reboot.")
    var queue = false

    @Flag(name: .long, help: "With --queue: copy the files now, and send the copies.")
    var snapshot = false

    @Option(name: .long, help: ArgumentHelp("With --queue: give up after this many days.", valueName: "days"))
    var expires: Int?

    func validate() throws {
        if !queue, snapshot || expires != nil { throw ValidationError("--snapshot and --expires go with --queue") }
        if let expires, !(1...OutboxLimits.longestDays).contains(expires) {
            throw ValidationError("--expires is 1 to \(OutboxLimits.longestDays) days")
        }
    }
}
