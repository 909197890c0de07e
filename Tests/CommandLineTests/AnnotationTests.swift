import ArgumentParser
import Endpoints
import Lines
import Operations
import Sharing
import Testing

@testable import CommandLine

@Suite("The annotation of the command line")
struct AnnotationTests {
    @Test("the key ends at the first =, and the value may be empty or have more of them")
    func words() throws {
        let annotation = try Annotation(words: ["a=b=c", "b=", "ключ= x "])
        #expect(annotation.values == ["a": "b=c", "b": "", "ключ": " x "])
        #expect(annotation.json == #"{"a":"b=c","b":"","ключ":" x "}"#)
        #expect(annotation.environment == ["WAFT_ANNOTATION": annotation.json])
        #expect(Annotation().environment == ["WAFT_ANNOTATION": nil], "one of the caller's is taken away")
    }

    @Test(
        "a word without a key, a key that is given twice, and more than 16 KiB are wrong usage",
        arguments: [
            ["a"], ["=b"], [""], ["a=1", "a=2"], ["a=" + String(repeating: "x", count: Limits.annotationBytes)],
        ])
    func wrong(_ words: [String]) {
        let error = #expect(throws: CommandError.self) { try Annotation(words: words) }
        #expect(error?.exit == .usage)
        #expect(error?.message.contains("--annotation") == true || error?.message.contains("bytes") == true)
    }

    @Test("16 KiB in all are taken")
    func bound() throws {
        #expect(
            try Annotation(words: ["a=" + String(repeating: "x", count: Limits.annotationBytes - 1)]).values.count == 1)
    }

    private func parse(_ words: [String]) throws -> SendOptions {
        let command = try WaftCommand.parseAsRoot(["send"] + words + ["--queue"])
        return try #require(command as? SendCommand).options()
    }

    @Test("send takes facts beside its note and subject, and none by a key of Waft's own")
    func send() throws {
        let options = try parse(["--annotation", "a=b", "--note", "n", "--subject", "s"])
        #expect(SourceApplication.removed(from: options.annotation) == ["a": "b", "note": "n", "subject": "s"])
        for key in ["note", "subject", SourceApplication.key] {
            let error = #expect(throws: CommandError.self) { try parse(["--annotation", key + "=b"]) }
            #expect(error?.exit == .usage)
        }
        let half = String(repeating: "x", count: Limits.annotationBytes / 2)
        #expect(throws: CommandError.self) { try parse(["--annotation", "a=" + half, "--note", half]) }
    }
}
