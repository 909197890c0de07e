import ArgumentParser
import Foundation
import Lines
import TestSupport
import Testing

@testable import CommandLine

/// Checks that the lines of a verb keep the contract.
func holdContract(_ lines: [String]) {
    for fault in LineContract.shared.faults(in: lines) {
        Issue.record("a line is not as the schema has it: \(fault)")
    }
}

@Suite("The contract of --json and of the exit codes")
struct EventContractTests {
    private let schema: [String: Any]

    init() throws {
        let data = try Data(contentsOf: URL(fileURLWithPath: LineContract.schema))
        schema = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
    }

    private var lines: [[String: Any]] { schema["oneOf"] as? [[String: Any]] ?? [] }

    private var definitions: [String: [String: Any]] { schema["$defs"] as? [String: [String: Any]] ?? [:] }

    private func properties(_ object: [String: Any]) -> [String: [String: Any]] {
        object["properties"] as? [String: [String: Any]] ?? [:]
    }

    private func text(_ path: String) throws -> String {
        try String(contentsOfFile: LineContract.root + "/" + path, encoding: .utf8)
    }

    @Test("the schema has every line that can be printed, once, and no other")
    func names() throws {
        let names = lines.compactMap { properties($0)["event"]?["const"] as? String }
        #expect(names.count == lines.count)
        #expect(try Set(names) == LineTests.names())
        for line in lines {
            #expect(line["title"] as? String == properties(line)["event"]?["const"] as? String)
            #expect((line["required"] as? [String])?.starts(with: ["v", "event"]) == true)
        }
    }

    @Test("a field of one name is the same in all lines, and no line has a field that is not written down")
    func fields() {
        for object in lines + definitions.values where object["properties"] != nil {
            #expect(object["additionalProperties"] as? Bool == false, "\(object)")
            for (name, field) in properties(object) where name != "event" {
                #expect(field["$ref"] as? String == "#/$defs/\(name)", "\(name) in \(object)")
                #expect(Set(field.keys).subtracting(["$ref", "enum"]).isEmpty, "\(name) in \(object)")
                #expect(definitions[name] != nil, "\(name)")
            }
        }
    }

    @Test("the page of the lines has all of them")
    func page() throws {
        let page = try text("Sources/Faces/CommandLine/CommandLine.docc/Events.md")
        let table = try #require(page.components(separatedBy: "## Lines of each verb").last)
        let named = Set(table.matches(of: /`([A-Za-z]+)`/).map { String($0.output.1) })
        #expect(try LineTests.names().subtracting(named) == [])
        #expect(try text(UserDocument.article("Scripting")).contains("(Events.md)"))
    }

    @Test(
        "the schema refuses unknown lines and fields, other types, short ids and other forms of times",
        arguments: [
            #"{"event":"done","exit":0}"#, #"{"v":2,"event":"done","exit":0}"#, #"{"v":1,"event":"over","exit":0}"#,
            #"{"v":1,"event":"done","exit":0,"new":1}"#, #"{"v":1,"event":"done","exit":"0"}"#,
            #"{"v":1,"event":"done","exit":2}"#, #"{"v":1,"event":"done"}"#, "[]", "done",
            #"{"v":1,"event":"forgotten","id":"k7qf-9m2c-x4ap-t0zd","blocked":false}"#,
            #"{"v":1,"event":"entry","stored":"a","path":"/a","kind":"file","modified":1795469442568}"#,
            #"{"v":1,"event":"entry","stored":"a","path":"/a","kind":"file","modified":"2026-11-21 10:00:00"}"#,
        ])
    func refused(line: String) {
        #expect(LineContract.shared.faults(in: [line]).count == 1)
        #expect(LineContract.shared.faults(in: [#"{"v":1,"event":"done","exit":0}"#]) == [])
    }

    @Test("a failure is a line with its reason, the next step and the exit code, and the last line of send is done")
    func failures() throws {
        let failure = CommandError(.inputMissing, "it is not there", hint: "look", others: ["nor is that"])
        let line = TerminalText.escaped(json: failure.line().json)
        holdContract([line, DoneLine(exit: .inputMissing).json])
        let exit = WaftExit.inputMissing.rawValue
        #expect(
            line == #"{"event":"failed","exit":\#(exit),"hint":"look","others":["nor is that"],"#
                + #""reason":"it is not there","v":1}"#)
    }

    @Test("the article on scripts, help, manual, schema and code have one table of exit codes")
    func exits() throws {
        let rows = try text(UserDocument.article("Scripting")).matches(of: /(?m)^\| (\d+) \| (.+) \|$/).map {
            "\($0.output.1) \($0.output.2)"
        }
        #expect(rows == WaftExit.allCases.map { "\($0.rawValue) \($0.meaning)" })
        let help = words(
            of: HelpPage.text(for: CommandWords(words: ["help", "exit-codes"]), of: WaftCommand.self) ?? "")
        for exit in WaftExit.allCases {
            let row = words(of: "\(exit.rawValue) \(exit.meaning.replacing("`", with: ""))")
            #expect(help.contains(row), "\(row)")
        }
        let manual = try text("Scripts/package.d/man/waft.1").matches(of: /\n\.It (\d+)\n/).map { String($0.output.1) }
        #expect(manual == WaftExit.allCases.map { "\($0.rawValue)" })
        #expect(definitions["exit"]?["enum"] as? [Int] == WaftExit.allCases.map { Int($0.rawValue) })
    }

    private func words(of text: String) -> String {
        text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    }
}
