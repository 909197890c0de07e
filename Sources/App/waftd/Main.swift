import Commands

/// The receiver as a daemon. Everything is in `Commands` and `Peer`, where it can be tested.
@main
enum Main {
    static func main() {
        CommandLineRun.main(WaftDaemonCommand.self)
    }
}
