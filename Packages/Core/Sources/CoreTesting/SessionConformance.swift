import Capabilities
import JSON
import Registry

/// Does a feature's actions as a session that lives for days does: again, side by side, after a change of settings, and
/// cancelled.
struct SessionConformance {
    private let feature: String
    private let test: TestHost
    private let samples: KeyValuePairs<String, JSONObject>
    private let lasting: Set<String>

    /// However slow the machine is, an action that was cancelled has ended by then.
    private static let patience = Duration.seconds(60)

    init(
        _ feature: String, _ types: [any Feature.Type], _ folder: String, _ environment: [String: String],
        _ samples: KeyValuePairs<String, JSONObject>, lasting: Set<String>
    ) throws {
        self.feature = feature
        self.samples = samples
        self.lasting = lasting
        // Pauses take their time here, for nobody moves the clock.
        test = try TestHost(
            types.map { BuiltInFeature($0) }, environment: environment, folder: folder, clock: TestClock(),
            time: ContinuousClock())
    }

    func violations() async throws -> [String] {
        let actions = test.composition.registry.actions
        var found: [String] = []
        for (id, arguments) in samples {
            guard let action = actions.all.first(where: { $0.id == id }), actions.owner(of: action) == feature else {
                found.append("the sample \(id) is for none of its actions")
                continue
            }
            found += action.problems(in: arguments).map { "the sample \(id): \($0)" }
        }
        let given = samples.map { ($0.key, $0.value) }
        let named = Set(given.map(\.0))
        let others = actions.all.filter { actions.owner(of: $0) == feature && !named.contains($0.id) }
        for (id, arguments) in given + others.map({ ($0.id, plainArguments(of: $0)) }) where found.isEmpty {
            found += try await violations(id, arguments)
        }
        for stuck in await test.session.close() { found.append("\(stuck) was not closed in time after its actions") }
        return found
    }

    private func violations(_ id: String, _ arguments: JSONObject) async throws -> [String] {
        let isReading = test.composition.registry.actions.all.first { $0.id == id }?.effect == .reads
        var found: [String] = []
        if lasting.contains(id) {
            try test.change(settings: "{}")
            return await ends(id, arguments, cancelledAfter: 1000) ? [] : ["\(id) goes on after it was cancelled"]
        }
        let first = await outcome(id, arguments)
        func expect(_ outcome: String, _ when: String) {
            // What writes may find that it has been done already, but neither a closed session nor a closed store.
            let isBroken = outcome.hasPrefix("host.") || outcome.hasPrefix("storage.")
            guard outcome != first, isReading || isBroken else { return }
            found.append("\(id) comes to \(outcome) \(when), and came to \(first) the first time")
        }
        expect(await outcome(id, arguments), "the second time")
        let others = await withTaskGroup(of: String.self) { group in
            for _ in 0..<8 { group.addTask { await outcome(id, arguments) } }
            return await group.reduce(into: []) { $0.append($1) }
        }
        for other in others { expect(other, "side by side with itself") }
        try test.change(settings: "{}")
        expect(await outcome(id, arguments), "after a change of settings")
        for pause in [0, 1, 100] {
            guard await ends(id, arguments, cancelledAfter: pause) else {
                found.append("\(id) goes on after it was cancelled")
                break
            }
        }
        expect(await outcome(id, arguments), "after it was cancelled")
        return found
    }

    /// Nothing but what an action needs, which leads nowhere: its end is told in plain words then, each time the same.
    private func plainArguments(of action: Action) -> JSONObject {
        var arguments: JSONObject = [:]
        for parameter in action.parameters where parameter.isRequired {
            arguments[parameter.name] = parameter.schema.plain(in: test.host.locations.current)
        }
        return arguments
    }

    /// What an action comes to, in a word.
    private func outcome(_ id: String, _ arguments: JSONObject) async -> String {
        do {
            try await test.perform(id, arguments, isAgreed: true)
            return "a result"
        } catch {
            return AnyFailure(error).code
        }
    }

    /// Whether it ends once it is cancelled, after as many turns of the scheduler.
    private func ends(_ id: String, _ arguments: JSONObject, cancelledAfter pause: Int) async -> Bool {
        let (ends, continuation) = AsyncStream<Bool>.makeStream()
        let work = Task {
            _ = await outcome(id, arguments)
            continuation.yield(true)
        }
        let alarm = Task {
            do { try await ContinuousClock().sleep(for: Self.patience) } catch { return }
            continuation.yield(false)
        }
        defer { alarm.cancel() }
        for _ in 0..<pause { await Task.yield() }
        work.cancel()
        for await hasEnded in ends { return hasEnded }
        return false
    }
}

extension Schema {
    /// A value of this shape that names nothing that there is.
    fileprivate func plain(in folder: String) -> JSON {
        switch self {
        case .any, .string, .secret, .secretName, .program: "none"
        case .boolean: false
        case .integer(let range): .int(range?.lowerBound ?? 1)
        case .size(let range): .int(range?.lowerBound ?? 1)
        case .number(let range): .double(range?.lowerBound ?? 1)
        case .choice(let words): .string(words.first ?? "")
        case .path: .string("\(folder)/none")
        case .url: "http://127.0.0.1:1/"
        case .host: "127.0.0.1:1"
        case .duration: "1s"
        case .time: "2026-01-01T00:00:00Z"
        case .array(let element): [element.plain(in: folder)]
        case .map: [:]
        case .record(let properties):
            .object(
                properties.reduce(into: [:]) { object, property in
                    if case .optional = property.schema { return }
                    object[property.name] = property.schema.plain(in: folder)
                })
        case .optional: .null
        }
    }
}
