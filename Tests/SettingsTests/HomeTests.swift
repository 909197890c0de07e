import Foundation
import Testing

@testable import Settings

@Suite("Where things lie")
struct HomeTests {
    @Test("WAFT_HOME is the root of everything")
    func wholeHome() throws {
        let home = try Home(environment: ["WAFT_HOME": "/x/", "HOME": "/home/me", "XDG_CONFIG_HOME": "/c"])
        #expect(home.configurationFile == "/x/config/config.yaml")
        #expect(home.state == "/x/state")
        #expect(home.handlers == "/x/handlers")
        #expect(home.inbox == "/x/Documents/Inbox")
        #expect(home.run == "/x/run")
    }

    @Test("without it the XDG base directories count, and their defaults")
    func xdg() throws {
        let plain = try Home(environment: ["HOME": "/nowhere/me"])
        #expect(plain.configuration == "/nowhere/me/.config/waft")
        #expect(plain.state == "/nowhere/me/.local/state/waft")
        #expect(plain.handlers == "/nowhere/me/.local/share/waft/handlers")
        #expect(plain.inbox == "/nowhere/me/Documents/Inbox")
        #expect(plain.run == "/nowhere/me/.local/state/waft/run")
        let set = try Home(environment: [
            "HOME": "/nowhere/me", "XDG_CONFIG_HOME": "/c", "XDG_STATE_HOME": "relative",
            "XDG_RUNTIME_DIR": "/run/user/7",
            "XDG_DOCUMENTS_DIR": "/d/", "WAFT_HOME": "",
        ])
        #expect(set.configuration == "/c/waft")
        #expect(set.state == "/nowhere/me/.local/state/waft", "a relative path is no path")
        #expect(set.run == "/run/user/7/waft")
        #expect(set.inbox == "/d/Inbox")
    }

    @Test("user-dirs.dirs names the documents folder")
    func userDirectories() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
            "waft-\(UInt64.random(in: 0...(.max)))")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appendingPathComponent("user-dirs.dirs")
        for (line, inbox) in [
            ("XDG_DOCUMENTS_DIR=\"$HOME/Dokumente\"", "/h/Dokumente/Inbox"),
            ("XDG_DOCUMENTS_DIR=\"/srv/d\"", "/srv/d/Inbox"),
            ("XDG_DOCUMENTS_DIR=\"$HOME/\"", "/h/Documents/Inbox"),
            ("#XDG_DOCUMENTS_DIR=\"/srv/d\"", "/h/Documents/Inbox"),
            ("XDG_DOCUMENTS_DIR=\"/srv/d/\"", "/srv/d/Inbox"),
            (" XDG_DOCUMENTS_DIR = \"/srv/d\" \t", "/srv/d/Inbox"),
            ("XDG_DOCUMENTS_DIR=\"$HOME/a \\\"b\\\" \\\\c\" # d", "/h/a \"b\" \\c/Inbox"),
            ("XDG_DOCUMENTS_DIR=\"/first\"\nXDG_DOCUMENTS_DIR=\"/last\"", "/last/Inbox"),
            ("XDG_DOCUMENTS_DIR=\"/first\"\nXDG_DOCUMENTS_DIR=\"relative\"", "/first/Inbox"),
            ("XDG_DOCUMENTS_DIRS=\"/srv/d\"", "/h/Documents/Inbox"),
        ] {
            try "# comment\n\(line)\n".write(to: file, atomically: false, encoding: .utf8)
            #expect(try Home(environment: ["HOME": "/h", "XDG_CONFIG_HOME": folder.path]).inbox == inbox)
        }
    }

    @Test("a home in which no folder can be made is reported with the words of the system")
    func unfitHome() throws {
        #expect {
            try Home(environment: ["HOME": "/proc"]).makeFolders()
        } throws: { error in
            "\(error)" == "the folder /proc/.config/waft cannot be made: No such file or directory"
        }
        #expect {
            try Home(environment: ["WAFT_HOME": "/dev/null"]).makeFolders()
        } throws: { error in
            "\(error)" == "the folder /dev/null/config cannot be made: Not a directory"
        }
    }

    @Test("with neither HOME nor WAFT_HOME it says what to set")
    func homeless() {
        #expect(throws: Home.MissingError.self) { try Home(environment: [:]) }
    }
}
