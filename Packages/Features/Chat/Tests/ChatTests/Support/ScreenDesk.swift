import Capabilities
import ChatHistory
import CoreTesting
import FileKit
import HostKit
import JSON
import Registry
import Screens
import Synchronization
import Testing

@testable import Chat

/// A host with Chat in memory, and its history as another program has it open.
struct ScreenDesk: Sendable {
    let test: TestHost
    let history: History
    /// The model `dictated/m`.
    let model: DictatedModel
    private let time: Time

    private final class Time: Sendable {
        let now = Mutex(Timestamp(microseconds: 0))
    }

    /// Lends a desk, and closes everything at the end.
    static func run(_ body: (ScreenDesk) async throws -> Void) async throws {
        try await TemporaryDirectory.run { folder in
            let model = DictatedModel()
            let test = try Dictation.$model.withValue(model) {
                try TestHost(
                    [HostFeature.self, Workshop.self, Dictation.self, ChatFeature.self], folder: folder)
            }
            try Files.makeDirectories("\(folder)/data")
            let time = Time()
            let history = History(
                "\(folder)/data/chat.db", clock: TestClock(), now: { time.now.withLock { $0 } })
            try await ChatServices.$localServers.withValue([]) {
                try await body(ScreenDesk(test: test, history: history, model: model, time: time))
            }
            await history.close()
            #expect(await test.session.close() == [])
        }
    }

    /// Sets the time of the other program, which begins in 1970.
    func set(_ now: Timestamp) { time.now.withLock { $0 = now } }

    /// Sends a message to the dictated model.
    @discardableResult
    func send(_ text: String, _ arguments: JSONObject = [:]) async throws -> JSON {
        var all: JSONObject = ["model": "dictated/m", "message": .string(text)]
        for (name, value) in arguments { all[name] = value }
        return try await test.perform("chat.send", all)
    }

    /// Waits until the first of an answer is stored. Nothing more of it is before 150 milliseconds have passed.
    func isStored(_ id: ConversationID) async throws {
        while try await history.entries(of: id).last?.state != .streaming { await Task.yield() }
    }

    /// What an answer that grows has in the history.
    func storedText(of id: ConversationID) async throws -> String {
        try await history.entries(of: id).last?.message.text ?? ""
    }

    /// Lets time go on by single frames until the screen shows what it should.
    ///
    /// - Parameter sleepers: how many have to sleep before each frame, where no time may be lost.
    @discardableResult
    func shown(
        _ view: OpenScreen, sleepers: Int? = nil, where condition: (Block) -> Bool
    ) async throws -> Block {
        while true {
            for _ in 0..<1_000 {
                if let block = view.state.block, condition(block) { return block }
                await Task.yield()
            }
            if let sleepers {
                await test.clock.waitForSleepers(sleepers)
                if let block = view.state.block, condition(block) { return block }
            }
            test.clock.advance(by: .milliseconds(33))
        }
    }

    /// Waits until the screen looks again, lets it, and returns the value that follows.
    func next(_ view: OpenScreen, after pause: Duration, _ condition: (Block) -> Bool) async throws -> Block {
        await test.clock.waitForSleepers(1)
        test.clock.advance(by: pause)
        return try await view.block(where: condition)
    }
}

extension History {
    /// A conversation of texts, alternating between user and assistant.
    func talk(_ texts: String...) async throws -> Conversation {
        let conversation = try await create(ConversationSetup())
        var parent: MessageID?
        for (number, text) in texts.enumerated() {
            let role: Message.Role = number.isMultiple(of: 2) ? .user : .assistant
            parent = try await append(Message(role, text), to: conversation.id, after: parent).id
        }
        return try await self.conversation(conversation.id)
    }
}

/// The first of each kind of block.
extension Block {
    var feed: Feed<Screens.Transcript.Entry>? {
        if case .transcript(let transcript) = content { return transcript.feed }
        return children.lazy.compactMap(\.feed).first
    }
    var entries: [Screens.Transcript.Entry] { feed.map { Array($0.entries(from: 0).entries) } ?? [] }
    var steps: [Timeline.Step] {
        if case .timeline(let timeline) = content { return timeline.steps }
        return children.flatMap(\.steps)
    }
    var values: JSONObject? {
        if case .values(let values) = content { return values.values }
        return children.lazy.compactMap(\.values).first
    }
    var composer: Composer? {
        if case .composer(let composer) = content { return composer }
        return children.lazy.compactMap(\.composer).first
    }
    var table: Table? {
        if case .table(let table) = content { return table }
        return children.lazy.compactMap(\.table).first
    }
    var rows: [JSONObject] { if case .all(let rows) = table?.rows { rows } else { [] } }
    var charts: [Chart] {
        if case .chart(let chart) = content { return [chart] }
        return children.flatMap(\.charts)
    }
}
