import Capabilities
import CoreTesting
import FileKit
import Glibc
import HostKit
import HostTesting
import JSON
import Registry
import Settings
import Testing

/// Returns its settings, and those of the first settings that it shares with later ones.
private struct WordFeature: Feature {
    static let word = Setting("word", "A word", default: "none", risk: .sends)
    static let plain = Setting("plain", "A word that does no harm", default: "none")
    static let manifest = Manifest(
        id: "word", summary: "Says a word", version: "1.0", settings: [word.declaration, plain.declaration])
    private let words: [String]

    init(_ settings: FeatureSettings) { words = [settings[Self.word], settings[Self.plain]] }

    func register(in registry: inout RegistryBuilder) {
        let words = words
        let first = registry.shared("first word") { words }
        registry.add(Action("word.say", "The words", .reads) { _ in words })
        registry.add(Action("word.first", "The words of the first settings", .reads) { _ in first })
    }
}

/// A session that checks its settings before each action.
private struct Open {
    let session: WorkbenchSession
    let output = RecordingOutput()

    func perform(_ id: String, _ arguments: JSONObject = [:]) async throws -> JSON {
        session.lookAgain()
        return try await session.perform(
            id, arguments, as: .person(HeadlessInteraction()), output: output, isAgreed: true
        ).json
    }
}

private func withOpen(
    _ bench: TestWorkbench, isolation: isolated (any Actor)? = #isolation, _ body: (Open) async throws -> Void
) async throws {
    let open = Open(session: try bench.workbench.open())
    try await body(open)
    #expect(await open.session.close() == [])
}

@Suite("Changing settings files", .timeLimit(.minutes(5)))
struct ChangedSettingsTests {
    @Test("A session picks up written, added and removed settings files")
    func written() async throws {
        try await withBench(WordFeature.self) { bench in
            try await withOpen(bench) { open in
                #expect(try await open.perform("word.say") == ["none", "none"])
                try bench.write("{word: {word: 'one'}}", to: bench.userFile)
                #expect(try await open.perform("word.say") == ["one", "none"])
                try bench.write("{word: {word: 'two'}}", to: bench.userFile)
                #expect(try await open.perform("word.say") == ["two", "none"])
                try Files.remove(bench.userFile)
                #expect(try await open.perform("word.say") == ["two", "none"])
                #expect(try await open.perform("word.say") == ["none", "none"])
                #expect(try await open.perform("word.first") == ["none", "none"])
                #expect(open.output.notices.isEmpty)
            }
        }
    }

    @Test(
        "A session keeps its settings while an editor rewrites the file, and picks up an empty file at the second check"
    )
    func emptied() async throws {
        try await withBench(WordFeature.self) { bench in
            try bench.write("{word: {word: 'one'}}", to: bench.userFile)
            try await withOpen(bench) { open in
                for word in ["two", "three"] {
                    let before = try await open.perform("word.say")
                    try bench.write("", to: bench.userFile)
                    #expect(try await open.perform("word.say") == before)
                    try bench.write("{word: {word: '\(word)'}}", to: bench.userFile)
                    #expect(try await open.perform("word.say") == [.string(word), "none"])
                }
                try bench.write("", to: bench.userFile)
                #expect(try await open.perform("word.say") == ["three", "none"])
                #expect(try await open.perform("word.say") == ["none", "none"])
                #expect(open.output.notices.isEmpty)
            }
        }
    }

    @Test("A session picks up what its own actions have set, at once")
    func own() async throws {
        try await withBench(WordFeature.self) { bench in
            let session = try bench.workbench.open()
            let output = RecordingOutput()
            func perform(_ id: String, _ arguments: JSONObject = [:]) async throws -> JSON {
                try await session.perform(
                    id, arguments, as: .person(HeadlessInteraction()), output: output, isAgreed: true
                ).json
            }
            _ = try await perform("config.set", ["key": "word.word", "value": "mine"])
            #expect(try await perform("word.say") == ["mine", "none"])
            _ = try await perform("config.unset", ["key": "word.word"])
            #expect(try await perform("word.say") == ["none", "none"])
            #expect(await session.close() == [])
        }
    }

    @Test(
        "A session keeps the previous settings if the new ones are invalid, and reports it once",
        arguments: [
            "{word: {word: ", "{word: {wrod: 'one'}}", "{word: {word: 3}}", "{features: {wrod: false}}",
        ])
    func broken(_ text: String) async throws {
        try await withBench(WordFeature.self) { bench in
            try bench.write("{word: {word: 'one'}}", to: bench.userFile)
            try await withOpen(bench) { open in
                try bench.write(text, to: bench.userFile)
                for _ in 0..<3 { #expect(try await open.perform("word.say") == ["one", "none"]) }
                #expect(open.output.notices.count == 1)
                #expect(open.output.notices.first?.contains("stay in use") == true)
                #expect(open.output.notices.first?.contains(bench.userFile) == true)
                try bench.write("{word: {word: 'two'}}", to: bench.userFile)
                #expect(try await open.perform("word.say") == ["two", "none"])
                #expect(open.output.notices.count == 1)
            }
        }
    }

    @Test("A session that began with invalid settings picks up any change")
    func mended() async throws {
        try await withBench(WordFeature.self) { bench in
            try bench.write("{word: {wrod: 'one'}}", to: bench.userFile)
            try await withOpen(bench) { open in
                #expect(await failure { _ = try await open.perform("word.say") }?.code == "settings.invalid")
                try bench.write("{word: {word: 'one'}}", to: bench.userFile)
                #expect(try await open.perform("word.say") == ["one", "none"])
            }
        }
    }

    @Test(
        "A session keeps the previous settings of a changed project until the person trusts it again or stops trusting it"
    )
    func untrusted() async throws {
        try await withBench(WordFeature.self) { bench in
            let folder = "\(bench.home)/work"
            let file = "\(folder)/.martlet/config.json"
            let project: JSONObject = ["path": .string(folder)]
            try bench.write("{word: {word: 'mine', plain: 'mine'}}", to: file)
            bench.current = folder
            try await withOpen(bench) { open in
                // An untrusted value is not used, and a harmless one is.
                #expect(try await open.perform("word.say") == ["none", "mine"])
                _ = try await open.perform("config.trust", project)
                #expect(try await open.perform("word.say") == ["mine", "mine"])
                let told = open.output.notices.count
                try bench.write("{word: {word: 'theirs', plain: 'theirs'}}", to: file)
                for _ in 0..<3 { #expect(try await open.perform("word.say") == ["mine", "mine"]) }
                #expect(open.output.notices.count == told + 1)
                #expect(open.output.notices.last?.contains("no longer trusted") == true)
                _ = try await open.perform("config.trust", project)
                #expect(try await open.perform("word.say") == ["theirs", "theirs"])
                try bench.write("{word: {word: 'others', plain: 'others'}}", to: file)
                #expect(try await open.perform("word.say") == ["theirs", "theirs"])
                _ = try await open.perform("config.untrust", project)
                #expect(try await open.perform("word.say") == ["none", "others"])
            }
        }
    }
}
