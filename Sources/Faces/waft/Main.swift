import CommandLine

/// The command line. Called as `waftd`, the same program is the daemon: there is one program file, and a link to it.
/// Everything is in `CommandLine`, where it can be tested.
@main
enum Main {
    static func main() {
        // The caller of a program can leave its name out.
        let path = CommandLine.argc > 0 ? CommandLine.unsafeArgv[0].map { String(cString: $0) } ?? "" : ""
        if path == "waftd" || path.hasSuffix("/waftd") { CommandLineRun.main(WaftDaemonCommand.self) }
        CommandLineRun.main(WaftCommand.self)
    }
}
