import Foundation
import Testing

@Suite("The example todolist", .timeLimit(.minutes(2)))
struct ToDoListTests {
    private func call(
        _ example: ExampleHandler, _ url: String, extra: [String: String] = [:], input: String = ""
    ) async throws -> ProgramResult {
        var variables = ["PATH": example.path, "TZ": "UTC", "LC_ALL": "C.UTF-8", "WAFT_DATA": example.data]
        variables.merge(extra) { $1 }
        return try await example.run(["open-url", url], variables, input: input)
    }

    private func tasks(_ example: ExampleHandler) throws -> [String] {
        let path = example.target + "/To Do.md"
        guard FileManager.default.fileExists(atPath: path) else { return [] }
        return try example.text(path).split(separator: "\n").map(String.init)
    }

    @Test("the query is the task, the fragment the date, and without one it is today")
    func tasks() async throws {
        try await withExample("todolist") { example in
            let urls = [
                "todolist://www.acme.com?Quarterly%20Report#200806231300", "todolist:?Buy+milk#today",
                "TODOLIST://?%C3%BC",
                "todolist:?%2A%20%3Cimg%3E#202402290000",
            ]
            for url in urls {
                let outcome = try await call(example, url)
                #expect(outcome.exit == 0, "\(url): \(outcome.errors)")
            }
            let tasks = try tasks(example)
            try #require(tasks.count == 4)
            #expect(tasks[0] == "- [ ] 2008-06-23 13:00 Quarterly Report")
            #expect(tasks[1].wholeMatch(of: /- \[ \] \d{4}-\d\d-\d\d Buy\+milk/) != nil)
            #expect(tasks[2].hasSuffix(" ü"))
            #expect(tasks[3] == #"- [ ] 2024-02-29 00:00 \* \<img\>"#)
        }
    }

    @Test(
        "without a task, with another date or scheme the answer is no, and nothing is noted",
        arguments: [
            "todolist://www.acme.com", "todolist:?", "todolist:?%20", "todolist:?%FF", "todolist:?a%0Ab",
            "todolist:?a%E2%80%AEb",
            "todolist:?a#tomorrow", "todolist:?a#2008062313", "todolist:?a#200802301300", "todolist:?a#200806232460",
            "todolist:?a#２００８０６２３１３００", "todo:?a", "https://www.acme.com?a",
            "todolist:?" + String(repeating: "a", count: 257),
        ])
    func refused(url: String) async throws {
        try await withExample("todolist") { example in
            let outcome = try await call(example, url)
            #expect(outcome.exit == 1 && outcome.errors.hasPrefix("todolist: "), "\(outcome)")
            #expect(try tasks(example) == [])
        }
    }

    @Test("an arrival is noted once, however often it is called for, and a line that was cut off stays apart")
    func twice() async throws {
        try await withExample("todolist") { example in
            try "- [ ] cut".write(toFile: example.target + "/To Do.md", atomically: false, encoding: .utf8)
            let arrival = ["WAFT_TRANSFER": "0123", "WAFT_PEER_ID": "tqbn"]
            for item in [0, 0, 1] {
                let document = #"{"item":\#(item)}"#
                #expect(try await call(example, "todolist:?a", extra: arrival, input: document).exit == 0)
            }
            let tasks = try tasks(example)
            #expect(tasks.count == 3 && tasks[0] == "- [ ] cut", "\(tasks)")
            #expect(tasks.dropFirst().allSatisfy { $0.contains(" a <!-- ") })
        }
    }

    @Test("added with its scheme it gets what waft open is given, and keeps the list in its data folder")
    func opened() async throws {
        try await withTemporaryFolder { folder in
            var host = Host.loopback(folder + "/kitchen")
            host.environment["PATH"] = BareSystem.handlerPrograms
            let program = ExampleHandler.folder + "/todolist"
            let added = try await host.run(
                arguments: ["handlers", "add", "--name", "To Do", "--scheme", "todolist", "--run", program])
            try #require(added.exit == 0, "\(added.errors)")
            let opened = try await host.run(arguments: ["open", "todolist://?Quarterly%20Report#200806231300"])
            #expect(opened.exit == 0 && opened.output.contains("opened by To Do"), "\(opened)")
            #expect(try await host.run(arguments: ["open", "todolist://?a#soon"]).exit == 16)
            let list = host.home + "/handler-data/org.waft.local.to-do/To Do.md"
            #expect(try String(contentsOfFile: list, encoding: .utf8) == "- [ ] 2008-06-23 13:00 Quarterly Report\n")
        }
    }
}
