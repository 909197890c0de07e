import Glibc
import HookSandbox

/// A launcher for the tests of `HookSandbox` and, otherwise, a hook that makes one system call and prints `ok` or the
/// name of the error. It exits with 0 either way: the output is the answer.
///
///     sandbox-probe write|append|truncate|unlink|rmdir|mkdir|read PATH
///     sandbox-probe rename|link|symlink FROM TO
///     sandbox-probe limits              →  the limits of core size and open files: soft/hard soft/hard
///     sandbox-probe variable NAME       →  its value, or nothing
///     sandbox-probe arguments ANY…      →  each on its line
///     sandbox-probe clean PROGRAM ANY…  →  executes it with no descriptors but the standard streams
///     sandbox-probe exit CODE           →  exits with it
@main
struct SandboxProbe {
    static func main() {
        SandboxedLaunch.runIfAsked(arguments: CommandLine.arguments)
        let arguments = Array(CommandLine.arguments.dropFirst())
        guard let verb = arguments.first else { exit(64) }
        let first = arguments.count > 1 ? arguments[1] : ""
        let second = arguments.count > 2 ? arguments[2] : ""
        switch verb {
        case "write": tell(opened(first, O_WRONLY | O_CREAT | O_TRUNC))
        case "append": tell(opened(first, O_WRONLY | O_APPEND))
        case "read": tell(opened(first, O_RDONLY))
        case "truncate": tell(truncate(first, 0))
        case "unlink": tell(unlink(first))
        case "rmdir": tell(rmdir(first))
        case "mkdir": tell(mkdir(first, 0o700))
        case "rename": tell(rename(first, second))
        case "link": tell(link(first, second))
        case "symlink": tell(symlink(first, second))
        case "limits": printLimits()
        case "variable": if let value = getenv(first) { print(String(cString: value)) }
        case "arguments": for argument in arguments.dropFirst() { print(argument) }
        case "clean": clean(Array(arguments.dropFirst()))
        case "exit": exit(Int32(first) ?? 64)
        default: exit(64)
        }
    }

    private static func opened(_ path: String, _ flags: Int32) -> Int32 {
        let file = open(path, flags, 0o600)
        guard file >= 0 else { return -1 }
        return close(file)
    }

    private static func tell(_ result: Int32) {
        if result == 0 {
            print("ok")
            return
        }
        switch errno {
        case EACCES: print("EACCES")
        case EXDEV: print("EXDEV")
        case EPERM: print("EPERM")
        case ENOENT: print("ENOENT")
        default: print(String(cString: strerror(errno)))
        }
    }

    private static func clean(_ arguments: [String]) {
        for file: Int32 in 3..<1024 { close(file) }
        execv(arguments.first ?? "", arguments.map { strdup($0) } + [nil])
        exit(64)
    }

    private static func printLimits() {
        var core = rlimit()
        var files = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &core)
        getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &files)
        print("\(core.rlim_cur)/\(core.rlim_max) \(files.rlim_cur)/\(files.rlim_max)")
    }
}
