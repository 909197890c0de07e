import Foundation
import Subprocess
import Testing

/// The completion script of bash, with a receiver that has entries of every kind.
@Suite("The Tab key in bash, on loopback", .serialized, .timeLimit(.minutes(1)))
struct CompletionScriptTests {
    /// Prints the completions of each line of standard input, with `=` before each list.
    private static let script = """
        PATH="${0%/*}:$PATH"; . <("$0" --generate-completion-script bash)
        while read -r -a COMP_WORDS; do
            COMP_WORDS=("${COMP_WORDS[@]/#./}"); COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
            COMP_LINE="${COMP_WORDS[*]}"; COMP_POINT=${#COMP_LINE}; COMPREPLY=()
            _waft waft "${COMP_WORDS[-1]}" "${COMP_WORDS[-2]}"
            echo "=${COMP_LINE}"; printf '%s\\n' "${COMPREPLY[@]}"
        done
        """

    @Test("offers, contacts, jobs, items, handlers, folders and files complete, and no received name is run")
    func words() async throws {
        try await withTemporaryFolder { folder in
            let hostile = "$(touch mark)"
            let (kitchen, study) = (Host.loopback(folder + "/kitchen"), Host.loopback(folder + "/study"))
            try FileManager.default.createDirectory(atPath: folder + "/target", withIntermediateDirectories: true)
            try "x".write(toFile: folder + "/\(hostile)", atomically: false, encoding: .utf8)
            try await kitchen.allow(study, "anna", ["--policy", "accept"])
            let queued = try await kitchen.run(arguments: ["send", "--text", "x", "--to", "anna", "--queue"])
            #expect(queued.exit == 0, "\(queued.errors)")
            let handler = ["handlers", "add", "--name", "Photos", "--type", "public.image", "--run", "/bin/true"]
            #expect(try await kitchen.run(arguments: handler).exit == 0)
            try await kitchen.becomeVisible()
            try await kitchen.withReceiver(Programs.waftd, []) { running in
                let sent = try await study.run(arguments: ["send", hostile, "--to", running.address], in: folder)
                #expect(sent.exit == 0, "\(sent.errors)")
                let stranger = Host.loopback(folder + "/stranger")
                let sending = ["send", "--text", "y", "--to", running.address]
                _ = try await stranger.withProgram(Programs.waft, sending, signal: .interrupt) { _ in
                    _ = try await running.log.second("offer")
                    let lines = [
                        "accept .", "contacts show .", "outbox show .", "handlers show .", "inbox retry .",
                        "inbox take 1 .t", "send .ta", "send a --to .an", "send .ann", "config set accept .",
                        "send a --type .public.jpeg", "contacts show anna .", "contacts show anna .--j",
                    ]
                    let input = lines.map { "waft \($0)\n" }.joined()
                    let outcome = try await kitchen.run(
                        "/bin/bash", ["--norc", "-c", Self.script, Programs.waft], input: input, in: folder)
                    let lists = outcome.output.split(separator: "=").map { list in
                        list.split(separator: "\n").dropFirst().map(String.init)
                    }
                    #expect(
                        lists == [
                            ["1"], ["anna"], ["1"], ["Photos"], [#"\$\(touch\ mark\)"#], ["target"], ["target"],
                            ["anna"], ["anna:"], ["ask", "contacts", "everyone", "none"],
                            ["public.jpeg", "public.jpeg-2000", "public.jpeg-xl"], [], ["--json"],
                        ], "\(outcome.output) \(outcome.errors)")
                    #expect(!FileManager.default.fileExists(atPath: folder + "/mark"))
                }
            }
        }
    }
}
