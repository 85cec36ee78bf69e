import Capabilities
import ChatHistory
import FileKit
import Glibc
import LoopKit
import ProcessKit
import StorageKit
import Testing

@Suite("Several processes and killed processes", .timeLimit(.minutes(5)))
struct ProcessTests {
    @Test("A process killed while streaming loses no more than 250 milliseconds", arguments: 0..<4)
    func killed(round: Int) async throws {
        try await withFolder { folder in
            await #expect(processExitsWith: .signal(SIGKILL)) { [folder = folder as String, round = round as Int] in
                let days = Days()
                let history = History("\(folder)/chat.db", now: { days.next })
                let chat = try await history.talk("Hello")
                let draft = history.begin(in: chat.id, after: chat.head, model: "m")
                let log = try Log("\(folder)/log")
                let start = ContinuousClock.now
                let end = start + .milliseconds(900 + round * 70)
                while ContinuousClock.now < end {
                    // Written once the draft has the event; the number is in microseconds, always with the same number
                    // of digits.
                    let word = "\(1_000_000 + Int((ContinuousClock.now - start) / .microseconds(1))) "
                    draft.append([.text(word)])
                    try log.write(word)
                    try await Task.sleep(for: .milliseconds(2))
                }
                kill(getpid(), SIGKILL)
            }
            let shown = try #require(try Log.words("\(folder)/log").last)
            let days = Days()
            let history = History("\(folder)/chat.db", now: { days.next })
            let chat = try #require(try await history.list().items.first)
            let entry = try #require(try await history.entries(of: chat.id).last)
            #expect(entry.state == .interrupted && entry.model == "m")
            let words = entry.message.text.split(separator: " ").map(String.init)
            #expect(words == Array(try Log.words("\(folder)/log").prefix(words.count)), "the beginning, without a gap")
            let lost = try #require(Int(shown)) - (try #require(words.last.flatMap { Int($0) }))
            #expect(lost <= 250_000, "\(lost) microseconds")
            // The next writer completes it, so that searches find its words.
            let draft = history.begin(in: chat.id, after: entry.id)
            draft.append([.text("More")])
            try await draft.stop()
            #expect(try await history.entries(of: chat.id)[1] == entry)
            #expect(try await history.found(words[0]).count == 1)
            #expect(try await history.count("pieces") == 0)
            #expect(try await history.database.check() == [])
            await history.close()
        }
    }

    @Test("A process killed after a signed thought leaves it whole, or its beginning without a signature")
    func killedThought() async throws {
        for isSigned in [true, false] {
            try await withFolder { folder in
                await #expect(processExitsWith: .signal(SIGKILL)) {
                    [folder = folder as String, isSigned = isSigned as Bool] in
                    let days = Days()
                    let history = History("\(folder)/chat.db", now: { days.next })
                    let chat = try await history.talk("Hello")
                    let draft = history.begin(in: chat.id, after: chat.head, model: "m")
                    func isStored(_ condition: ([Message.Part]) -> Bool) async throws {
                        while !condition(try await history.entries(of: chat.id).last?.message.parts ?? []) {
                            await Task.yield()
                        }
                    }
                    for word in ["One ", "two ", "three"] {
                        draft.append([.reasoning(word)])
                        try await isStored { "\($0)".contains(word) }
                    }
                    if isSigned {
                        draft.append([.thought(Reasoning("", signature: "proof"))])
                        try await isStored { "\($0)".contains("proof") }
                    }
                    kill(getpid(), SIGKILL)
                }
                let days = Days()
                let history = History("\(folder)/chat.db", now: { days.next })
                let chat = try #require(try await history.list().items.first)
                let thought = Reasoning("One two three", signature: isSigned ? "proof" : nil)
                for _ in 0..<2 {
                    let entry = try #require(try await history.entries(of: chat.id).dropFirst().first)
                    #expect(entry.state == .interrupted && entry.message.parts == [.reasoning(thought)])
                    #expect(entry.sent == (isSigned ? Message(.assistant, [.reasoning(thought)]) : nil))
                    // The next writer completes it.
                    try await history.begin(in: chat.id, after: entry.id).stop(Message(.assistant, "More"))
                }
                #expect(try await history.count("pieces") == 0)
                await history.close()
            }
        }
    }

    @Test("The stored rest of a signed thought from an older version is not taken for the whole")
    func olderRest() async throws {
        try await withFolder { folder in
            let days = Days()
            let history = History("\(folder)/chat.db", now: { days.next })
            let chat = try await history.talk("Hello")
            do {
                let lost = history.begin(in: chat.id, after: chat.head)
                lost.append([.reasoning("One ")])
                while try await history.entries(of: chat.id).count < 2 { await Task.yield() }
                try await history.database.write { connection in
                    _ = try connection.run(
                        """
                        INSERT INTO pieces (message, number, parts) SELECT id, 9,
                            '[{"type": "reasoning", "text": "two", "signature": "proof"}, {"type": "text", "text": "x"}]'
                            FROM messages WHERE state = 'streaming'
                        """)
                }
            }
            let entry = try #require(try await history.entries(of: chat.id).last)
            #expect(entry.message.parts == [.reasoning(Reasoning("One two")), .text("x")])
            await history.close()
        }
    }

    @Test("While its process lives, an answer is shown as streaming by other processes too")
    func alive() async throws {
        try await withFolder { folder in
            let days = Days()
            let history = History("\(folder)/chat.db", now: { days.next })
            let chat = try await history.talk("Hello")
            let draft = history.begin(in: chat.id, after: chat.head)
            draft.append([.text("Some")])
            while try await history.entries(of: chat.id).count < 2 { await Task.yield() }
            await #expect(processExitsWith: .success) { [folder = folder as String] in
                let days = Days()
                let history = History("\(folder)/chat.db", now: { days.next })
                let chat = try #require(try await history.list().items.first)
                let own = history.begin(in: chat.id, after: chat.head)
                try await own.stop(Message(.assistant, "from the other"))
                #expect(try await history.entries(of: chat.id)[1].state == .streaming)
                await history.close()
            }
            try await draft.stop()
            #expect(try await history.entries(of: chat.id).map(\.state) == [.complete, .stopped, .stopped])
            await history.close()
        }
    }

    @Test("A reused process number does not keep an answer streaming")
    func reused() async throws {
        try await withFolder { folder in
            let days = Days()
            let history = History("\(folder)/chat.db", now: { days.next })
            let chat = try await history.talk("Hello")
            let draft = history.begin(in: chat.id, after: chat.head)
            draft.append([.text("Some")])
            while try await history.entries(of: chat.id).count < 2 { await Task.yield() }
            let lease = try await history.database.read { connection in
                try connection.first("SELECT lease FROM messages WHERE lease IS NOT NULL") { row in try row[0] as String
                }
            }
            let fields = try #require(lease).split(separator: "/")
            #expect(fields.count == 4 && fields[1] == "\(getpid())")
            for forged in [
                "\(fields[0])/\(fields[1])/1/\(fields[3])", "other-boot/\(fields[1])/\(fields[2])/\(fields[3])",
                "\(fields[0])/\(fields[1])/1", "nonsense", "",
            ] {
                try await history.database.write { connection in
                    _ = try connection.run("UPDATE messages SET lease = ? WHERE lease IS NOT NULL", forged)
                }
                #expect(try await history.entries(of: chat.id)[1].state == .interrupted, "\(forged)")
            }
            // Even if others considered it dead, the living process writes the final state.
            let other = history.begin(in: chat.id, after: chat.head)
            try await other.stop()
            #expect(try await history.found("some") == ["Some"])
            try await draft.finish(answer("Some more"))
            #expect(try await history.found("some") == ["Some more"])
            #expect(try await history.database.check() == [])
            await history.close()
        }
    }

    @Test("An answer streams for every history that shares its drafts, until it ends or is lost")
    func shared() async throws {
        try await withFolder { folder in
            let days = Days()
            let drafts = Holdings()
            let history = History("\(folder)/chat.db", drafts: drafts, now: { days.next })
            let next = History("\(folder)/chat.db", drafts: drafts, now: { days.next })
            let chat = try await history.talk("Hello")
            do {
                let draft = history.begin(in: chat.id, after: chat.head)
                draft.append([.text("Some")])
                while try await next.entries(of: chat.id).count < 2 { await Task.yield() }
                #expect(try await next.entries(of: chat.id)[1].state == .streaming)
                try await next.begin(in: chat.id, after: chat.head).stop()
                #expect(try await next.found("some") == [])
                try await draft.finish(answer("Some more"))
            }
            #expect(try await next.entries(of: chat.id)[1].state == .complete)
            // A draft that was begun and forgotten is no longer being written, although its process lives.
            let head = try #require(try await next.entries(of: chat.id).last).id
            do {
                let lost = history.begin(in: chat.id, after: head)
                lost.append([.text("Lost")])
                while try await next.entries(of: chat.id).last?.message.text != "Lost" { await Task.yield() }
                #expect(try await next.entries(of: chat.id).last?.state == .streaming)
            }
            while try await next.entries(of: chat.id).last?.state == .streaming { await Task.yield() }
            #expect(try await next.entries(of: chat.id).last?.state == .interrupted)
            await history.close()
            await next.close()
        }
    }

    @Test("Two processes that write one conversation lose nothing, and conflicts become branches")
    func together() async throws {
        try await withFolder { folder in
            let days = Days()
            let history = History("\(folder)/chat.db", now: { days.next })
            let chat = try await history.talk("Hello")
            await withTaskGroup(of: Void.self) { group in
                for writer in 0..<2 {
                    group.addTask {
                        await #expect(processExitsWith: .success) {
                            [folder = folder as String, id = chat.id.rawValue as String, writer = writer as Int] in
                            let days = Days()
                            let history = History("\(folder)/chat.db", now: { days.next })
                            let id = ConversationID(rawValue: id)
                            for number in 0..<60 {
                                let seen = try await history.conversation(id).head
                                if number.isMultiple(of: 2) {
                                    let draft = history.begin(in: id, after: seen)
                                    draft.append([.text("w\(writer)x\(number)")])
                                    try await draft.stop()
                                } else {
                                    try await history.append(
                                        Message(.user, "w\(writer)x\(number)"), to: id, after: seen)
                                }
                            }
                            await history.close()
                        }
                    }
                }
            }
            var texts: Set<String> = []
            for branch in try await history.branches(of: chat.id) {
                let path = try await history.texts(chat.id, upTo: branch.tip)
                #expect(path.first == "Hello" && path.count == branch.messages)
                texts.formUnion(path)
            }
            let wanted = (0..<2).flatMap { writer in (0..<60).map { "w\(writer)x\($0)" } }
            #expect(texts == Set(wanted + ["Hello"]))
            #expect(try await history.count("messages") == 121)
            #expect(try await history.database.check() == [])
            await history.close()
        }
    }
}

/// The output of a killed process, written with one call for each word.
private struct Log: ~Copyable {
    private let descriptor: Int32

    init(_ path: String) throws {
        descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        try #require(descriptor >= 0)
    }

    deinit { close(descriptor) }

    func write(_ word: String) throws {
        let bytes = Array(word.utf8)
        try #require(unsafe Glibc.write(descriptor, bytes, bytes.count) == bytes.count)
    }

    static func words(_ path: String) throws -> [String] {
        String(decoding: try Files.read(path, limit: 1 << 24), as: UTF8.self).split(separator: " ").map(String.init)
    }
}
