import Bundles
import Capabilities
import ExpressionKit
import JSON
import LoopKit

/// A run of the steps of one bundle. It belongs to one task; the actions run in their own tasks.
struct LevelRun: Sendable {
    let engine: RunEngine
    let level: Level
    /// Limits the number of actions that run at once.
    private let slots: Turn
    private let record: RunRecord
    private(set) var outcomes: [String: StepOutcome] = [:]
    /// The steps whose results contained secrets and cannot be used as values.
    private var masked: Set<String> = []
    /// Whether a step ran that had not finished in an earlier part of the run.
    private var hasWorked = false

    init(engine: RunEngine, level: Level, slots: Turn, record: RunRecord) {
        self.engine = engine
        self.level = level
        self.slots = slots
        self.record = record
    }

    /// Runs a list of steps. Each starts when all steps that it needs have ended. After a cancellation no step starts.
    mutating func run(_ steps: [Step]) async {
        var open: [String: Int] = [:]
        var dependents: [String: [Int]] = [:]
        var ready: [Int] = []
        for (index, step) in steps.enumerated() {
            let needs = Set(step.needs)
            open[step.id] = needs.count
            for need in needs { dependents[need, default: []].append(index) }
            if needs.isEmpty { ready.append(index) }
        }
        await withTaskGroup(of: (Int, StepOutcome).self) { group in
            var running = 0
            while true {
                // In the order of the file, whatever ended first.
                for index in ready.sorted() {
                    let start = begin(steps[index])
                    if !start.isRestored { hasWorked = true }
                    running += 1
                    group.addTask { [level, engine, slots, record] in
                        let work = StepWork(engine: engine, level: level, slots: slots, record: record)
                        return (index, await work.run(start))
                    }
                }
                ready = []
                guard running > 0, let (index, outcome) = await group.next() else { break }
                running -= 1
                let id = steps[index].id
                outcomes[id] = outcome
                if outcome.isMasked { masked.insert(id) }
                for dependent in dependents[id] ?? [] {
                    open[steps[dependent].id, default: 1] -= 1
                    if open[steps[dependent].id] == 0 { ready.append(dependent) }
                }
            }
        }
    }

    /// A copy of this after it has run a list of steps within a limit.
    func played(_ steps: [Step], within limit: Duration) async throws -> LevelRun {
        try await engine.within(limit) {
            var run = self
            await run.run(steps)
            return run
        }
    }

    /// After a stop, restores the outcomes of the steps that have ended, for the conditions of the `finally` steps.
    mutating func restoreFromRecord() {
        hasWorked = true
        for step in level.bundle.steps {
            let outcome = record.outcome(of: level.prefix + step.id) ?? StepOutcome(.cancelled)
            outcomes[step.id] = outcome
            if outcome.isMasked { masked.insert(step.id) }
        }
    }

    // MARK: Starting

    /// Decides whether a step runs, and with which arguments.
    private func begin(_ step: Step) -> StepStart {
        let key = level.prefix + step.id
        let isLast = step.path[0] == "finally"
        // If more work was done since the last cleanup, the cleanup is repeated.
        if !isLast || !hasWorked, let known = engine.journal.finished[key] {
            return StepStart(step, key, .restored(known))
        }
        if Task.isCancelled { return StepStart(step, key, .settled(StepOutcome(.cancelled))) }
        let needed = step.needs.map { outcomes[$0]?.isGood ?? false }
        // A `finally` step without needs sees the result of the whole run.
        let isGood =
            isLast && step.needs.isEmpty
            ? level.bundle.steps.allSatisfy { outcomes[$0.id]?.isGood ?? false } : needed.allSatisfy(\.self)
        let asks = step.condition?.functions.intersection(["always", "succeeded", "failed"]).isEmpty == false
        let runsAnyway = isLast && step.needs.isEmpty
        do throws(BundleProblems) {
            if !asks, !isGood, !runsAnyway { return StepStart(step, key, .settled(StepOutcome(.blocked))) }
            if let condition = step.condition {
                try requireValues([(step.path + ["if"], condition)])
                var scope = scope(for: [condition])
                scope.hasSucceeded = isGood
                let runs = try value(at: step.path + ["if"]) { () throws(ExpressionError) in
                    try condition.bool(in: scope)
                }
                if !runs { return StepStart(step, key, .settled(StepOutcome(!isGood && !asks ? .blocked : .skipped))) }
            }
            if !masked.isEmpty { try requireValues(step.expressions) }
            return StepStart(step, key, .run(try instances(of: step)))
        } catch {
            var outcome = StepOutcome(.failed)
            outcome.exit = Int(ExitCode.usage.rawValue)
            outcome.error = StepError(code: "bundle.expression", message: error.problem.text)
            outcome.isForgiven = step.continuesOnError
            return StepStart(step, key, .settled(outcome))
        }
    }

