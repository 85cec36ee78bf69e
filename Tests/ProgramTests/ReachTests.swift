import FileKit
import Glibc
import HTTPCore
import HTTPTesting
import JSON
import ProcessKit
import Testing

/// Every action of the product, performed as a model and as bundles with a canary in every parameter that takes a text.
/// What is looked at are the system calls, so that a check of ours that is missing shows as well as one that errs.
@Suite("What an action reaches", .timeLimit(.minutes(20)))
struct ReachTests {
    private static let folder = "canary-reach-folder"
    private static let link = "link-to-canary"
    /// What the canary's file and the secret hold.
    private static let word = "4f1c-word-of-the-canary"
    /// Whoever looks up a name reads one of these files or speaks at one of these sockets, whether or not a server could
    /// be asked then; and a server is asked for a name in this form.
    private static let lookups = [
        "/etc/hosts", "/etc/resolv.conf", "/nscd/socket", "/systemd/resolve/", #"canary-reach\7invalid"#,
    ]

    /// Programs that try a part of all actions each, side by side, since most of the time what lasts is waited for.
    private static let parts = 4

    /// What the program was told to try, and what came of it.
    private struct Place: Sendable {
        /// The folders and files that are not to be opened, as they stand in system calls.
        let closed: [String]
        /// The port that is not to be spoken to.
        let port: String
        let calls: SystemCalls
        /// What was tried, each with what became of it.
        let tried: [JSON]
        let untried: [JSON]
        let canary: ServerRecord
        let allowed: ServerRecord

        /// What reached into the folder that nobody may open, or only asked for something there.
        var opens: [SystemCalls.Sighting] {
            closed.flatMap(calls.with).filter { !$0.isTransfer }
                + calls.with(ReachTests.link).filter { !$0.isTransfer && !$0.followsNoLink }
        }
        var connects: [SystemCalls.Sighting] { calls.with(port) }
        /// Actions of ssh look up the user that they belong to, as ssh does, for which nscd is asked as well.
        var lookups: [SystemCalls.Sighting] {
            ReachTests.lookups.flatMap(calls.with).filter { sighting in
                !(sighting.call.contains("/nscd/socket") && sighting.during.contains("/ssh."))
            }
        }
        /// What was tried that told the word, as `caller action parameter form`.
        var leaks: [String] { tried.filter { $0["leaks"] == true }.map(ReachTests.words) }
    }

    private static func words(_ trial: JSON) -> String {
        ["caller", "action", "parameter", "form"].compactMap { trial[$0]?.string }.joined(separator: " ")
    }

    /// - Parameter part: which of the parts of all actions.
    private func withPlace(asPerson: Bool, part: Int = 0, _ body: (Place) async throws -> Void) async throws {
        try await withHome { top in
            let (work, folder) = ("\(top)/work", "\(top)/\(Self.folder)")
            try write("inside", to: "\(work)/inside.txt")
            try write(Self.word, to: "\(folder)/secret.txt")
            try write("{name: canary, steps: [{action: version}]}", to: "\(folder)/bundle.yaml")
            try #require(unsafe symlink("../\(Self.folder)", "\(work)/\(Self.link)") == 0)
            // Nothing of a test stays in the kernel's keyring.
            try write("{auth: {'keep-unlocked': '0s'}}", to: "\(top)/martlet/config/config.json")
            let answers: ScriptedServer.Script = { connection in
                while true {
                    try connection.receiveRequest()
                    try connection.answer(200, ["Content-Type": "application/json"], "{}")
                }
            }
            try await ScriptedServer.run(answers) { canary in
                try await ScriptedServer.run(answers) { allowed in
                    let told: JSON = [
                        "canary": .string(folder), "port": .int(canary.port), "allowed": .int(allowed.port),
                        "name": .string(LoopbackName.other ?? "localhost"), "word": .string(Self.word),
                        "person": .bool(asPerson), "part": .int(part), "parts": .int(Self.parts),
                    ]
                    let port = "htons(\(canary.port))"
                    // As a whole path, as what a descriptor is of, and in the ways that lead there from elsewhere.
                    let closed = [
                        "\"\(folder)", "<\(folder)", "../\(Self.folder)", "/proc/self/root\(folder)",
                    ]
                    let calls = try await SystemCalls(
                        of: .bench, ["reach", told.text()], in: work,
                        adding: [
                            "MARTLET_HOME": "\(top)/martlet", "CANARY_REACH_API_KEY": Self.word, "EDITOR": "true",
                            // Without it the gateway would want a vault.
                            "MARTLET_GATEWAY_TOKEN": "0123456789abcdef0123456789abcdef",
                        ], finding: closed + [Self.link, Self.word, port] + Self.lookups)
                    let lines = try String(decoding: calls.run.output, as: UTF8.self).lines.map { try $0.json() }
                    try await body(
                        Place(
                            closed: closed, port: port, calls: calls, tried: lines.filter { $0["type"] == "tried" },
                            untried: lines.filter { $0["type"] == "untried" }, canary: canary.record,
                            allowed: allowed.record))
                }
            }
        }
    }

