import Glibc
import HookSandbox

/// Starts hooks in their sandbox and stays as their warden. It is installed beside `waft` and `waftd`, which start it
/// for each call: a small program with few libraries starts much faster than they do.
@main
enum Main {
    static func main() {
        SandboxedLaunch.runIfAsked()
        let line = "wafthook: Waft starts this program for its handlers; it is of no other use\n"
        _ = line.withCString { write(STDERR_FILENO, $0, strlen($0)) }
        exit(64)
    }
}
