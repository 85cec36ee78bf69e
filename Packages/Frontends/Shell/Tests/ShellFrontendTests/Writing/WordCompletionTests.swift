import Capabilities
import CoreTesting
import Glibc
import HostTesting
import JSON
import Registry
import Settings
import Testing

@testable import Screens
@testable import ShellFrontend

@Suite("Files of a text") struct WordCompletionTests {
    /// Lends a context in a folder with these files; a name that ends in a slash is a folder.
    private func withFiles(_ names: [String], _ body: (ActionContext) throws -> Void) async throws {
        try await TemporaryDirectory.run { folder in
            for name in names {
                let path = "\(folder)/\(name)"
                if name.hasSuffix("/") {
                    #expect(unsafe mkdir(path, 0o700) == 0, "\(name)")
                } else {
                    let file = unsafe open(path, O_CREAT | O_WRONLY, 0o600)
                    #expect(file >= 0 && close(file) == 0, "\(name)")
                }
            }
            try body(TestHost([LibraryFeature.self], folder: folder).context())
        }
    }

    private func matches(_ text: String, _ context: ActionContext) throws -> [OpenWord.Match] {
        let word = try #require(OpenWord((text, "")))
        return try WordCompletion(context: context).matches(
            CompletionRequest(
                place: .form, word: word, target: .action("library.say"), parameter: "file", given: [:]))
    }

    @Test("Files and folders that begin with what is typed are found, hidden ones only with their dot")
    func names() async throws {
        try await withFiles(["notes.md", "next/", "other", ".hidden", "next/one", "next/two words"]) { context throws in
            #expect(try matches("@", context).map(\.text) == ["next/", "notes.md", "other"])
            #expect(try matches("@n", context).map(\.name) == ["next/", "notes.md"])
            #expect(try matches("@.h", context).map(\.text) == [".hidden"])
            #expect(try matches("@next/", context).map(\.text) == ["next/one", "next/two words"])
            #expect(try matches("@next/t", context).map(\.name) == ["two words"])
            #expect(try matches("@\(context.host.locations.current)/oth", context).map(\.name) == ["other"])
            #expect(try matches("@missing/", context).isEmpty && matches("@other/", context).isEmpty)
            #expect(try matches("@..", context).map(\.text) == ["../"])
        }
    }

    @Test("A name that would control a terminal, or is not read back as the same name, is not offered")
    func hostile() async throws {
        let harmless = ["a.txt", "a b.txt", "aé.txt"]
        let hostile = [
            "a\u{1B}[2J", "a\nb", "a\u{202E}txt", "a\u{7}", "a\u{85}", "a\u{2028}b", "a \"b\"", "\"a", "a\u{FFFC}",
            "a\rb",
            "a\u{9B}31m", "a\u{200B}",
        ]
        try await withFiles(harmless + hostile) { context throws in
            #expect(try Set(matches("@", context).map(\.text)) == Set(harmless))
            // Bytes that are no text name no file that could be written here.
            let bytes =
                Array("\(context.host.locations.current)/a".utf8CString.dropLast()) + [CChar(bitPattern: 0xFF), 0]
            let file = unsafe open(bytes, O_CREAT | O_WRONLY, 0o600)
            #expect(file >= 0 && close(file) == 0)
            defer { unsafe unlink(bytes) }
            #expect(try Set(matches("@a", context).map(\.text)) == Set(harmless))
        }
    }

    @Test("A link is what it leads to, and neither a socket nor a link to nothing is offered")
    func links() async throws {
        try await withFiles(["file", "folder/"]) { context throws in
            let folder = context.host.locations.current
            #expect(unsafe symlink("folder", "\(folder)/to-folder") == 0)
            #expect(unsafe symlink("nothing", "\(folder)/to-nothing") == 0)
            #expect(unsafe mkfifo("\(folder)/to-pipe", 0o600) == 0)
            #expect(try matches("@to", context).map(\.text) == ["to-folder/"])
        }
    }

