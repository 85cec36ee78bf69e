import Capabilities
import ChatHistory
import CoreTesting
import JSON
import Registry
import Screens
import Testing

@testable import Chat

@Suite("Screen of a new conversation", .timeLimit(.minutes(5)))
struct NewConversationScreenTests {
    /// Sends a text as a frontend does with a composer.
    private static func send(_ text: String, from composer: Composer, _ desk: ScreenDesk) async throws {
        try await desk.test.perform(
            composer.action, composer.arguments.adding(composer.parameter, .string(text)))
    }

    /// Lends the screen with its composer.
    private static func open(
        _ desk: ScreenDesk, _ body: @escaping @Sendable (OpenScreen, Composer) async throws -> Void
    ) async throws {
        try await desk.test.open("chat.new", ["model": "dictated/m"]) { view in
            let block = try await view.block { $0.composer != nil }
            try await body(view, try #require(block.composer))
        }
    }

    @Test("It is on the tab of the conversations, which offer it")
    func first() async throws {
        try await ScreenDesk.run { desk in
            let screens = desk.test.composition.registry.screens.all.filter { $0.placement == .tab("Sessions") }
            #expect(screens.map(\.id) == ["chat.conversations", "chat.new"])
            let list = try await desk.test.open("chat.conversations") { view in try await view.block() }
            #expect(list.allLinks.contains { $0.target == .screen("chat.new") && $0.key == "n" })
        }
    }

    @Test("The first message begins a conversation, which the screen shows as it is written and goes on with")
    func begins() async throws {
        try await ScreenDesk.run { desk in
            try await Self.open(desk) { view, composer in
                #expect(composer.action == "chat.send" && composer.arguments["model"] == "dictated/m")
                #expect(composer.files == "file")
                async let first: Void = Self.send("Which birds?", from: composer, desk)
                let answer = desk.model["Which birds?"]
                try await answer.say("Swallows.")
                let growing = try await desk.shown(view) { $0.entries.last?.text == "Swallows." }
                #expect(growing.entries.map(\.text) == ["Which birds?", "Swallows."])
                #expect(growing.entries.last?.isOpen == true && growing.title == "Which birds?")
                try await answer.end()
                try await first
                let done = try await desk.shown(view) { $0.values?["state"] == "ready" }

                // A message that was written before the screen changed belongs to the same conversation.
                for composer in [composer, try #require(done.composer)] {
                    async let next: Void = Self.send("More?", from: composer, desk)
                    try await desk.model["More?"].say("No.")
                    try await desk.model["More?"].end()
                    try await next
                }
                let all = try await desk.shown(view) { $0.values?["messages"] == 6 }
                #expect(
                    all.entries.map(\.text) == ["Which birds?", "Swallows.", "More?", "No.", "More?", "No."])
                #expect(try await desk.history.list().items.count == 1)
            }
        }
    }

    @Test("A conversation that begins elsewhere is not taken for the one of this screen")
    func elsewhere() async throws {
        try await ScreenDesk.run { desk in
            try await Self.open(desk) { view, composer in
                try await Self.open(desk) { other, composerToo in
                    #expect(composer.arguments["session-id"] != composerToo.arguments["session-id"])
                    for text in ["Hello", "Hi"] {
                        desk.model[text].sayLater("Good day.")
                    }
                    try await desk.send("Hello")
                    try await Self.send("Hi", from: composerToo, desk)
                    try await desk.shown(other) { $0.entries.map(\.text) == ["Hi", "Good day."] }
                    view.refresh()
                    for _ in 0..<2_000 { await Task.yield() }
                    #expect(view.state.block?.composer == composer && view.state.block?.feed == nil)
                }
            }
        }
    }

    @Test("A change of settings changes nothing about which conversation it is")
    func settings() async throws {
        try await ScreenDesk.run { desk in
            try await Self.open(desk) { view, composer in
                try Dictation.$model.withValue(desk.model) {
                    try desk.test.change(settings: "{chat: {system: 'Be brief.'}}")
                }
                desk.model["Hi"].sayLater("Good day.")
                try await Self.send("Hi", from: composer, desk)
                let shown = try await desk.shown(view) { $0.entries.map(\.text) == ["Hi", "Good day."] }
                #expect(shown.composer?.arguments["conversation"] == composer.arguments["session-id"])
            }
        }
    }
}
