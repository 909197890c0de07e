import Foundation
import Testing

/// Shells at a terminal, with the completion script of each.
@Suite("The Tab key at a terminal", .serialized, .timeLimit(.minutes(2)))
struct CompletionTerminalTests {
    enum Shell: String, CaseIterable {
        case bash = "bash --norc -i"
        case zsh = "zsh -f -i"
        case fish = "fish --no-config -i"

        /// The line that loads the completions and then prints READY.
        var setup: String {
            switch self {
            case .bash: ". <(waft --generate-completion-script bash); echo REA''DY\n"
            case .zsh:
                "autoload -U compinit; waft --generate-completion-script zsh >_waft; fpath=($PWD $fpath); "
                    + "compinit -u -D; echo REA''DY\n"
            case .fish: "waft --generate-completion-script fish | source; echo REA''DY\n"
            }
        }
    }

    /// Prints its words, each between angle brackets; the shell's questions go to the real program.
    private static let standIn = """
        #!/bin/sh
        case $1 in ---completion | --generate-completion-script) exec \(Programs.waft) "$@" ;; esac
        for word; do printf '<%s>' "$word"; done
        echo

        """

    /// A typed beginning, and the one name that it means. No two names have the same beginning.
    private static let names = [
        ("a", "a$[`touch pwned`]plan.pdf"), ("b", "b${x:=`touch pwned`}"), ("c", "c$(touch pwned);touch pwned"),
        ("d", #"d space 'quote' "marks" \end"#), ("e", "e!bang!!"), ("f", "f'"), ("g", #"g""#), ("h", "h:colon=y@z"),
        ("'i", "i'$(touch pwned)'"), ("\"j", "j$(touch pwned)`touch pwned`\"!"), ("\\~", "~home"),
    ]

    /// Runs `body` at the terminal of a shell that completes the words of `waft`, which prints its words.
    private func atShell(
        _ shell: Shell, _ home: Host, in folder: String,
        _ body: @escaping @Sendable (RunningProgram) async throws -> Void
    ) async throws {
        try FileManager.default.createDirectory(atPath: folder + "/bin", withIntermediateDirectories: true)
        try writeScript(Self.standIn, to: folder + "/bin/waft")
        let command =
            "exec env 'PATH=\(folder)/bin:\(ProcessInfo.processInfo.environment["PATH"] ?? "")' 'HOME=\(folder)' "
            + "HISTFILE= INPUTRC=/dev/null LC_ALL=C.UTF-8 TERM=xterm \(shell.rawValue)"
        let words = ["--quiet", "--flush", "--return", "--echo", "never", "--command", command, "/dev/null"]
        _ = try await home.withProgram("/usr/bin/script", words, in: folder) { terminal in
            try await terminal.type(shell.setup)
            try await terminal.transcript.says("READY")
            try await body(terminal)
            try await terminal.type("exit\n")
        }
    }

    @Test("a name of the Inbox becomes one word, whatever signs it has, and runs no command", arguments: Shell.allCases)
    func names(_ shell: Shell) async throws {
        try await withTemporaryFolder { folder in
            let inbox = folder + "/kitchen/Documents/Inbox"
            try FileManager.default.createDirectory(atPath: inbox, withIntermediateDirectories: true)
            for (_, name) in Self.names {
                try "x".write(toFile: inbox + "/" + name, atomically: false, encoding: .utf8)
            }
            try await atShell(shell, Host.loopback(folder + "/kitchen"), in: folder) { terminal in
                for (typed, name) in Self.names {
                    try await terminal.type("waft inbox show \(typed)\t\n")
                    try await terminal.transcript.says("<inbox><show><\(name)>")
                }
            }
            #expect(!FileManager.default.fileExists(atPath: folder + "/pwned"))
        }
    }

    @Test(
        "peers and files of send, values of settings and types complete, and after the last word nothing does",
        arguments: Shell.allCases)
    func values(_ shell: Shell) async throws {
        try await withTemporaryFolder { folder in
            let kitchen = Host.loopback(folder + "/kitchen")
            try await kitchen.allow(Host.loopback(folder + "/study"), "nas")
            try "x".write(toFile: folder + "/plan.txt", atomically: false, encoding: .utf8)
            try await atShell(shell, kitchen, in: folder) { terminal in
                for (typed, words) in [
                    ("send pl\t na\t", "<send><plan.txt><nas:>"), ("config set accept ev\t", "<accept><everyone>"),
                    ("send a --type public.ada\t", "<--type><public.ada-source>"),
                    ("contacts show na\t\t", "<contacts><show><nas>"), ("contacts show nas --j\t", "<nas><--json>"),
                ] {
                    try await terminal.type("waft \(typed)\n")
                    try await terminal.transcript.says(words)
                }
            }
        }
    }
}
