import Capabilities
import CoreTesting
import GatewayStore
import Testing
import TurnLoop

@Suite("Usage", .timeLimit(.minutes(5)))
struct UsageTests {
    @Test("Unknown cost stays unknown and is reported next to known cost")
    func unknown() async throws {
        try await withStore { store in
            let session = try await store.makeSession()
            try await store.talk("a", "b", in: session.id, usage: nil)
            var sum = try #require(try await store.session(session.id)?.usage)
            #expect(sum == UsageSum(key: session.id, answers: 1, usage: Usage(), unpriced: 1) && sum.tokens == nil)
            try await store.talk("a", "b", in: session.id, usage: Usage(outputTokens: 4, cost: Cost(nanodollars: 0)))
            sum = try #require(try await store.session(session.id)?.usage)
            #expect(sum.usage == Usage(outputTokens: 4, cost: Cost(nanodollars: 0)) && sum.unpriced == 1)
            #expect(sum.answers == 2 && sum.tokens == 4)
        }
    }

    @Test("Implausible usage is unknown, so that sums stay right")
    func nonsense() async throws {
        try await withStore { store in
            let nonsense = Usage(
                inputTokens: .max, outputTokens: -1, cachedTokens: .min, cacheWriteTokens: 1 << 40,
                reasoningTokens: 1 << 41, cost: Cost(nanodollars: .max))
            for _ in 0..<3 { try await store.account(UsageEntry(provider: "p", model: "m", usage: nonsense)) }
            let sum = try await store.stats().usage
            #expect(sum == UsageSum(answers: 3, usage: Usage(cacheWriteTokens: 3 << 40), unpriced: 3))
        }
    }

    @Test("Answers in the history of a client do not count")
    func imported() async throws {
        try await withStore { store in
            let session = try await store.makeSession()
            let lease = try await store.beginTurn(session: session.id)
            for text in ["long ago", "and later"] {
                try await store.append(TurnMessage(Message(.user, "?")), lease: lease)
                try await store.append(TurnMessage(Message(.assistant, text)), lease: lease)
            }
            try await store.endTurn(lease)
            #expect(try await store.messages(of: session.id).map(\.text) == ["?", "long ago", "?", "and later"])
            #expect(try await store.session(session.id)?.usage == UsageSum(key: session.id))
            #expect(try await store.usage(by: .message) == [])
            #expect(try await store.usage(by: .model) == [])
            #expect(try await store.stats().usage == UsageSum())
            // An answer with a provider was made here, and an answer with usage was paid for.
            try await store.talk("a", "b", in: session.id, usage: nil)
            let next = try await store.beginTurn(session: session.id)
            try await store.append(
                TurnMessage(Message(.assistant, "c"), usage: Usage(outputTokens: 2)), lease: next)
            try await store.endTurn(next)
            let sum = try #require(try await store.session(session.id)?.usage)
            #expect(sum == UsageSum(key: session.id, answers: 2, usage: Usage(outputTokens: 2), unpriced: 2))
        }
    }

    @Test("Answers without a session are counted and have no key")
    func completions() async throws {
        try await withStore { store in
            let project = try await store.createProject(NewProject(name: "a", path: "/x")).id
            let usage = Usage(inputTokens: 10, outputTokens: 5, cost: Cost(nanodollars: 1))
            try await store.account(UsageEntry(provider: "p", model: "m", usage: usage))
            try await store.account(UsageEntry(project: project, provider: "p", model: "m/n", usage: usage))
            #expect(try await store.usage(by: .message).map(\.key) == [nil, nil])
            #expect(try await store.usage(by: .session) == [UsageSum(answers: 2, usage: usage + usage)])
            #expect(Set(try await store.usage(by: .project).map(\.key)) == [nil, project])
            #expect(try await store.usage(by: .model).map(\.key) == ["p/m", "p/m/n"])
            #expect(try await store.projectRow(project)?.usage.tokens == 15)
        }
    }

    @Test("The day of an answer is the UTC day on which it ended")
    func days() async throws {
        let days = Days()
        try await withStore(days: days) { store in
            let usage = Usage(inputTokens: 1)
            try await store.account(UsageEntry(provider: "p", model: "m", usage: usage))
            days.skip(days: 2)
            try await store.account(UsageEntry(provider: "p", model: "m", usage: usage))
            #expect(try await store.usage(by: .day).map(\.key) == ["2026-11-21", "2026-11-23"])
            let from = UsageFilter(from: Day("2026-11-22"))
            #expect(try await store.usage(by: .day, from).map(\.key) == ["2026-11-23"])
            let through = UsageFilter(through: Day("2026-11-21"))
            #expect(try await store.usage(by: .message, through).count == 1)
        }
    }

    /// An answer in the test's own records.
    private struct Known {
        let keys: [UsageGroup: String?]
        let entry: UsageEntry
        let day: Day
    }

