import Digests
import Foundation
import Handlers
import Sharing
import TestSupport
import Testing

@Suite("The hook contract", .timeLimit(.minutes(1)))
struct HookTests {
    private let recording = """
        printf '%s\\0' "$@" > args
        env -0 > env
        pwd > cwd
        cat > stdin
        """

    @Test("the hook gets its arguments, its folder, its environment and the document")
    func contract() async throws {
        let place = HookFolder()
        let hook = try place.hook(recording)
        let arrival = Arrival.sample(annotation: ["note": "für dich\n", "a": "b"])
        #expect(await hook.open(arrival, attempt: 3) == HandlerAnswer(.yes, exitCode: 0))
        #expect(place.parts("args") == ["open-url", "file:///in/the/Inbox/report.pdf"])
        #expect(place.text("cwd") == place.folder.path + "\n")
        let variables = place.parts("env").filter { $0.hasPrefix("WAFT_") }.sorted()
        let digest = Digest.of(.xxh3_128, Array("hello".utf8)).description
        #expect(
            variables == [
                "WAFT_ATTEMPT=3", "WAFT_DIGEST=\(digest)", "WAFT_FILE=/in/the/Inbox/report.pdf", "WAFT_NAME=report.pdf",
                "WAFT_PEER_ID=\(PeerID.sample(7).text)", "WAFT_PEER_NAME=study", "WAFT_SIZE=5",
                "WAFT_SOURCE_APPLICATION=waft", "WAFT_TRANSFER=\(arrival.transfer)", "WAFT_TYPE=com.adobe.pdf",
                "WAFT_URL=file:///in/the/Inbox/report.pdf",
            ])
        let document = try #require(place.text("stdin"))
        #expect(
            document == """
                {"annotation":{"a":"b","note":"für dich\\n"},"attempt":3,"digest":"\(digest)",\
                "file":"/in/the/Inbox/report.pdf","item":2,"kind":"file","name":"report.pdf",\
                "peer":{"id":"\(PeerID.sample(7).text)","name":"study"},"size":5,"sourceApplication":"waft",\
                "transfer":"\(arrival.transfer)","type":"com.adobe.pdf","url":"file:///in/the/Inbox/report.pdf","v":1}

                """)
    }

    @Test("the rest of the environment is the receiver's own")
    func environment() async throws {
        let place = HookFolder()
        let hook = try place.hook(recording)
        _ = await hook.open(.sample())
        let path = try #require(ProcessInfo.processInfo.environment["PATH"])
        #expect(place.parts("env").contains("PATH=" + path))
    }

    @Test("the URL of a folder ends with a slash")
    func folderURL() async throws {
        let place = HookFolder()
        let hook = try place.hook(recording)
        _ = await hook.open(.sample("tree", kind: .tree))
        #expect(place.parts("args") == ["open-url", "file:///in/the/Inbox/tree/"])
    }

    @Test(
        "no name is ever read by a shell or taken for an option",
        arguments: [
            "$(touch pwned)", "`touch pwned`", "; touch pwned", "| touch pwned", "& touch pwned &", "> pwned",
            "&& touch pwned",
            "\"; touch pwned; \"", "'; touch pwned; '", "\\", "*", "~root", "${PATH}", "%n%s%x", "-rf", "--help", "-",
            "a b  c",
            "🍳 Küche", "#", "=", "!!", "%41", "?query#fragment",
        ])
    func hostileNames(name: String) async throws {
        let place = HookFolder()
        let hook = try place.hook(recording)
        #expect(await hook.open(.sample(name, annotation: [name: name], sender: name)).state == .yes)
        let arguments = place.parts("args")
        #expect(arguments.count == 2)
        #expect(URL(string: arguments.last ?? "")?.path == "/in/the/Inbox/" + name)
        #expect(arguments.last?.hasPrefix("file:///in/the/Inbox/") == true)
        let environment = place.parts("env")
        #expect(environment.contains("WAFT_NAME=" + name))
        #expect(environment.contains("WAFT_FILE=/in/the/Inbox/" + name))
        #expect(environment.contains("WAFT_PEER_NAME=" + name))
        let document = try JSONSerialization.jsonObject(with: Data((place.text("stdin") ?? "").utf8)) as? [String: Any]
        #expect(document?["name"] as? String == name)
        #expect(document?["annotation"] as? [String: String] == [name: name])
        #expect(place.folder.names == ["args", "cwd", "env", "hook", "stdin"])
    }

    @Test(
        "an exit code is an answer: 0 is yes, 1 is no, anything else a failure",
        arguments: [(0, .yes), (1, .no), (2, .failed), (75, .failed), (126, .failed), (255, .failed)]
            as [(Int, HandlerAnswer.State)])
    func exitCodes(code: Int, state: HandlerAnswer.State) async throws {
        let place = HookFolder()
        #expect(await (try place.hook("exit \(code)")).open(.sample()) == HandlerAnswer(state, exitCode: code))
    }

    @Test("a hook that is ended by a signal has failed, without a code", arguments: ["TERM", "KILL", "SEGV"])
    func signals(signal: String) async throws {
        let place = HookFolder()
        #expect(await (try place.hook("kill -\(signal) $$")).open(.sample()) == HandlerAnswer(.failed))
    }

    @Test("a hook that never reads its input holds nobody up, however much there is")
    func neverReads() async throws {
        let place = HookFolder()
        // More than any pipe holds.
        let annotation = ["note": String(repeating: "x", count: 4 << 20)]
        #expect(await (try place.hook("exit 0")).open(.sample(annotation: annotation)).state == .yes)
    }

    @Test("the document can be read to its end, and begins at its beginning, for each hook anew")
    func largeDocument() async throws {
        let place = HookFolder()
        let hook = try place.hook("wc -c > count; exit 0")
        let annotation = ["note": String(repeating: "x", count: 1 << 20)]
        for _ in 0..<2 {
            #expect(await hook.open(.sample(annotation: annotation)).state == .yes)
            let count = Int(place.text("count")?.trimmingCharacters(in: .whitespacesAndNewlines) ?? "") ?? 0
            #expect(count > 1 << 20)
        }
    }

    @Test("what a hook prints goes where errors go, never to our standard output")
    func output() async throws {
        let place = HookFolder()
        let hook = try place.hook(
            "one=$(readlink /proc/$$/fd/1); two=$(readlink /proc/$$/fd/2); echo $one > one; echo $two > two")
        #expect(await hook.open(.sample()).state == .yes)
        let ours = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/2")
        #expect(place.text("one") == ours + "\n")
        #expect(place.text("two") == ours + "\n")
    }

    @Test("a hook inherits no descriptor but its three")
    func descriptors() async throws {
        let place = HookFolder()
        let marker = open(place.folder.file("marker"), O_RDONLY)  // no O_CLOEXEC, as a careless library would
        defer { close(marker) }
        let hook = try place.hook("all=$(readlink /proc/$$/fd/*); echo \"$all\" > descriptors")
        #expect(await hook.open(.sample()).state == .yes)
        let names = (place.text("descriptors") ?? "").split(separator: "\n")
        #expect(!names.contains { $0.hasSuffix("/marker") }, "\(names)")
        #expect(!names.contains { $0.hasPrefix("socket:") }, "\(names)")
    }

    @Test("a hook that is out of time is ended, with the processes it has started")
    func timeLimit() async throws {
        let place = HookFolder()
        place.makePipe("alive")
        let alive = place.listen(to: "alive")
        // Each process of the group holds the pipe; its end is the end of the last.
        let hook = try place.hook("exec 9> alive; echo up >&9; sleep 86400 & sleep 86400", timeLimit: .seconds(1))
        #expect(await hook.open(.sample()) == HandlerAnswer(.failed))
        try await place.end(of: "alive", alive)
    }

    @Test("a child that ignores being asked is ended too, when the hook itself has left")
    func stubbornChild() async throws {
        let place = HookFolder()
        place.makePipe("alive")
        let alive = place.listen(to: "alive")
        let hook = try place.hook(
            "exec 9> alive; (trap '' TERM; echo up >&9; sleep 86400) & wait", timeLimit: .seconds(1))
        #expect(await hook.open(.sample()) == HandlerAnswer(.failed))
        try await place.end(of: "alive", alive)
    }

    @Test("a hook that ignores being asked is ended when its grace is over")
    func stubbornHook() async throws {
        let place = HookFolder()
        place.makePipe("alive")
        let alive = place.listen(to: "alive")
        let hook = try place.hook(
            "trap '' TERM; exec 9> alive; echo up >&9; while :; do sleep 86400; done", timeLimit: .seconds(1),
            grace: .milliseconds(10))
        #expect(await hook.open(.sample()) == HandlerAnswer(.failed))
        try await place.end(of: "alive", alive)
    }

    @Test("a hook that is asked to leave can answer still")
    func leavesInTime() async throws {
        let place = HookFolder()
        place.makePipe("alive")
        let alive = place.listen(to: "alive")
        let hook = try place.hook(
            "trap 'exit 75' TERM; exec 9> alive; echo up >&9; sleep 86400 & wait", timeLimit: .seconds(1))
        let answer = await hook.open(.sample())
        #expect(answer.state == .failed)
        try await place.end(of: "alive", alive)
    }

    @Test("what a hook leaves running of its own will, in time, is left alone")
    func daemonized() async throws {
        let place = HookFolder()
        place.makePipe("alive")
        place.makePipe("gate")
        let alive = place.listen(to: "alive")
        let hook = try place.hook("exec 9> alive; (read line < gate; echo still here >&9) & exit 0")
        #expect(await hook.open(.sample()) == HandlerAnswer(.yes, exitCode: 0))
        place.release("gate")
        #expect(try await alive.first() == "still here")
        try await place.end(of: "alive", alive)
    }

    @Test("a file that is no executable is refused when the hook is made")
    func unfit() throws {
        let place = HookFolder()
        let folder = place.folder
        symlink("/nowhere", folder / "dangling")
        let unfit = [
            folder / "missing", folder.file("plain", "#!/bin/sh\n", mode: 0o644), folder.path, folder / "dangling", "",
            "/dev/null",
        ]
        for path in unfit {
            #expect(throws: Hook.Unfit.self, "\(path)") {
                try Hook(path: path, timeLimit: .seconds(1), logger: quiet)
            }
        }
    }

    @Test("a hook that is a link to an executable is one")
    func link() async throws {
        let place = HookFolder()
        let script = place.script("exit 1")
        symlink(script, place.folder / "link")
        let hook = try Hook(path: place.folder / "link", timeLimit: .seconds(60), logger: quiet)
        #expect(await hook.open(.sample()).state == .no)
    }

    @Test("a relative path is taken from the working directory, and made absolute")
    func relative() throws {
        let hook = try Hook(path: "../../../../../../../../../../bin/./sh", timeLimit: .seconds(1), logger: quiet)
        #expect(hook.path == "/bin/sh" || hook.path == "/usr/bin/sh")
    }

    @Test("a hook that has vanished since has failed")
    func vanished() async throws {
        let place = HookFolder()
        let hook = try place.hook("exit 0")
        try FileManager.default.removeItem(atPath: hook.path)
        #expect(await hook.open(.sample()) == HandlerAnswer(.failed))
    }

    @Test("a text without an interpreter line has failed, and is not given to a shell")
    func noInterpreter() async throws {
        let place = HookFolder()
        let path = place.folder.file("hook", "touch pwned\nexit 0\n", mode: 0o755)
        let hook = try Hook(path: path, timeLimit: .seconds(60), logger: quiet)
        #expect(await hook.open(.sample()) == HandlerAnswer(.failed))
        #expect(place.folder.names == ["hook"])
    }
}

