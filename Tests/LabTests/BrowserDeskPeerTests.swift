import Foundation
import Subprocess
import Testing

extension BrowserDeskTests {
    /// The machines nearby, and the visibility of this one.
    @Suite("Peers in the window")
    struct Peers {
        @Test("a peer appears and disappears, a contact comes first, and an empty room explains itself")
        func appearing() async throws {
            try await DeskStage.take { stage in
                let (browser, study, attic) = (stage.browser, try stage.host("study"), try stage.host("attic"))
                try await stage.withDesk(contacts: ["study"]) { desk, _ in
                    try await browser.wait(for: "Open Waft on the other machine", in: "main .nobody")
                    try await attic.withReceiver { attic in
                        try await desk.seesPeer(attic.id)
                        #expect(try await browser.text("main [data-key=\"peer-\(attic.id)\"]").contains("stranger"))
                        try await study.withReceiver { study in
                            try await browser.wait(
                                "document.querySelector('main [data-key=\"peer-\(study.id)\"]:not(.away)') !== null")
                            let cards: [String] = try await browser.script(
                                "return [...document.querySelectorAll('main .peer:not(.invites)')].map(node => node.innerText)"
                            )
                            #expect(
                                cards.count == 2 && cards[0].contains("Study") && cards[0].contains("contact"),
                                "\(cards)")
                            #expect(cards.last?.contains("attic") == true, "\(cards)")
                        }
                        try await browser.wait("document.querySelector('main .peer.away') !== null")
                    }
                    try await browser.wait("document.querySelectorAll('main .peer:not(.away, .invites)').length === 0")
                }
            }
        }

        @Test("a stranger with a contact's name is nowhere written as that contact, and its name breaks no list")
        func impostor() async throws {
            try await DeskStage.take { stage in
                let (browser, study) = (stage.browser, try stage.host("study"))
                let attic = try stage.host("attic", ["WAFT_NAME": "Study"])
                try stage.write("a.txt", Data("a".utf8))
                try await stage.withDesk(contacts: ["study"]) { desk, receiver in
                    try await study.withReceiver { study in
                        try await attic.withReceiver { impostor in
                            for id in [study.id, impostor.id] {
                                try await browser.wait(
                                    "document.querySelector('main [data-key=\"peer-\(id)\"]:not(.away)') !== null")
                            }
                            let card = try await browser.text("main [data-key=\"peer-\(impostor.id)\"]")
                            #expect(card.contains("not your contact Study"), "\(card)")
                            try await desk.click("sendMore", in: "main")
                            let texts: [String] = try await browser.script(
                                """
                                return ["\(study.id)", "\(impostor.id)"].map(id => document.querySelector(
                                    `#sheet-peers [data-key="to-${id}"]`).parentNode.innerText.replace(/[\\u2068\\u2069]/g, ""))
                                """)
                            #expect(texts.first?.contains("contact") == true, "\(texts)")
                            #expect(texts.last?.contains("not your contact Study") == true, "\(texts)")
                            try await browser.press("Escape")
                            // The longest name, in Firefox too, leaves the cards beside each other.
                            let _: Bool = try await browser.script(
                                """
                                import("/store.js").then(({changed, store}) => {
                                    store.peers.get("\(impostor.id)").name = "W".repeat(60);
                                    changed("peers");
                                    requestAnimationFrame(() => requestAnimationFrame(() => {
                                        const cards = [...document.querySelectorAll("main .peer")];
                                        window.wide = cards.filter(card => card.offsetWidth > card.parentNode.offsetWidth
                                            || card.scrollWidth > card.clientWidth).length
                                            + (document.documentElement.scrollWidth > innerWidth) + " too wide";
                                    }));
                                });
                                return true
                                """)
                            try await browser.wait("window.wide")
                            #expect(try await browser.script("return window.wide") == "0 too wide")
                        }
                    }
                    try await attic.offering(["a.txt"], to: DeskStage.kitchen(receiver), in: stage.folder) { _ in
                        try await browser.wait(for: "not your contact Study offers 1 item", in: "#question h2")
                        #expect(try await browser.text("#question h2").contains("stranger Study ("))
                    }
                }
            }
        }

        @Test("a card that has not changed is not drawn anew: a click that has begun on it counts")
        func lasting() async throws {
            try await DeskStage.take { stage in
                let browser = stage.browser
                try await stage.withDesk { desk, _ in
                    try await stage.host("study").withReceiver { study in
                        try await desk.seesPeer(study.id)
                        let _: Bool = try await browser.script(
                            """
                            const card = () => document.querySelector('main [data-key="peer-\(study.id)"]');
                            const drawn = work => requestAnimationFrame(() => requestAnimationFrame(work));
                            import("/store.js").then(({changed, store}) => {
                                const before = card(), face = before.firstElementChild;
                                changed("peers");
                                drawn(() => {
                                    const same = card() === before && card().firstElementChild === face;
                                    store.peers.get("\(study.id)").device = "server";
                                    changed("peers");
                                    drawn(() => {window.found = [same, card() === before && card().title === "server"].join();});
                                });
                            });
                            return true
                            """)
                        try await browser.wait("window.found")
                        #expect(try await browser.script("return window.found") == "true,true")
                    }
                }
            }
        }

        @Test("the visibility is switched in the window with its countdown, and a change in a terminal is seen")
        func visibility() async throws {
            try await DeskStage.take { stage in
                let browser = stage.browser
                try await stage.withDesk(visibility: "contacts") { desk, _ in
                    try await browser.wait(for: "Visible to contacts", in: "#seen")
                    try await browser.click("#seen")
                    try await browser.click(".visible label:has(input[value=everyone])")
                    try await browser.wait(for: "Visible to everyone", in: "#seen")
                    try await browser.wait("/\\s9:5\\d/.test(document.querySelector('#seen').innerText)")
                    #expect(try await browser.text(".visible").contains("left, then: Contacts"))
                    let status = try await desk.host.run(arguments: ["visible", "--json"])
                    #expect(status.output.contains("\"visibilityThen\":\"contacts\""), "\(status.output)")
                    // It counts.
                    let before = try await browser.text("#seen")
                    let text = String(decoding: try JSONEncoder().encode(before), as: UTF8.self)
                    try await browser.wait("document.querySelector('#seen').innerText !== \(text)")
                    let outcome = try await desk.host.run(arguments: ["visible", "off"])
                    #expect(outcome.exit == 0, "\(outcome.errors)")
                    try await browser.wait(for: "Visible to nobody", in: "#seen")
                    try await browser.wait("document.querySelector('.visible input[value=off]').checked")
                }
            }
        }
    }
}
