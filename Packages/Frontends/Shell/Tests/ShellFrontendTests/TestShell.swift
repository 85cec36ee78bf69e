import Capabilities
import CoreTesting
import HostKit
import HostTesting
import JSON
import Registry
import Settings
import TerminalKit
import Testing

@testable import Screens
@testable import ShellFrontend

/// A model of the shell and the time of its events.
struct TestShell {
    var model: ShellModel
    var now = Duration.zero
    var effects: [ShellEffect] = []

    mutating func handle(_ event: ShellEvent) {
        model.handle(event, at: now)
        effects += model.takeEffects()
    }

    /// Presses keys by their names.
    mutating func press(_ names: String...) throws {
        for name in names { handle(.input(.key(try #require(KeyPress(name: name), "\(name)")))) }
    }

    mutating func type(_ text: String) {
        for scalar in text.unicodeScalars { handle(.input(.key(KeyPress(.character(scalar))))) }
    }

    mutating func show(_ screen: String, _ block: Block) throws {
        handle(.state(try #require(view(screen), "\(screen) is not open"), .ready(block)))
        // A person presses keys for what is seen.
        _ = model.draw()
    }

    /// The newest screen with that id that was opened.
    func view(_ screen: String) -> ViewID? {
        effects.reversed().lazy.compactMap { if case .open(let id, screen, _) = $0 { id } else { nil } }.first
    }

    var opened: [String] {
        effects.compactMap { if case .open(_, let screen, _) = $0 { screen } else { nil } }
    }

    var performed: [String] {
        effects.compactMap {
            switch $0 {
            case .perform(_, let action, let arguments): "\(action) \(arguments)"
            case .submit(_, let action, let arguments, let files):
                "\(action) \(arguments) \(files.parameter) \(files.mentions.flatMap(\.paths))"
            default: nil
            }
        }
    }

    mutating func takeEffects() -> [ShellEffect] {
        defer { effects = [] }
        return effects
    }

    /// What is on the screen, without spaces at the ends of rows.
    mutating func screen() -> [String] {
        let cells = model.draw().cells
        return (0..<cells.rows).map { cells.text(row: $0) }
    }

    mutating func text() -> String { screen().joined(separator: "\n") }
}

extension TestShell {
    /// Opens a screen with a composer.
    mutating func openTalk() throws {
        model.open("library.talk", ["with": "Ada"])
        effects += model.takeEffects()
        try show("library.talk", LibraryFeature.talk)
    }

    /// Begins an action that asks.
    mutating func askToBurn() throws {
        try press("2")
        try show("library.books", LibraryFeature.books)
        try press("x")
        let run = try #require(model.runs.all.last)
        handle(.question(QuestionID(number: 1), run.id, Question("confirm.burn", "Burn Emma?", .confirm)))
    }

    /// The newest request for what a word may become.
    func completionRequest() throws -> CompletionRequest {
        try #require(
            effects.reversed().lazy.compactMap { if case .complete(let asked) = $0 { asked } else { nil } }.first)
    }
}

/// Lends a shell that shows the library, as it has begun.
func withShell(
    _ size: TerminalSize = TerminalSize(columns: 120, rows: 30), keys: [String: String] = [:],
    _ body: (inout TestShell) throws -> Void
) async throws {
    try await TestWorkbench.run([LibraryFeature.self]) { bench in
        let workbench = try bench.workbench
        var model = ShellModel(
            name: "bench", registry: workbench.registry, keys: KeyMap(keys), size: size,
            look: PaneLook(level: .none, now: Timestamp(microseconds: 0)))
        let effects = model.takeEffects()
        var shell = TestShell(model: model)
        shell.effects = effects
        try body(&shell)
    }
}

/// A failure of an action.
struct ValueFailure: Failure {
    let message: String
    var code: String { "library.failed" }
}