    @Test("is no file, no server, no name and no secret that its caller was not given")
    func others() async throws {
        let places = try await withThrowingTaskGroup(of: [Place].self) { group in
            for part in 0..<Self.parts {
                group.addTask {
                    var places: [Place] = []
                    try await withPlace(asPerson: false, part: part) { places.append($0) }
                    return places
                }
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }
        for place in places {
            for open in place.opens { Issue.record("a file was opened \(open)") }
            for connect in place.connects { Issue.record("a server was spoken to \(connect)") }
            for lookup in place.lookups { Issue.record("a name was looked up \(lookup)") }
            for sight in place.calls.with(Self.word) { Issue.record("the secret was passed on \(sight)") }
            for leak in place.leaks { Issue.record("the secret was told: \(leak)") }
            #expect(place.canary.connections.isEmpty)
        }
        try await expectWhole(places)
    }

    /// Nothing was left out: each action of the product was tried as each caller, and each text in each of its parameters.
    private func expectWhole(_ places: [Place]) async throws {
        // These are in every program with a command line, which the program of this test is not; they take words only to
        // name commands and screens. A screen has the rights of its caller, and performs actions that are tried here.
        let own: Set<String> = [
            "completion", "docs.man", "docs.markdown", "docs.schema", "docs.screens", "help", "screen.list",
            "screen.show",
        ]
        let document = try await withHome { try await Program.martlet.run(["docs", "schema"], home: $0) }
        let actions = (try document.output.json().array ?? []).filter { !own.contains($0["id"]?.string ?? "") }
        #expect(actions.count > 90)
        let all = places.flatMap(\.tried)
        let tried = Set(all.map { Self.words($0).split(separator: " ").prefix(3).joined(separator: " ") })
        let untried = Set(places.flatMap(\.untried).map(Self.words))
        for action in actions {
            let id = action["id"]?.string ?? ""
            var wanted = ["none"]
            for (name, schema) in action["input"]?["properties"]?.object ?? [:] {
                guard untried.contains("\(id) \(name)") else {
                    wanted.append(name)
                    continue
                }
                // By its schema it is no text either, but a number, a switch, one of some words, or a time.
                let isText = schema["type"] == "string" && schema["enum"] == nil && schema["format"] != "date-time"
                #expect(!isText, "\(id) \(name) takes a text")
            }
            for caller in ["model", "bundle", "wide"] {
                for name in wanted { #expect(tried.contains("\(caller) \(id) \(name)"), "\(caller) \(id) \(name)") }
            }
        }
        // Those who may do something got to it; else all of this would say nothing.
        let outcomes = Dictionary(grouping: all) { $0["caller"]?.string ?? "" }
            .mapValues { $0.count { $0["outcome"] == "done" } }
        #expect(outcomes["model", default: 0] > 20 && outcomes["bundle", default: 0] > 100, "\(outcomes)")
        #expect(outcomes["wide", default: 0] > outcomes["bundle", default: 0], "\(outcomes)")
        let requests = places.reduce(0) { $0 + $1.allowed.requests.count }
        #expect(requests > 20, "the widest bundle spoke to the server that it may speak to")
    }

    @Test("is all of that for the person, which shows that it would be seen")
    func person() async throws {
        try await withPlace(asPerson: true) { place in
            func during(_ sightings: [SystemCalls.Sighting]) -> Set<String> {
                Set(sightings.compactMap { $0.during.split(separator: "/").dropFirst().first.map(String.init) })
            }
            #expect(place.tried.count == 8)
            #expect(during(place.opens).isSuperset(of: ["file.read", "run.start", "access.show"]), "\(place.opens)")
            // By a link, too, whose path does not say where it leads.
            #expect(place.opens.contains { $0.during.hasSuffix("/control/1") })
            #expect(during(place.connects).isSuperset(of: ["http.request", "gateway.status"]), "\(place.connects)")
            #expect(!place.canary.requests.isEmpty)
            #expect(place.leaks.contains { $0.contains("auth.secret.get") }, "\(place.leaks)")
            #expect(place.leaks.contains { $0.contains("file.read") }, "\(place.leaks)")
        }
    }
    @Test(
        "is a name, too, for the person",
        .enabled(if: LoopbackName.other != nil, "/etc/hosts has no other name for 127.0.0.1"))
    func names() async throws {
        try await withPlace(asPerson: true) { place in
            #expect(place.lookups.contains { $0.during.hasPrefix("person/http.request/") }, "\(place.calls.sightings)")
        }
    }
}
