import Lines
import Testing

@testable import CommandLine

@Suite("Refusals of command lines in an empty home", .timeLimit(.minutes(1)))
struct RefusalTests {
    private let home = CommandHome()

    @Test("a verb that needs a receiver says how to start one")
    func withoutReceiver() async {
        await home.expect([
            Refusal(
                withoutReceiver: "status", "offers", "offers list 3", "offers preview 3", "offers preview 3.1",
                "offers cancel abc", "accept", "accept 3", "decline 3", "decline 3 --block", "transfers",
                "transfers list", "transfers cancel abc", "config reload", "unlock", "lock", "lock --all")
        ])
    }

    @Test("words that no verb knows are refused before anything is done")
    func words() async {
        await home.expect([
            Refusal("nonsense", exit: .usage, #"waft: no such command "nonsense"; waft --help lists them"#),
            Refusal("help nothing", exit: .usage, #"waft: no such command "nothing"; waft --help lists them"#)
                .withoutJSON,
            Refusal(
                "snd $F/note.txt", exit: .usage,
                #"waft: no such command "snd"; did you mean send? waft --help lists them"#),
            Refusal(
                "inbox nonsense", exit: .usage, #"waft: no such command "inbox nonsense"; waft inbox --help lists them"#
            ),
            Refusal(
                "inbox lst", exit: .usage,
                #"waft: no such command "inbox lst"; did you mean inbox list? waft inbox --help lists them"#),
            Refusal(
                "inbox list --match n*", exit: .usage,
                """
                waft: there is no option --match; did you mean --watch?
                  see: waft inbox list --help
                """),
            Refusal(
                "inbox show 1 99 nothing", exit: .usage,
                """
                waft: 2 unexpected arguments: '99', 'nothing'
                  see: waft inbox show --help
                """),
            Refusal(
                "--nonsense", exit: .usage,
                """
                waft: there is no option --nonsense
                  see: waftd --help
                """
            ).ofDaemon.withoutJSON,
            Refusal(
                "word", exit: .usage,
                """
                waft: unexpected argument 'word'
                  see: waftd --help
                """
            ).ofDaemon.withoutJSON,
        ])
        let alone = await home.run("")
        #expect(alone.exit == .usage && alone.results.isEmpty && alone.notes.hasPrefix("Share files with"))
        let group = await home.run("contacts --json nonsense")
        #expect(group.exit == .usage && group.failures.count == 1)
    }

    @Test("a daemon that fails says so on both outputs, in its log and in a line")
    func daemon() async {
        let said = await home.run("word --json", WaftDaemonCommand.self)
        #expect(said.exit == .usage && said.failures == ["unexpected argument 'word'\nsee: waftd --help"])
        #expect(said.notes == "waft: unexpected argument 'word'\n  see: waftd --help")
    }

    @Test("peers are remembered by a name and an address that can be one")
    func peers() async {
        await home.expect([
            Refusal(
                "peers --timeout 0", exit: .usage,
                """
                waft: the value '0' is invalid for --timeout: it should be seconds above 0, or a time such as 2m
                  see: waft peers --help
                """),
            Refusal(
                "peers add", exit: .usage,
                """
                waft: the name is missing
                  see: waft peers add --help
                """),
            Refusal(
                "peers add hall", exit: .usage,
                """
                waft: the address[:port] is missing
                  see: waft peers add --help
                """),
            Refusal(
                "peers add hall nowhere:x", exit: .usage,
                #"waft: "nowhere:x" is neither an IP address nor a name of DNS: "#
                    + "each of its parts between dots has 1 to 63 letters, digits, - and _"),
            Refusal(
                "peers add hall 127.0.0.1:99999", exit: .usage,
                "waft: 127.0.0.1:99999 ends with no port number (1 to 65535)"),
            Refusal(
                "peers remove hall", exit: .inputMissing,
                """
                waft: no peer is remembered as "hall"
                  see: waft peers
                """),
        ])
    }

    @Test("an item that is not in the Inbox has no verbs")
    func inbox() async {
        await home.expect([
            Refusal(
                "inbox show 1", "inbox preview 1", "inbox options 1", "inbox open 1", "inbox open-in 1",
                "inbox open-in 1 todo", exit: .inputMissing,
                """
                waft: no item is named or numbered "1"
                  see: waft history
                """),
            Refusal(
                "inbox show nothing.txt", exit: .inputMissing,
                """
                waft: no item is named or numbered "nothing.txt"
                  see: waft history
                """),
            Refusal(
                "inbox retry 1", exit: .inputMissing,
                """
                waft: no item is named or numbered "1"
                  see: waft inbox
                """),
            Refusal(
                "inbox take 1 $F", "inbox remove 1 --yes", "inbox unprotect 1", exit: .inputMissing,
                #"waft: no item is named or numbered "1""#),
            Refusal("inbox cat 1", "inbox verify 1", exit: .inputMissing, #"waft: no item is named or numbered "1""#)
                .withoutJSON,
            Refusal(
                "inbox take 1", exit: .usage,
                """
                waft: 1 alone is not enough: name items, then the target folder
                  see: waft inbox take --help
                """),
            Refusal(
                "inbox remove", exit: .usage,
                """
                waft: name an item, or select several: --numbers 1-5, --match '*.txt', --since 2d
                  see: waft inbox remove --help
                """),
            Refusal(
                "inbox retry", exit: .usage,
                """
                waft: name an item, or select several: --numbers 1-5, --match '*.txt', --since 2d
                  see: waft inbox retry --help
                """),
            Refusal("inbox remove --match *.txt --yes", exit: .inputMissing, "waft: no item in the Inbox is selected"),
            Refusal(
                "inbox protect 1 complete", exit: .usage,
                """
                waft: data protection is not set up
                  set it up with: waft protection set-up
                """),
            Refusal(
                "inbox protect 1 nonsense", exit: .usage,
                """
                waft: the class is untilFirstUnlock, unlessOpen or complete. To open an item: waft inbox unprotect
                  see: waft inbox protect --help
                """),
            Refusal(
                "inbox list --state nonsense", exit: .usage,
                "waft: --state is one of none, waiting, deferred, yes, no, failed, parked, gone"),
            Refusal(
                "inbox list --type nonsense", exit: .usage,
                #"waft: --type: "nonsense" is not a uniform type identifier such as public.image or com.adobe.pdf"#),
            Refusal(
                "inbox list --since nonsense", exit: .usage,
                #"waft: --since: "nonsense" is not a duration such as 90s, 10m, 2h or 30d"#),
            Refusal(
                "inbox list --from nobody", exit: .usage,
                #"waft: --from: no contact or sender is named "nobody"; nothing has arrived yet"#),
        ])
    }

    @Test("numbers of offers, and bounds of the history, are read strictly")
    func offers() async {
        await home.expect([
            Refusal(
                "offers preview x.y", exit: .usage,
                """
                waft: "x.y" is no item of an offer
                  1.2 is item 2 of offer 1; see: waft offers
                """),
            Refusal(
                "accept x", exit: .usage,
                """
                waft: the value 'x' is invalid for the offer
                  see: waft accept --help
                """),
            Refusal(
                "accept 3 --items 0", exit: .usage, "waft: --items is a list of numbers from 1, such as 1,3"),
            Refusal("history --limit 0", exit: .usage, "waft: --limit is 1 to 100000"),
            Refusal(
                "history --before x", exit: .usage,
                """
                waft: the value 'x' is invalid for --before
                  see: waft history --help
                """),
            Refusal(
                "history --since yesterday", exit: .usage,
                #"waft: --since: "yesterday" is not a duration such as 90s, 10m, 2h or 30d"#),
        ])
    }

    @Test("a handler that is not installed has no verbs, and one is added with its name and program")
    func handlers() async {
        await home.expect([
            Refusal(
                "handlers show nothing", "handlers remove nothing", "handlers enable nothing",
                "handlers disable nothing", "handlers default public.plain-text nothing", "handlers settings nothing",
                exit: .inputMissing,
                """
                waft: there is no handler nothing
                  see: waft handlers
                """),
            Refusal(
                "handlers add nothing", "handlers add lister --type nonsense --run /bin/true", exit: .usage,
                """
                waft: missing expected argument --name
                  see: waft handlers add --help
                """),
            Refusal(
                "handlers add lister --name Lister --type public.plain-text --run /bin/true", exit: .usage,
                """
                waft: unexpected argument 'lister'
                  see: waft handlers add --help
                """),
            Refusal(
                "open todo:x", exit: .ineligible,
                """
                waft: todo:x: no handler for todo: URLs; known: http, https, mailto, tel, sms, file
                  add a handler with: waft handlers add --name NAME --scheme todo --run PROGRAM
                """
            ).withoutJSON,
            Refusal(
                "open nonsense", exit: .usage,
                """
                waft: nonsense: the URL has no scheme such as https:
                  for a file: waft open-in nonsense; for an item: waft inbox open nonsense
                """),
        ])
    }

    @Test("contacts are found by their names, and made from a whole key")
    func contacts() async {
        await home.expect([
            Refusal(
                "contacts show nobody", "contacts rename nobody someone", "contacts forget nobody",
                "contacts set nobody --policy ask", exit: .inputMissing,
                """
                waft: there is no contact "nobody"
                  see: waft contacts
                """),
            Refusal(
                "contacts allow nonsense", "contacts allow", exit: .usage,
                """
                waft: give a KEY-ID and --name, or --from FILE
                  see: waft contacts allow --help
                """),
            Refusal(
                "contacts set nobody", exit: .usage,
                """
                waft: give at least one setting, such as --policy accept
                  see: waft contacts set --help
                """),
            Refusal(
                "contacts block nonsense", "contacts unblock nonsense", exit: .usage,
                """
                waft: "nonsense" is neither a contact nor a whole key id
                  see: waft contacts
                """),
            Refusal(
                "policy test $F/note.txt --from nobody", exit: .usage,
                """
                waft: "nobody" is neither a contact nor a whole key id
                  see: waft contacts
                """),
            Refusal(
                "policy test", "policy test $F/note.txt", exit: .usage,
                """
                waft: missing expected argument --from
                  see: waft policy test --help
                """),
            Refusal(
                "visible nonsense", exit: .usage,
                """
                waft: the value 'nonsense' is invalid for the who. Please provide one of 'off', 'contacts' or 'everyone'
                  see: waft visible --help
                """),
            Refusal(
                "visible everyone --for nonsense", exit: .usage,
                #"waft: --for: "nonsense" is not a duration such as 90s, 10m, 2h or 30d"#),
            Refusal("pair", exit: .usage, "waft: give a peer, or --accept, or --code"),
            Refusal("pair --code short", exit: .usage, "waft: a code has 9 digits, as 123-456-789"),
        ])
    }

    @Test("a file that is not there, or that nothing can do something with, is named")
    func documents() async {
        await home.expect([
            Refusal(
                "type $F/nothing.txt", "preview $F/nothing.txt", "options $F/nothing.txt", "web $F/nothing.txt",
                "share $F/nothing.txt", "send $F/nothing.txt --to 127.0.0.1:1", exit: .inputMissing,
                "waft: $F/nothing.txt: there is no such file or folder"),
            Refusal(
                "open-in $F/note.txt nothing", exit: .usage,
                "waft: $F/note.txt: nothing does not open public.plain-text"),
            Refusal(
                "options $F/note.txt --check", exit: .usage,
                """
                waft: missing value for --check
                  see: waft options --help
                """
            ).withoutJSON,
            Refusal("web --for x", exit: .usage, #"waft: --for: "x" is not a duration such as 90s, 10m, 2h or 30d"#),
            Refusal(
                "share", exit: .usage,
                """
                waft: nothing to share
                  for example: waft share photo.jpg
                """),
            Refusal(
                "share $F/note.txt --activity nothing", exit: .usage,
                """
                waft: there is no activity nothing
                  there are: org.waft.activity.airdrop, org.waft.activity.queue, org.waft.activity.mail, \
                org.waft.activity.copy, org.waft.activity.print, org.waft.activity.save-image, \
                org.waft.activity.open-in, org.waft.activity.preview
                """),
            Refusal(
                "share $F/note.txt $F/trip --activity org.waft.activity.print", exit: .ineligible,
                "waft: 2 items: Print: PDF documents, images and texts are printed"),
            Refusal(
                "service print nothing", exit: .usage,
                """
                waft: the units are waftd.service and waftd.socket
                  see: waft service print --help
                """),
        ])
    }

    @Test("nothing is sent to a peer that is none, or with options that contradict each other")
    func send() async {
        await home.expect([
            Refusal(
                "send", exit: .usage,
                """
                waft: nothing to send
                  for example: waft send photo.jpg --to kitchen
                """),
            Refusal(
                "send $F/pipe --to 127.0.0.1:1", exit: .inputMissing,
                "waft: $F/pipe: is a named pipe and cannot be sent; to send what comes through it: COMMAND | waft send -"
            ),
            Refusal(
                "send '$F/two\nlines.txt' --to 127.0.0.1:1", exit: .inputMissing,
                #"waft: $F/two\nlines.txt: the name contains control or direction-changing characters; rename it, "#
                    + "or give another name with --name"),
            Refusal(
                "send $F/note.txt --to 127.0.0.1:1 --timeout 0.1", exit: .unreachable,
                "waft: cannot connect: 127.0.0.1:1: no program listens on this port (connection refused)"),
            Refusal(
                "send $F/note.txt --to nobody --timeout 0.1", exit: .peerNotFound,
                "waft: no machine named nobody was found (discovery is off: give host:port)"),
            Refusal("send $F/note.txt --to ''", exit: .usage, "waft: a peer's name has 1 to 255 bytes"),
            Refusal(
                "send $F/note.txt --to 127.0.0.1:99999", exit: .usage,
                "waft: 127.0.0.1:99999 ends with no port number (1 to 65535)"),
            Refusal(
                "send --url nonsense --to 127.0.0.1:1", exit: .usage,
                "waft: nonsense: the URL cannot be sent: it has no scheme such as https:"),
            Refusal(
                "send $F/note.txt --type nonsense --to 127.0.0.1:1", exit: .usage,
                """
                waft: --type nonsense is not a uniform type identifier
                  for example: com.adobe.pdf; waft type FILE says which one a file has
                """),
            Refusal(
                "send $F/note.txt --name a/b --to 127.0.0.1:1", exit: .usage,
                #"waft: --name cannot be used: "a/b": the name contains a slash"#),
            Refusal(
                "send $F/note.txt $F/trip --name x --to 127.0.0.1:1", exit: .usage,
                "waft: --name and --type need a single item, and there are 2"),
            Refusal(
                "send $F/note.txt --annotation nonsense --to 127.0.0.1:1", exit: .usage,
                "waft: --annotation nonsense: it is not KEY=VALUE"),
            Refusal(
                "send $F/note.txt --wait nonsense --to 127.0.0.1:1", exit: .usage,
                """
                waft: the value 'nonsense' is invalid for --wait. Please provide one of 'stored' and 'opened'
                  see: waft send --help
                """),
            Refusal(
                "send $F/note.txt --timeout x --to 127.0.0.1:1", exit: .usage,
                """
                waft: the value 'x' is invalid for --timeout: it should be seconds above 0, or a time such as 2m
                  see: waft send --help
                """),
            Refusal(
                "send $F/note.txt --expires 3d --to 127.0.0.1:1", exit: .usage,
                """
                waft: the value '3d' is invalid for --expires
                  see: waft send --help
                """),
            Refusal(
                "send $F/note.txt --snapshot --to 127.0.0.1:1", exit: .usage,
                """
                waft: --snapshot and --expires go with --queue
                  see: waft send --help
                """),
            Refusal(
                "send $F/note.txt --thumbnail $F/nothing.jpg --to 127.0.0.1:1", exit: .inputMissing,
                "waft: --thumbnail: there is no file $F/nothing.jpg"),
            Refusal(
                "send - - --to 127.0.0.1:1", exit: .inputMissing,
                "waft: standard input can be read only once: give one - and one peer"),
        ])
    }

    @Test("options of a receiver are checked before it starts")
    func receive() async {
        await home.expect([
            Refusal(
                "receive --accept nonsense", exit: .usage,
                """
                waft: the value 'nonsense' is invalid for --accept. Please provide one of 'ask', 'contacts', \
                'everyone' or 'none'
                  see: waft receive --help
                """),
            Refusal(
                "receive --port x", exit: .usage,
                """
                waft: the value 'x' is invalid for --port
                  see: waft receive --help
                """),
            Refusal(
                "receive --name ''", exit: .usage,
                "waft: --name is 1 to 63 bytes of text without control characters or slashes"),
        ])
    }

    @Test("protection that is not set up has nothing to change")
    func protection() async {
        await home.expect([
            Refusal(
                "protection export", "protection rotate", "protection passphrase", exit: .usage,
                """
                waft: data protection is not set up
                  set it up with: waft protection set-up
                """),
            Refusal(
                "protection set-up --class nonsense", exit: .usage,
                """
                waft: the value 'nonsense' is invalid for --class. Please provide one of 'none', 'untilFirstUnlock', \
                'unlessOpen' or 'complete'
                  see: waft protection set-up --help
                """),
            Refusal(
                "protection set-up --recipient nonsense", exit: .usage,
                #"waft: "nonsense" is not a public key of age, which begins with age1"#),
        ])
    }
}
