import Foundation
import Subprocess
import Testing

extension BrowserDeskTests {
    /// The first steps of a new machine.
    @Suite("The first steps in the room")
    struct FirstSteps {
        private static func isDone(_ step: Int) -> String {
            "document.querySelector('main .first li:nth-child(\(step)).done') !== null"
        }

        @Test("the first steps name this machine, let it be seen and pair it, and each is ticked when it is done")
        func steps() async throws {
            try await DeskStage.take { stage in
                let (browser, study) = (stage.browser, try stage.host("study"))
                try await stage.withDesk(visibility: "contacts", isNew: true) { desk, _ in
                    try await browser.wait("document.querySelector('main .first')?.checkVisibility()")
                    try await browser.wait(for: "Open Waft there", in: "main .first")
                    let _: Bool = try await browser.script(
                        "document.querySelector('[data-key=firstName]').value = ''; return true")
                    try await browser.type("Nook", into: "[data-key=firstName]")
                    try await browser.press("Enter")
                    try await browser.wait(Self.isDone(1))
                    try await browser.wait(for: "Nook", in: "main .me")
                    try await browser.click("main .first label:has(input[value=everyone])")
                    try await browser.wait(Self.isDone(2))
                    try await browser.wait(for: "Visible to everyone", in: "#seen")
                    try await study.withReceiver { peer in
                        _ = try await study.run(arguments: ["visible", "everyone"])
                        try await desk.click("first-\(peer.id)", in: "main .first")
                        try await browser.wait("document.querySelector('#ask').open")
                        try await desk.click("cancel", in: "#ask")
                        try await desk.host.allow(study, "Study", [])
                        try await browser.wait(Self.isDone(3))
                        try await browser.wait(for: "Paired with", in: "main .first")
                    }
                    try await browser.wait(for: "Done", in: "main .first .head")
                    try await desk.click("leaveFirst", in: "main")
                    try await browser.wait("document.querySelector('main .first').hidden")
                }
            }
        }

        @Test("the first steps are left for good by one button, and come with no card that says that nobody receives")
        func left() async throws {
            try await DeskStage.take { stage in
                let browser = stage.browser
                try await stage.withDesk(isNew: true) { desk, _ in
                    try await desk.click("leaveFirst", in: "main .first")
                    try await browser.wait("document.querySelector('main .first').hidden")
                    try await eventually { desk.host.settings.contains("firstSteps: false") }
                    #expect(try await browser.script("return document.querySelector('main .starts').hidden"))
                    // All is known when the settings are.
                    try await desk.load("settings")
                    try await browser.wait("document.querySelector('#s-name') !== null")
                    try await desk.show("room")
                    try await browser.wait(for: "Open Waft on the other machine", in: "main .nobody")
                    #expect(try await browser.script("return document.querySelector('main .first').hidden"))
                }
            }
        }
    }
}
