import Foundation
import Subprocess
import Testing

/// `waft share --window`, and the menus of file managers.
@Suite("The share sheet in a window", .serialized, .timeLimit(.minutes(2)))
struct ShareWindowTests {
    private struct Place: Sendable {
        var host: Host
        let folder: String

        func addProgram(_ name: String, _ script: String) throws {
            try writeScript("#!/bin/sh\n" + script + "\n", to: folder + "/bin/" + name)
        }

        func text(_ name: String) -> String {
            (try? String(contentsOfFile: folder + "/" + name, encoding: .utf8)) ?? ""
        }

        /// Presses a key in the window with this title, as soon as there is one.
        func press(_ keys: String..., in title: String) async throws {
            let words = ["search", "--sync", "--onlyvisible", "--name", title, "windowfocus", "--sync"]
            // It fails when another window goes while it searches.
            try await eventually { try await host.run("/usr/bin/xdotool", words).exit == 0 }
            for key in keys { _ = try await host.run("/usr/bin/xdotool", ["key", "--clearmodifiers", key]) }
        }
    }

    private func withPlace(_ body: @Sendable @escaping (Place) async throws -> Void) async throws {
        try await withTemporaryFolder { folder in
            for name in ["bin", "desktop", "home/Pictures"] {
                try FileManager.default.createDirectory(
                    atPath: folder + "/" + name, withIntermediateDirectories: true)
            }
            try "x".write(toFile: folder + "/a.txt", atomically: false, encoding: .utf8)
            try Data([1, 2]).write(to: URL(fileURLWithPath: folder + "/a b.png"))
            try await Desktop.with(in: folder + "/desktop") { desktop in
                var host = Host.loopback(folder + "/kitchen")
                host.environment.merge(desktop.environment) { $1 }
                host.environment.merge([
                    "DISPLAY": desktop.display, "HOME": folder + "/home",
                    "PATH": folder + "/bin:\(BareSystem.programs)",
                    "XDG_DATA_HOME": "", "XDG_CONFIG_HOME": "", "XDG_PICTURES_DIR": "",
                ]) { $1 }
                try await body(Place(host: host, folder: folder))
            }
        }
    }

