import Commands

/// The command line. Everything is in `Commands`, where it can be tested.
@main
enum Main {
    static func main() {
        CommandLineRun.main(WaftCommand.self)
    }
}
