import Foundation
import Subprocess
import Testing

extension BrowserDeskTests {
    /// The settings in the window.
    @Suite("Settings in the window")
    struct SettingForms {
        private func change(_ browser: Browser, _ setting: String, _ value: String) async throws {
            let _: Bool = try await browser.script(
                """
                const field = document.getElementById('s-\(setting)');
                field.focus(); field.value = '\(value)'; field.dispatchEvent(new Event('change'));
                return true;
                """)
        }

        @Test(
            "eight settings are shown in words for people and all behind a button, a change stands in config.yaml, and a wrong value says what fits"
        )
        func changes() async throws {
            try await DeskStage.take { stage in
                let browser = stage.browser
                try await stage.withDesk { desk, _ in
                    try await desk.show("settings")
                    try await browser.wait("document.querySelectorAll('main .setting').length === 8")
                    try await change(browser, "name", "Nook")
                    try await browser.wait(for: "Saved", in: ".setting:has(#s-name)")
                    #expect(desk.host.settings.contains("name: Nook"))
                    // The room knows it without a new window.
                    try await desk.show("room")
                    try await browser.wait(for: "Nook", in: "main .me")
                    try await desk.showAllSettings()
                    try await change(browser, "port", "99999999")
                    try await browser.wait(for: "from 1 to 65,535", in: "#s-port-error")
                    #expect(!desk.host.settings.contains("99999999"))
                    try await change(browser, "hookTimeout", "20")
                    try await browser.wait(for: "waft config set hookTimeout 20", in: "#s-hookTimeout-error code")
                    // The names of the file are for those who want details, and for the search.
                    #expect(try await !browser.text("main").contains("inhibitSleep"))
                    try await browser.type("inhibitS", into: "main input[type=search]")
                    try await browser.wait(
                        "[...document.querySelectorAll('main .setting')].filter(s => s.checkVisibility()).length === 1")
                    try await browser.click("label[for=s-inhibitSleep]")
                    try await eventually { desk.host.settings.contains("inhibitSleep: false") }
                    try await desk.click("details", in: "main .finds")
                    try await browser.wait(for: "inhibitSleep", in: ".setting:has(#s-inhibitSleep) .detail")
                }
            }
        }

        @Test("a fault in the file is seen in an open window with its line, and is gone when it is repaired")
        func faults() async throws {
            try await DeskStage.take { stage in
                let browser = stage.browser
                try await stage.withDesk { desk, _ in
                    let whole = "name: Nook\n"
                    let mark = "document.querySelector('#nav [data-view=settings] .count')"
                    try await desk.show("settings")
                    try await browser.wait("document.querySelector('#s-name') !== null")
                    for _ in 1...2 {
                        try desk.host.writeSettings(whole + "nonsense: 1\n")
                        try await browser.wait(for: "Line 2 of config.yaml", in: "main .fault")
                        try await browser.wait("\(mark).checkVisibility()")
                        // The settings of before are there still.
                        try await browser.wait("document.querySelector('#s-name') !== null")
                        try desk.host.writeSettings(whole)
                        try await browser.wait("document.querySelector('main .fault') === null && \(mark).hidden")
                    }
                    try await browser.wait("document.querySelector('#s-name').value === 'Nook'")
                }
            }
        }

        @Test("without a receiver, a fault in the file is seen when the window is looked at")
        func faultsWithoutReceiver() async throws {
            try await DeskStage.take { stage in
                let browser = stage.browser
                try await stage.host("kitchen").withDesk(browser) { desk in
                    let folder = desk.host.home + "/config"
                    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
                    try await browser.wait("document.querySelector('main .starts')?.checkVisibility()")
                    let mark = "document.querySelector('#nav [data-view=settings] .count')"
                    for (text, isFaulty) in [("nonsense: 1\n", true), ("name: Nook\n", false)] {
                        try desk.host.writeSettings(text)
                        let _: Bool = try await browser.script("dispatchEvent(new Event('focus')); return true")
                        try await browser.wait("\(mark).checkVisibility() === \(isFaulty)")
                    }
                }
            }
        }

        @Test("an arrival sounds when the user wants it, and never before the page was touched")
        func sound() async throws {
            try await DeskStage.take { stage in
                let (browser, study) = (stage.browser, try stage.host("study"))
                for name in ["a.txt", "b.txt", "c.txt"] { try stage.write(name, Data(name.utf8)) }
                try await stage.withDesk(contacts: ["study"], policy: "accept") { desk, receiver in
                    /// Sends a file, and counts the sounds of its arrival.
                    @Sendable func sounds(_ name: String) async throws -> Int {
                        let _: Bool = try await browser.script(
                            """
                            window.heard ??= document.addEventListener('sounded', () => {window.sounds += 1;}) ?? true;
                            window.sounds = 0;
                            document.getElementById('toasts').replaceChildren();
                            return true;
                            """)
                        let words = ["send", name, "--to", DeskStage.kitchen(receiver)]
                        let sent = try await study.run(Programs.waft, words, in: stage.folder)
                        #expect(sent.exit == 0, "\(sent.errors)")
                        try await browser.wait(for: "arrived", in: "#toasts .toast")
                        return try await browser.script("return window.sounds")
                    }
                    try await desk.show("settings")
                    try await browser.wait("document.getElementById('s-desk.sound') !== null")
                    try await browser.click("main h1")
                    #expect(try await sounds("a.txt") == 0)
                    try await browser.click("label[for='s-desk.sound']")
                    try await eventually { desk.host.settings.contains("sound: true") }
                    try await browser.wait(for: "Saved", in: #".setting:has([id="s-desk.sound"])"#)
                    #expect(try await sounds("b.txt") == 1)
                    // A window is silent until it was touched.
                    try await desk.load("settings")
                    try await browser.wait("document.getElementById('s-desk.sound')?.checked")
                    #expect(try await sounds("c.txt") == 0)
                }
            }
        }
    }
}