@Suite("Delivery to the hook", .timeLimit(.minutes(1)))
struct HookDeliveryTests {
    @Test("without a hook nobody is asked")
    func none() async throws {
        let delivery = HookDelivery(hook: nil)
        #expect(!delivery.takes(.sample()))
        #expect(await delivery.deliver(.sample()) == HandlerAnswer(.none))
    }

    @Test("at most four hooks run at the same time, and all of them in the end")
    func fourAtOnce() async throws {
        let place = HookFolder()
        place.makePipe("started")
        let hook = try place.hook("echo $WAFT_TRANSFER > started; read line < gate.$WAFT_TRANSFER; exit 0")
        let delivery = HookDelivery(hook: hook)
        let arrivals = (0..<12).map { _ in Arrival.sample() }
        for arrival in arrivals { place.makePipe("gate.\(arrival.transfer)") }
        // Held open, so that the pipe does not end between two hooks.
        let started = place.listen(to: "started")
        let holder = open(place.folder / "started", O_WRONLY | O_CLOEXEC)
        try await withThrowingTaskGroup(of: HandlerAnswer.self) { group in
            for arrival in arrivals { group.addTask { await delivery.deliver(arrival) } }
            // Who has started and was not yet allowed to go on.
            var running: [String] = []
            for number in 1...arrivals.count {
                running.append(try await started.element(number) ?? "")
                #expect(running.count <= 4)
                if running.count == 4 { place.release("gate." + running.removeFirst()) }
            }
            for transfer in running { place.release("gate." + transfer) }
            for try await answer in group { #expect(answer.state == .yes) }
        }
        close(holder)
        try await started.first { $0 == nil }
    }
}