    private static func wanted(_ known: [Known], _ group: UsageGroup, _ filter: UsageFilter) -> [String?: UsageSum] {
        var sums: [String?: UsageSum] = [:]
        for one in known {
            let (entry, key) = (one.entry, one.keys[group] ?? nil)
            if let session = filter.session, session != entry.session { continue }
            if let project = filter.project, project != entry.project { continue }
            if let client = filter.client, client != entry.client { continue }
            if let provider = filter.provider, provider != entry.provider { continue }
            if let model = filter.model, model != entry.model { continue }
            if let from = filter.from, one.day < from { continue }
            if let through = filter.through, one.day > through { continue }
            let old = sums[key] ?? UsageSum(key: key)
            sums[key] = UsageSum(
                key: key, answers: old.answers + 1, usage: old.usage + entry.usage,
                unpriced: old.unpriced + (entry.usage.cost == nil ? 1 : 0))
        }
        return sums
    }

    private static func usage(_ random: inout SeededGenerator) -> Usage {
        func maybe(_ random: inout SeededGenerator) -> Int? {
            Bool.random(using: &random) ? .random(in: 0...1_000_000, using: &random) : nil
        }
        return Usage(
            inputTokens: maybe(&random), outputTokens: maybe(&random), cachedTokens: maybe(&random),
            cacheWriteTokens: maybe(&random), reasoningTokens: maybe(&random),
            cost: maybe(&random).map(Cost.init(nanodollars:)))
    }

    @Test("Sums by message, session, project, client, model and day are exact under every filter")
    func exact() async throws {
        let seed = UInt64.random(in: .min ... .max)
        var random = SeededGenerator(seed: seed)
        let days = Days()
        try await withStore(days: days) { store in
            var sessions: [Session?] = [nil, try await store.createSession(NewSession())]
            for _ in 0..<4 { sessions.append(try await store.makeSession()) }
            sessions.append(try await store.createSession(NewSession(project: sessions[2]?.project)))
            let (providers, models) = (["p", "q"], ["m", "n/x", ""])
            let clients: [String?] = [nil, "owner", "ci"]
            var known: [Known] = []
            for _ in 0..<400 {
                if Int.random(in: 0..<40, using: &random) == 0 { days.skip(days: .random(in: 1...3, using: &random)) }
                let session = sessions.randomElement(using: &random) ?? nil
                let entry = UsageEntry(
                    project: session?.project, session: session?.id,
                    client: clients.randomElement(using: &random) ?? nil,
                    provider: providers.randomElement(using: &random) ?? "",
                    model: models.randomElement(using: &random) ?? "", usage: Self.usage(&random))
                var number: Int?
                if let session {
                    let lease = try await store.beginTurn(session: session.id)
                    let message = TurnMessage(Message(.assistant, "a"), usage: entry.usage)
                    number = try await store.append(
                        message, provider: entry.provider, model: entry.model, client: entry.client, lease: lease)
                    try await store.endTurn(lease)
                } else {
                    try await store.account(entry)
                }
                let day = Day(days.next)
                let keys: [UsageGroup: String?] = [
                    .message: number.map { String($0) }, .session: entry.session, .project: entry.project,
                    .client: entry.client,
                    .model: "\(entry.provider)/\(entry.model)", .day: day.description,
                ]
                known.append(Known(keys: keys, entry: entry, day: day))
            }
            var filters = [UsageFilter()]
            for _ in 0..<20 {
                func pick<Value>(_ value: Value?) -> Value? {
                    Int.random(in: 0..<3, using: &random) == 0 ? value : nil
                }
                let one = try #require(known.randomElement(using: &random))
                let other = try #require(known.randomElement(using: &random))
                filters.append(
                    UsageFilter(
                        session: pick(one.entry.session), project: pick(one.entry.project),
                        client: pick(one.entry.client),
                        provider: pick(one.entry.provider), model: pick(one.entry.model), from: pick(one.day),
                        through: pick(other.day)))
            }
            for group in UsageGroup.allCases {
                for filter in filters {
                    let sums = try await store.usage(by: group, filter)
                    let wanted = Self.wanted(known, group, filter)
                    guard group != .message else {
                        // Answers without a message are one row each.
                        let numbered = sums.filter { $0.key != nil }
                        #expect(numbered.count == wanted.count(where: { $0.key != nil }), "seed \(seed)")
                        #expect(numbered.allSatisfy { wanted[$0.key] == $0 }, "seed \(seed)")
                        #expect(sums.count - numbered.count == wanted[nil]?.answers ?? 0, "seed \(seed)")
                        continue
                    }
                    #expect(sums.count == wanted.count, "seed \(seed), \(group)")
                    #expect(sums.allSatisfy { wanted[$0.key] == $0 }, "seed \(seed), \(group)")
                    if group != .day {
                        let tokens = sums.map { $0.tokens ?? 0 }
                        #expect(tokens == tokens.sorted(by: >), "seed \(seed)")
                    }
                }
            }
            for session in sessions.compactMap(\.self) {
                let wanted = Self.wanted(known, .session, UsageFilter())[session.id] ?? UsageSum(key: session.id)
                #expect(try await store.session(session.id)?.usage == wanted, "seed \(seed)")
            }
        }
    }
}