    /// The arguments of a step: once, or for each value of its matrix or foreach.
    private func instances(of step: Step) throws(BundleProblems) -> StepStart.Instances {
        switch step.spread {
        case nil: return .one(try instance(of: step, "", [:]))
        case .matrix(let matrix)?:
            let scope = scope(for: nil)
            let combinations: [JSONObject]
            do throws(MatrixError) { combinations = try matrix.combinations(in: scope) } catch {
                throw problem(error.message, at: step.path + error.path)
            }
            var instances: [StepInstance] = []
            // Values that look the same, such as 1 and "1", are separate steps in the journal. Otherwise a finished one
            // could be taken for the other when the run is resumed.
            var names: Set<String> = []
            for combination in combinations {
                let words = combination.map { "\($0.0)=\($0.1.string ?? $0.1.text())" }.joined(separator: ",")
                // The name appears in all output and in the journal, so it must not contain secrets.
                let plain = PlainText.escape(engine.redactor.redact(words))
                var (name, number) = (plain, 1)
                while !names.insert(name).inserted {
                    number += 1
                    name = "\(plain)#\(number)"
                }
                instances.append(try instance(of: step, "[\(name)]", ["matrix": .object(combination)]))
            }
            return .many(instances)
        case .foreach(let list)?:
            let scope = scope(for: list.expressions.map(\.expression))
            let value = try value(at: step.path + ["foreach"], list, scope)
            guard let items = value.array else {
                throw problem("foreach must be a list, not \(value.kindName)", at: step.path + ["foreach"])
            }
            guard items.count <= Matrix.largest else {
                throw problem("foreach has more than \(Matrix.largest) items", at: step.path + ["foreach"])
            }
            var instances: [StepInstance] = []
            for (index, item) in items.enumerated() {
                let each: JSON = ["value": item, "index": .int(index)]
                instances.append(try instance(of: step, "[\(index)]", ["each": each]))
            }
            return .many(instances)
        }
    }

    private func instance(
        of step: Step, _ suffix: String, _ values: [String: JSON]
    ) throws(BundleProblems) -> StepInstance {
        var expressions = step.arguments.expressions.map(\.expression)
        expressions += step.cache?.key.expressions.map(\.expression) ?? []
        var scope = expressions.isEmpty ? Scope() : scope(for: expressions)
        scope.values.merge(values) { $1 }
        let arguments = try value(at: step.path + ["with"], step.arguments, scope)
        var key: JSON?
        if let cache = step.cache { key = try value(at: step.path + ["cache", "key"], cache.key, scope) }
        return StepInstance(key: level.prefix + step.id + suffix, arguments: arguments.object ?? [:], cacheKey: key)
    }

    // MARK: Values

    /// The values of names. It contains only the steps that the expressions name, because out of thousands of steps
    /// most expressions name one.
    func scope(for expressions: [Expression]?) -> Scope {
        var steps = JSONObject()
        let names = expressions?.flatMap {
            $0.references.filter { $0.path[0] == "steps" }.map { $0.path.dropFirst().first }
        }
        if let names, !names.contains(nil) {
            for name in Set(names.compactMap(\.self)).sorted() { steps.append(name, outcomes[name]?.json ?? .null) }
        } else {
            for step in level.bundle.allSteps { steps.append(step.id, outcomes[step.id]?.json ?? .null) }
        }
        var run = level.run
        run.append("failed", .bool(outcomes.values.contains { !$0.isGood }))
        return Scope([
            "inputs": .object(level.inputs), "env": .object(level.environment), "steps": .object(steps),
            "run": .object(run),
            "bundle": ["name": .string(level.bundle.name), "folder": .string(level.bundle.source.folder)],
        ])
    }

