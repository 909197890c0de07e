import Foundation
import Testing
import WebPages

@testable import Desk

@Suite("The files of the pages, as they are served")
struct PageFileTests {
    @Test("indentation, empty lines and lines of comments are left out, and nothing else is")
    func lean() {
        let file = """
            // A comment.
            /* Another one. */
            a();

            \tb("// no comment"); // one beside
                /* begins */ c(); /* ends */
            """
        let served = String(decoding: PageFile.lean(Array(file.utf8)), as: UTF8.self)
        #expect(
            served == """
                a();
                b("// no comment"); // one beside
                /* begins */ c(); /* ends */

                """)
        #expect(PageFile.lean([]).isEmpty)
    }

    /// A line of such a text could begin as a comment does.
    @Test("no text of a script goes over the end of a line")
    func texts() throws {
        let sources = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../Sources").standardized
        let folders = ["Faces/Desk/Page", "Network/WebPages/Look", "Dialects/WebDialect/Page"]
        var scripts = 0
        for folder in folders {
            let files = FileManager.default.enumerator(
                at: sources.appending(path: folder), includingPropertiesForKeys: nil)
            while let file = files?.nextObject() as? URL {
                guard file.pathExtension == "js" else { continue }
                scripts += 1
                for line in try String(contentsOf: file, encoding: .utf8).split(separator: "\n") {
                    #expect(line.count { $0 == "`" }.isMultiple(of: 2), "\(file.lastPathComponent): \(line)")
                }
            }
        }
        #expect(scripts > 40)
    }
}