    @Test("a row is chosen in zenity's list, and its result is shown in a window")
    func zenity() async throws {
        try await withPlace { place in
            let rows = place.folder + "/rows"
            try place.addProgram("zenity", "tee -a '\(rows)' | /usr/bin/zenity \"$@\"")
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask {
                    let result = try await place.host.run(
                        arguments: [
                            "share", "--window", "a b.png", "--exclude-activity", "org.waft.activity.queue",
                            "--exclude-activity", "org.waft.activity.mail", "--exclude-activity",
                            "org.waft.activity.print", "--exclude-activity", "org.waft.activity.preview",
                        ], in: place.folder)
                    #expect(result.exit == 0, "\(result)")
                }
                // Keys in an empty list choose nothing.
                try await eventually { !((try? String(contentsOfFile: rows, encoding: .utf8)) ?? "").isEmpty }
                try await place.press("Home", "Return", in: "Share with Waft")
                try await eventually {
                    FileManager.default.fileExists(atPath: place.folder + "/home/Pictures/a b.png")
                }
                try await place.press("Return", in: "^Waft$")
                try await group.waitForAll()
            }
        }
    }

    @Test("kdialog asks where there is no zenity; without an answer it is 130, and its failure is told")
    func kdialog() async throws {
        try await withPlace { place in
            var place = place
            place.host.environment["PATH"] = place.folder + "/bin"
            try place.addProgram("kdialog", "printf '%s\\n' \"$@\" >>'\(place.folder)/asked'; exit 1")
            let given = try await place.host.run(arguments: ["share", "--window", "a.txt"], in: place.folder)
            #expect(given.exit == 130, "\(given)")
            #expect(
                place.text("asked").contains("--menu\na.txt  Plain text document, 1 byte\n"), "\(place.text("asked"))")
            #expect(place.text("asked").contains("\norg.waft.activity.preview\nPreview\n"))
            // A name never becomes an option of the program that shows it.
            try "x".write(toFile: place.folder + "/--error", atomically: false, encoding: .utf8)
            _ = try await place.host.run(arguments: ["share", "--window", "./--error"], in: place.folder)
            #expect(place.text("asked").contains("--menu\n --error  data, 1 byte\n"), "\(place.text("asked"))")
            try place.addProgram(
                "kdialog",
                """
                case $3 in --menu) echo org.waft.activity.copy;; *) printf '%s\\n' "$@" >'\(place.folder)/told';; esac
                """)
            let failed = try await place.host.run(arguments: ["share", "--window", "a.txt"], in: place.folder)
            #expect(failed.exit == 13, "\(failed)")
            #expect(
                place.text("told").hasPrefix("--title\nWaft\n--error\na.txt: Copy: "), "\(place.text("told"))")
        }
    }

    @Test("the failure of a sending is told in its reason, and the window of the progress cancels it")
    func sending() async throws {
        try await withPlace { place in
            // No program listens on port 9. The progress is shown until its time is up, or cancelled at once.
            func addZenity(progress: String) throws {
                try place.addProgram(
                    "zenity",
                    """
                    case "$*" in
                        *--list*) echo 127.0.0.1:9;;
                        *--progress*) \(progress);;
                        *) printf '%s\\n' "$@" >'\(place.folder)/told';;
                    esac
                    """)
            }
            try addZenity(progress: "exec /bin/sleep 30")
            let failed = try await place.host.run(arguments: ["share", "--window", "a.txt"], in: place.folder)
            #expect(failed.exit == 11, "\(failed)")
            #expect(
                place.text("told").hasPrefix(
                    "--error\n--no-markup\n--no-wrap\n--title=Waft\n--text=cannot connect: 127.0.0.1:9"),
                "\(place.text("told"))")
            try FileManager.default.removeItem(atPath: place.folder + "/told")
            try addZenity(progress: "exit 1")
            let cancelled = try await place.host.run(arguments: ["share", "--window", "a.txt"], in: place.folder)
            #expect(cancelled.exit == 130 && cancelled.errors.contains("nothing was shared"), "\(cancelled)")
            #expect(place.text("told").isEmpty)
        }
    }

    @Test("the window says for whom it waits, how much is sent to whom, and what has arrived there")
    func steps() async throws {
        try await withPlace { place in
            let kitchen = Host.loopback(place.folder + "/study")
            try await kitchen.withReceiver(Programs.waft, ["receive", "--accept", "ask"]) { running in
                try place.addProgram(
                    "zenity",
                    """
                    case "$*" in
                        *--list*) echo \(running.address);;
                        *--progress*) exec cat >>'\(place.folder)/steps';;
                        *) printf '%s\\n' "$@" >'\(place.folder)/told';;
                    esac
                    """)
                async let shared = place.host.run(
                    arguments: ["share", "--window", "a.txt", "a b.png"], in: place.folder)
                try await eventually { place.text("steps").contains("to accept 2 items\n") }
                try await eventually { try await kitchen.run(arguments: ["accept", "1"]).exit == 0 }
                let result = try await shared
                #expect(result.exit == 0, "\(result)")
                let (steps, told) = (place.text("steps"), place.text("told"))
                let waiting = /pulsate:true\n# Waiting for (stranger .+ \([-0-9a-z]+\)) to accept 2 items\n/
                let name = String(try #require(steps.firstMatch(of: waiting), "\(steps)").1)
                #expect(steps.contains("pulsate:false\n"), "\(steps)")
                #expect(steps.contains("# Sending 2 items to \(name): "), "\(steps)")
                #expect(told.hasSuffix("\n2 of 2 items arrived at \(name)\n"), "\(told)")
            }
        }
    }

    @Test("without either, a new terminal asks, and without files there is nothing to share in it")
    func terminal() async throws {
        try await withPlace { place in
            var place = place
            place.host.environment["PATH"] = place.folder + "/bin"
            let none = try await place.host.run(arguments: ["share", "--window", "a.txt"], in: place.folder)
            #expect(none.exit == 1 && none.errors.contains("install zenity or kdialog"), "\(none)")
            try place.addProgram("x-terminal-emulator", "printf '%s\\n' \"$@\" >'\(place.folder)/words'")
            let asked = try await place.host.run(
                arguments: ["share", "--window", "--subject", "May", "a.txt"], in: place.folder)
            #expect(asked.exit == 0, "\(asked)")
            #expect(place.text("words").hasSuffix("/waft\nshare\n--subject=May\n--\na.txt\n"), "\(place.text("words"))")
            #expect(try await place.host.run(arguments: ["share", "--window"]).exit == 64)
        }
    }

    @Test("the menus of the installed file managers start the sheet with the selected files, and go with remove")
    func menus() async throws {
        try await withPlace { place in
            let managers = ["thunar", "dolphin", "nautilus", "nemo", "caja"]
            let paths = [
                ".local/share/Thunar/sendto/org.waft.Share.desktop",
                ".local/share/kio/servicemenus/org.waft.Share.desktop",
                ".local/share/nautilus/scripts/Share with Waft", ".local/share/nemo/scripts/Share with Waft",
                ".config/caja/scripts/Share with Waft",
            ].map { place.folder + "/home/" + $0 }
            let application = place.folder + "/home/.local/share/applications/org.waft.Waft.desktop"
            let icon = place.folder + "/home/.local/share/icons/hicolor/scalable/apps/org.waft.Waft.svg"
            try place.addProgram("nemo", "")
            #expect(try await place.host.run(arguments: ["desktop", "install"]).exit == 0)
            let exist = { paths.map { FileManager.default.fileExists(atPath: $0) } }
            #expect(exist() == [false, false, false, true, false])
            for manager in managers { try place.addProgram(manager, "") }
            let stale = try await place.host.run(arguments: ["desktop", "status"])
            #expect(stale.errors.contains("not up to date"), "\(stale)")
            let installed = try await place.host.run(arguments: ["desktop", "install"])
            #expect(installed.exit == 0 && installed.output.contains("shares \(paths[4])"), "\(installed)")
            #expect(exist() == Array(repeating: true, count: 5))
            for entry in [application, paths[0]] {
                let valid = try await place.host.run("/usr/bin/desktop-file-validate", [entry])
                #expect(valid.exit == 0 && valid.output + valid.errors == "", "\(valid)")
            }
            #expect(FileManager.default.fileExists(atPath: icon))
            #expect(try String(contentsOfFile: application, encoding: .utf8).contains(" desk %F\n"))
            try "mine\n".write(toFile: paths[1], atomically: false, encoding: .utf8)
            let foreign = try await place.host.run(arguments: ["desktop", "install"])
            #expect(foreign.exit == 64 && foreign.errors.contains(paths[1]), "\(foreign)")
            #expect(try await place.host.run(arguments: ["desktop", "remove"]).exit == 0)
            #expect(exist() == [false, true, false, false, false])
            for path in [application, icon] { #expect(!FileManager.default.fileExists(atPath: path)) }
        }
    }

    @Test(
        "a menu opens the desk with the files, whose names may look like options, in a window of the user's browser",
        arguments: ["xdg-open", "chromium"])
    func desk(opener: String) async throws {
        try await withPlace { place in
            try place.addProgram("nautilus", "")
            try place.addProgram(
                "xdg-settings", "echo \(opener == "chromium" ? "chromium.desktop" : "firefox-esr.desktop")")
            // It does what a browser does: reads the file, and follows it.
            try place.addProgram(
                opener,
                "printf '%s\\n' \"$@\" >'\(place.folder)/opened'; cp \"${1#--app=file://}\" '\(place.folder)/door'")
            #expect(try await place.host.run(arguments: ["desktop", "install"]).exit == 0)
            try "x".write(toFile: place.folder + "/-o.txt", atomically: false, encoding: .utf8)
            let script = place.folder + "/home/.local/share/nautilus/scripts/Share with Waft"
            let end = try await place.host.withProgram(
                script, ["-o.txt", "a b.png"], signal: .interrupt, in: place.folder
            ) { _ in
                let address = /url=(http:\/\/127\.0\.0\.1:\d+)\/#([0-9a-z]+)/
                try await eventually { place.text("door").contains(address) }
                let door = try #require(place.text("door").firstMatch(of: address))
                let words = ["-s", "-H", "content-type: application/json"]
                let entered = try await place.host.run(
                    "/usr/bin/curl", words + ["-d", #"{"secret":"\#(door.2)"}"#, door.1 + "/enter"])
                let token = try #require(entered.output.firstMatch(of: /"token":"([0-9a-z]+)"/)?.1)
                let facts = try await place.host.run(
                    "/usr/bin/curl", words + ["-H", "waft-token: \(token)", door.1 + "/facts"])
                let shared = facts.output.replacing("\\/", with: "/")
                #expect(shared.contains("\(place.folder)/-o.txt\",\"\(place.folder)/a b.png\""), "\(shared)")
                #expect(place.text("opened").hasPrefix(opener == "chromium" ? "--app=file:///" : "/"))
            }
            #expect(end.exit == 0, "\(end.text)")
        }
    }
}