    @Test("Files that exist are given to the action as they were written, and other words are only text")
    func mentioned() async throws {
        try await withFiles(["a.txt", "a b.txt", "folder/", "end.", "twice", "-"]) { context throws in
            let folder = context.host.locations.current
            let text =
                "@MainActor @a.txt, @\"a b.txt\" @folder @\(folder)/end. @missing @twice @twice @- me@a.txt"
            let files = try #require(MentionedFiles(text, for: "file"))
            var told: [String] = []
            let arguments = files.added(to: ["text": "x", "file": ["given"]], in: context) { told.append($0) }
            #expect(
                arguments == ["text": "x", "file": ["given", "a.txt", "a b.txt", .string("\(folder)/end."), "twice"]])
            #expect(told == ["attaching a.txt, a b.txt, \(folder)/end., twice"])

            let none = try #require(MentionedFiles("@MainActor @alice", for: "file"))
            #expect(none.added(to: [:], in: context) { told.append($0) } == [:] && told.count == 1)
            #expect(MentionedFiles("no mark", for: "file") == nil && MentionedFiles("@a.txt", for: nil) == nil)
        }
    }

    /// What the field of a form may be completed to.
    private func words(
        _ typed: String, of parameter: String, in target: ActionForm.Target, given: JSONObject = [:],
        isList: Bool = false, isOnlyForWords: Bool = false, _ context: ActionContext
    ) throws -> [String] {
        let word = try #require(OpenWord(value: (typed, ""), isList: isList))
        return try WordCompletion(context: context).matches(
            CompletionRequest(
                place: .form, word: word, target: target, parameter: parameter, given: given,
                isOnlyForWords: isOnlyForWords)
        ).map(\.text)
    }

    @Test("The words of a field depend on the other values, and those that cannot be shown or written are not offered")
    func found() async throws {
        try await withFiles([]) { context throws in
            let lend = ActionForm.Target.action("library.lend")
            func readers(_ typed: String, _ book: String) throws -> [String] {
                try words(typed, of: "to", in: lend, given: ["title": .string(book)], context)
            }
            #expect(try readers("", "Emma") == ["Ada", "Alan Turing", "Bob"])
            #expect(try readers("A", "Emma") == ["Ada", "Alan Turing"] && readers("Al", "Emma") == ["Alan Turing"])
            #expect(try readers("", "Dune") == ["Grace", "Ada"] && readers("x", "Dune").isEmpty)
            // A word of a list has no spaces.
            #expect(
                try words("", of: "to", in: lend, given: ["title": "Emma"], isList: true, context) == ["Ada", "Bob"])
            #expect(try words("", of: "title", in: lend, context).isEmpty)
            #expect(try words("", of: "missing", in: .screen("library.book"), context).isEmpty)
        }
    }

    @Test("The files of a field are those of its path, and none where only words are listed")
    func fieldFiles() async throws {
        try await withFiles(["notes.md", "next/", "two words", "a\u{202E}b"]) { context throws in
            let say = ActionForm.Target.action("library.say")
            #expect(try words("n", of: "file", in: say, isList: true, context) == ["next/", "notes.md"])
            #expect(try words("one n", of: "file", in: say, isList: true, context) == ["next/", "notes.md"])
            #expect(try words("t", of: "file", in: say, isList: true, context).isEmpty)
            #expect(try words("two w", of: "file", in: say, context) == ["two words"])
            #expect(try words("n", of: "file", in: say, isOnlyForWords: true, context).isEmpty)
        }
    }

    @Test("A field has a word to complete at its end, or at the end of a word of its list")
    func fieldWords() {
        func typed(_ before: String, _ after: String = "", isList: Bool = false) -> String? {
            OpenWord(value: (before, after), isList: isList)?.typed
        }
        #expect(typed("two words") == "two words" && typed("") == "" && typed("a", "b") == nil)
        #expect(typed("one tw", isList: true) == "tw" && typed("one ", isList: true) == "")
        #expect(typed("one", " two", isList: true) == "one" && typed("o", "ne", isList: true) == nil)
        #expect(typed("[\"a", isList: true) == nil && typed("a\nb") == nil && typed("\u{FFFC}") == nil)
    }

    @Test("Whoever is no person gets no names, and names no file outside of its folders")
    func rights() async throws {
        try await TestWorkbench.run([PeekFeature.self]) { bench in
            try bench.write("x", to: "\(bench.folder)/a.txt")
            try await bench.open { session in
                let bundle = Grant(Grant.Layer(.bundle("night"), actions: ["peek.*"]))
                let other = Caller.person(ScriptedPerson()).narrowed(by: bundle)
                let seen = try await session.session.perform("peek.files", as: other, output: RecordingOutput())
                #expect(seen.json == ["names": [], "arguments": [:]])
                let own = try await session.perform("peek.files")
                #expect(own["names"] == ["a.txt"] && own["arguments"] == ["file": ["a.txt"]])
            }
        }
    }
}

/// Shows what its caller can see.
private struct PeekFeature: Feature {
    static let manifest = Manifest(id: "peek", summary: "Looks", version: "1.0")

    init(_ settings: FeatureSettings) {}

    func register(in registry: inout RegistryBuilder) {
        registry.add(
            Action(
                "peek.files", "Look", .reads, .option("file", "Files", as: [ReadPath].self)
            ) { context, _ -> JSON in
                guard let word = OpenWord(("@a", "")), let files = MentionedFiles("@a.txt", for: "file") else {
                    return [:]
                }
                let request = CompletionRequest(
                    place: .form, word: word, target: .action("peek.files"), parameter: "file",
                    given: [:])
                let names = try WordCompletion(context: context).matches(request).map { JSON.string($0.text) }
                return ["names": .array(names), "arguments": .object(files.added(to: [:], in: context) { _ in })]
            })
    }
}