    /// Throws if an expression uses a result in which a secret was masked.
    private func requireValues(
        _ expressions: [(path: [String], expression: Expression)]
    ) throws(BundleProblems) {
        for (path, expression) in expressions {
            guard let reference = expression.resultReferences.first(where: { masked.contains($0.path[1]) }) else {
                continue
            }
            throw BundleProblems(
                problem: level.bundle.source.problem(
                    "the result of '\(reference.path[1])' contains a secret, which was not saved when the run was "
                        + "interrupted; start a new run, or take the secret from 'env: {NAME: {secret: …}}'",
                    at: path, offset: reference.offset))
        }
    }

    private func value(at path: [String], _ template: JSONTemplate, _ scope: Scope) throws(BundleProblems) -> JSON {
        do throws(JSONTemplate.Problem) { return try template.value(in: scope) } catch {
            throw problem(error.error.message, at: path + error.path)
        }
    }

    private func value<Value>(
        at path: [String], _ work: () throws(ExpressionError) -> Value
    ) throws(BundleProblems) -> Value {
        do throws(ExpressionError) { return try work() } catch {
            throw BundleProblems(problem: level.bundle.source.problem(error.message, at: path, offset: error.offset))
        }
    }

    private func problem(_ message: String, at path: [String]) -> BundleProblems {
        BundleProblems(problem: level.bundle.source.problem(message, at: path))
    }
}

/// An error that only the run can show.
struct BundleProblems: Error {
    let problem: BundleProblem
}

/// One bundle of a run: the started one, or one that a step runs.
///
/// All its steps share it.
final class Level: Sendable {
    let bundle: Bundle
    let inputs: JSONObject
    let environment: JSONObject
    /// The prefix of the keys of its steps, such as `outer/`.
    let prefix: String
    /// The rights that this bundle and all bundles around it give.
    let grant: Grant
    /// What it and all bundles around it can reach, as JSON. A cached result is used only if this is the same.
    let reachable: [JSON]
    /// Whether a `finally` step runs it.
    let isEnd: Bool
    /// The value of `run`.
    let run: JSONObject

    init(
        bundle: Bundle, inputs: JSONObject, environment: JSONObject, prefix: String, grant: Grant,
        reachable: [JSON], isEnd: Bool = false, run: JSONObject
    ) {
        (self.bundle, self.inputs, self.environment, self.prefix) = (bundle, inputs, environment, prefix)
        (self.grant, self.reachable, self.isEnd, self.run) = (grant, reachable, isEnd, run)
    }
}

/// The decision about a step that is due.
struct StepStart: Sendable {
    let step: Step
    let key: String
    let decision: Decision

    enum Decision: Sendable {
        case run(Instances)
        /// It does not run, for the reason in the outcome.
        case settled(StepOutcome)
        /// It finished in an earlier part of the run.
        case restored(StepOutcome)
    }

    var isRestored: Bool {
        if case .restored = decision { true } else { false }
    }

    enum Instances: Sendable {
        case one(StepInstance)
        case many([StepInstance])
    }

    init(_ step: Step, _ key: String, _ decision: Decision) {
        self.step = step
        self.key = key
        self.decision = decision
    }
}

/// One run of a step, with its arguments.
struct StepInstance: Sendable {
    let key: String
    let arguments: JSONObject
    /// What must be the same for a cached result to be used; nil if there is no cache.
    let cacheKey: JSON?
}

extension Step {
    /// The expressions in its arguments, cache key and values, with their paths.
    var expressions: [(path: [String], expression: Expression)] {
        var templates = [(path + ["with"], arguments)]
        if let cache { templates.append((path + ["cache", "key"], cache.key)) }
        switch spread {
        case .matrix(let matrix)?:
            templates += matrix.axes.map { (path + ["matrix", $0.name], $0.values) }
            for (name, list) in [("include", matrix.include), ("exclude", matrix.exclude)] {
                templates += list.enumerated().map { (path + ["matrix", name, String($0)], $1) }
            }
        case .foreach(let list)?: templates.append((path + ["foreach"], list))
        case nil: break
        }
        return templates.flatMap { path, template in template.expressions.map { (path + $0.0, $0.1) } }
    }
}

extension Expression {
    /// The references to results of steps, and not only to their status.
    var resultReferences: [Reference] {
        references.filter { reference in
            guard reference.path.first == "steps", reference.path.count > 1 else { return false }
            return reference.path.count == 2 || ["result", "results", "outputs"].contains(reference.path[2])
        }
    }
}
