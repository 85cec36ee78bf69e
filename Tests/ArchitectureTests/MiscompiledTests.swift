import CoreTesting
import FileKit
import Testing
import WorkspaceSupport

/// The form of task that swiftc 6.3.1 miscompiles when it optimises: `addTask { do { return (index, .success(…` with the
/// catch beside it. `Tests/Fixtures/Miscompiled` has it reduced; once, it sent questions to a server nobody had chosen.
private enum LostTuple {
    /// A task whose do or catch returns a tuple that ends in a `Result`.
    static var form: Regex<Substring> {
        /addTask(?:Unless\w+)?(?:\([^)]*\))?\s*\{(?:[^{}]|\{\s*\[)*?\bdo\s*\{[^{}]*?\breturn\s*\([^{}]*?,\s*(?:Result)?\.(?:success|failure)\(/
    }

    static func places(in text: String) -> Int { text.matches(of: form).count }
}

@Test("No task has the form that the compiler miscompiles")
func noLostTuples() throws {
    let workspace = Workspace.current
    for file in try ["Packages", "Apps", "Plugins"].flatMap({ try workspace.files(in: $0, ending: ".swift") }) {
        #expect(
            LostTuple.places(in: try workspace.text(file)) == 0,
            "\(file): put the value into a struct, or bind it before the tuple is made")
    }
}

@Test("The form that the compiler miscompiles is found, and its workarounds are not")
func findsLostTuples() throws {
    let reduced = try Workspace.current.text("Tests/Fixtures/Miscompiled/Tuples.swift")
    #expect(LostTuple.places(in: reduced) == 1)
    #expect(
        LostTuple.places(in: "group.addTask { [a] in do { return (i, Result.success(try await b())) } catch {} }") == 1)
    #expect(LostTuple.places(in: "group.addTask { (index, await result(of: provider)) }") == 0)
    #expect(LostTuple.places(in: "group.addTask { do { let v = try await b(); return (i, v) } catch {} }") == 0)
}

@Test("The workaround is compiled correctly, and a compiler that handles the old form correctly is reported")
func compilerIsWatched() async throws {
    let source = "\(Workspace.current.root)/Tests/Fixtures/Miscompiled/Tuples.swift"
    try await TemporaryDirectory.run { folder in
        let shell = Shell(in: folder)
        try await shell.run("swiftc", "-parse-as-library", "-O", "-swift-version", "6", source, "-o", "reduced")
        let lines = try await shell.run("\(folder)/reduced").split(separator: "\n")
        #expect(lines.last == "structs [0, 1, 2, 3]")
        if lines.first == "tuples [0, 1, 2, 3]" {
            Issue.record("this compiler is free of the fault: the lint and the fixture may go", severity: .warning)
        }
    }
}
