import Capabilities
import CoreTesting
import FileKit
import GatewayStore
import Glibc
import HTTPTesting
import JSON
import LoopKit
import StorageKit
import Testing
import TurnLoop

@Suite("Several processes, and killed processes", .timeLimit(.minutes(5)))
struct ProcessTests {
    @Test("A process that is killed in the middle of turns loses no stored data", arguments: 0..<6)
    func killed(round: Int) async throws {
        try await TemporaryDirectory.run { folder in
            let store = GatewayStore.open(folder)
            let session = try await store.makeSession(budget: ProjectBudget(project: BudgetLimit(tokens: 1 << 40)))
            await #expect(processExitsWith: .signal(SIGKILL)) {
                [folder = folder as String, id = session.id as String, round = round as Int] in
                let store = GatewayStore.open(folder)
                let log = try Log("\(folder)/log")
                var turn = 0
                while true {
                    turn += 1
                    // Two turns are stored by now, however slow the machine is.
                    if turn == 3 {
                        _ = try OwnThread {
                            usleep(UInt32(round * 37_000))
                            kill(getpid(), SIGKILL)
                        }
                    }
                    let lease = try await store.beginTurn(session: id)
                    func say(_ message: Message, _ usage: Usage? = nil) async throws {
                        try log.write(
                            try await store.append(
                                TurnMessage(message, usage: usage), provider: "p", model: "m", lease: lease))
                    }
                    let call = ToolCall(id: "c\(turn)", name: "ls", input: [:])
                    try await say(Message(.user, "question \(turn)"))
                    try await say(
                        Message(.assistant, [.text("let me see"), .call(call)]), Usage(inputTokens: 3, outputTokens: 1))
                    try await say(Message(.tool, [.result(ToolResult(call: call.id, content: "a.txt"))]))
                    try await say(Message(.assistant, "answer \(turn)"), Usage(inputTokens: 5, outputTokens: 2))
                    try await store.endTurn(lease)
                }
            }
            let confirmed = try Log.numbers("\(folder)/log")
            let found = try await all(store, session.id)
            try #require(confirmed.count > 4)
            // At most one more was stored than was reported.
            #expect(found.map(\.number).starts(with: confirmed) && found.count <= confirmed.count + 1)
            let messages = try await store.messages(of: session.id)
            // All of them, and at most the result for an interrupted call.
            #expect(isValid(messages) && (0...1).contains(messages.count - found.count))
            let answers = found.filter { $0.message.role == .assistant }
            let row = try #require(try await store.session(session.id))
            #expect(!row.isRunning && row.messages == found.count)
            #expect(row.usage.answers == answers.count && answers.allSatisfy { $0.usage != nil })
            #expect(row.usage.usage == answers.reduce(Usage()) { $0 + ($1.usage ?? Usage()) })
            #expect(try await store.checkBudget(session: session.id).lines.first?.used.usage == row.usage.usage)
            try await store.talk("go on", "gladly", in: session.id)
            #expect(isValid(try await store.messages(of: session.id)))
            try await store.checkSums()
            #expect(try await store.database.check() == [])
            await store.close()
        }
    }

    private func all(_ store: GatewayStore, _ session: String) async throws -> [StoredMessage] {
        var (messages, page): ([StoredMessage], Int) = ([], 1)
        while true {
            let part = try await store.storedMessages(of: session, page: PageRequest(number: page, size: 100))
            messages += part.items
            guard part.hasNext else { return messages }
            page += 1
        }
    }

    @Test("The turn of a dead process is taken over, and its open call gets a result that says so")
    func takeover() async throws {
        try await TemporaryDirectory.run { folder in
            let store = GatewayStore.open(folder)
            let session = try await store.makeSession()
            await #expect(processExitsWith: .success) { [folder = folder as String, id = session.id as String] in
                let store = GatewayStore.open(folder)
                let lease = try await store.beginTurn(session: id)
                let call = ToolCall(id: "c1", name: "bash_run", input: ["command": "sleep 100"])
                try await store.append(TurnMessage(Message(.user, "wait")), lease: lease)
                try await store.append(TurnMessage(Message(.assistant, [.call(call)])), lease: lease)
                #expect(try await store.session(id)?.isRunning == true)
            }
            #expect(try await store.session(session.id)?.isRunning == false)
            #expect(try await store.stats().running == [])
            let messages = try await store.messages(of: session.id)
            #expect(messages.map(\.role) == [.user, .assistant, .tool] && isValid(messages))
            let lease = try await store.beginTurn(session: session.id)
            #expect(lease.isTakeover)
            try await store.endTurn(lease)
            #expect(try await !store.beginTurn(session: session.id).isTakeover)
            await store.close()
        }
    }

    @Test("A running turn keeps other processes out of its session")
    func busy() async throws {
        try await TemporaryDirectory.run { folder in
            let store = GatewayStore.open(folder)
            let session = try await store.makeSession()
            let lease = try await store.beginTurn(session: session.id)
            await #expect(processExitsWith: .success) { [folder = folder as String, id = session.id as String] in
                let store = GatewayStore.open(folder)
                let session = try await store.session(id)
                #expect(session?.isRunning == true)
                #expect(try await failure { try await store.beginTurn(session: id) } == .busy)
                #expect(try await failure { try await store.deleteSession(id) } == .busy)
                await store.close()
            }
            try await store.append(TurnMessage(Message(.user, "still here")), lease: lease)
            try await store.endTurn(lease)
            await store.close()
        }
    }

    @Test("Two processes that write the same sessions lose nothing and mix no turns")
    func together() async throws {
        try await TemporaryDirectory.run { folder in
            let store = GatewayStore.open(folder)
            let sessions = [try await store.makeSession().id, try await store.makeSession().id]
            await withTaskGroup(of: Void.self) { group in
                for writer in 0..<2 {
                    group.addTask {
                        await #expect(processExitsWith: .success) {
                            [folder = folder as String, ids = sessions as [String], writer = writer as Int] in
                            let store = GatewayStore.open(folder)
                            for number in 0..<80 {
                                var isDone = false
                                while !isDone {
                                    do {
                                        try await store.talk(
                                            "w\(writer)n\(number)", "to w\(writer)n\(number)", in: ids[number % 2])
                                        isDone = true
                                    } catch let error as GatewayStoreError where error.kind == .busy {
                                        await Task.yield()
                                    }
                                }
                            }
                            await store.close()
                        }
                    }
                }
            }
            var questions: Set<String> = []
            for id in sessions {
                let texts = try await store.messages(of: id).map(\.text)
                #expect(texts.count == 160)
                for place in stride(from: 0, to: texts.count - 1, by: 2) {
                    #expect(texts[place + 1] == "to \(texts[place])")
                    questions.insert(texts[place])
                }
            }
            #expect(questions.count == 160)
            let usage = UsageSum(answers: 160, usage: Usage(inputTokens: 320, outputTokens: 160), unpriced: 160)
            #expect(try await store.stats().usage == usage)
            try await store.checkSums()
            #expect(try await store.database.check() == [])
            await store.close()
        }
    }
}

/// Numbers that a process reported before it was killed, one per call.
private struct Log: ~Copyable {
    private let descriptor: Int32

    init(_ path: String) throws {
        descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        try #require(descriptor >= 0)
    }

    deinit { close(descriptor) }

    func write(_ number: Int) throws {
        let bytes = Array("\(number) ".utf8)
        try #require(unsafe Glibc.write(descriptor, bytes, bytes.count) == bytes.count)
    }

    static func numbers(_ path: String) throws -> [Int] {
        let text = String(decoding: try Files.read(path, limit: 1 << 24), as: UTF8.self)
        return text.split(separator: " ").compactMap { Int($0) }
    }
}
