import Bundles
import Capabilities
import Cryptography
import ExpressionKit
import JSON
import LoopKit
import Registry
import Synchronization

/// Runs one step, once or for each of its values, with retries, and records the outcome.
struct StepWork: Sendable {
    let engine: RunEngine
    let level: Level
    let slots: Turn
    let record: RunRecord

    func run(_ start: StepStart) async -> StepOutcome {
        let step = start.step
        switch start.decision {
        case .restored(let outcome):
            await tell(update(start.key, step, outcome) { $0.isRestored = true }, outcome)
            return outcome
        case .settled(let outcome): return await settle(start.key, step, outcome)
        case .run(.one(let instance)): return await run(instance, step)
        case .run(.many(let instances)): return await run(instances, step, start.key)
        }
    }

    /// Runs instances, a limited number at a time, and returns their results in order.
    private func run(_ instances: [StepInstance], _ step: Step, _ key: String) async -> StepOutcome {
        var outcomes = [StepOutcome](repeating: StepOutcome(.cancelled), count: instances.count)
        let stopwatch = Stopwatch(engine.clock)
        await engine.emit(.spread(step: key, count: instances.count))
        var width = step.parallel ?? instances.count
        if step.parallel == nil, case .foreach? = step.spread { width = 1 }
        await withTaskGroup(of: (Int, StepOutcome).self) { group in
            var next = 0
            while next < instances.count || !group.isEmpty {
                while next < min(instances.count, width) {
                    group.addTask { [next] in (next, await run(instances[next], step)) }
                    next += 1
                }
                guard let (index, outcome) = await group.next() else { break }
                outcomes[index] = outcome
                width += 1
            }
        }
        var outcome = StepOutcome(.ok)
        outcome.result = .array(outcomes.map(\.result))
        outcome.isMasked = outcomes.contains(where: \.isMasked)
        outcome.duration = stopwatch.time()
        if let bad = outcomes.first(where: { $0.status == .failed }) {
            (outcome.status, outcome.exit, outcome.error) = (.failed, bad.exit, bad.error)
            outcome.isForgiven = step.continuesOnError
        } else if outcomes.contains(where: { $0.status == .cancelled }) {
            outcome.status = .cancelled
        }
        return await settle(key, step, outcome)
    }

    // MARK: One run of a step

    private func run(_ instance: StepInstance, _ step: Step) async -> StepOutcome {
        if step.path[0] != "finally", let known = engine.journal.finished[instance.key] {
            await tell(update(instance.key, step, known) { $0.isRestored = true }, known)
            return known
        }
        if case .bundle(let path) = step.work {
            return await traced(step) { await runBundle(path, instance, step) }
        }
        do { try await slots.take() } catch {
            return await settle(instance.key, step, StepOutcome(.cancelled), instance.arguments)
        }
        defer { slots.pass() }
        return await attempts(instance, step)
    }

    private func attempts(_ instance: StepInstance, _ step: Step) async -> StepOutcome {
        if let known = await cached(instance, step) { return known }
        let retry = step.retry ?? Step.Retry(times: 0)
        var delay = retry.delay
        var attempt = 1
        while true {
            var outcome = await traced(step, attempt: attempt) { await once(instance, step, attempt) }
            outcome.attempts = attempt
            let isWorth = outcome.status == .failed && retry.on.contains(outcome.exit) && attempt <= retry.times
            guard isWorth, !Task.isCancelled else {
                outcome.isForgiven = step.continuesOnError && outcome.status == .failed
                return await finish(instance, step, outcome)
            }
            await finish(instance, step, outcome, triesAgain: true)
            // A sleep that throws means that the run was stopped.
            do { try await engine.clock.sleep(for: delay) } catch {
                return await settle(instance.key, step, StepOutcome(.cancelled), instance.arguments)
            }
            delay = delay * retry.factor
            attempt += 1
        }
    }

    private func once(_ instance: StepInstance, _ step: Step, _ attempt: Int) async -> StepOutcome {
        let begun = update(instance.key, step, StepOutcome(.running), instance.arguments) { update in
            update.attempt = attempt
            update.isRepeated = attempt == 1 && engine.journal.underway.contains(instance.key)
        }
        do { try await written(step) { try engine.journal.begin(begun) } } catch { return failure(error) }
        await engine.emit(.step(begun))
        let output = StepOutput(key: instance.key, engine: engine)
        let stopwatch = Stopwatch(engine.clock)
        var outcome: StepOutcome
        do {
            guard !Task.isCancelled else { throw CancellationError() }
            outcome = StepOutcome(.ok)
            outcome.result = try await engine.performer.perform(
                step.work.name, instance.arguments, step: instance.key, output: output,
                limit: step.timeout ?? engine.options.stepLimit,
                grant: level.grant)
        } catch {
            outcome = failure(error)
        }
        await output.flush()
        outcome.duration = stopwatch.time()
        return outcome
    }

    private func failure(_ error: any Error) -> StepOutcome {
        if error is CancellationError { return StepOutcome(.cancelled) }
        let failure = AnyFailure(error)
        // An action that reports an interruption while the run stops has not failed. It is repeated when the run is
        // resumed.
        if Task.isCancelled, failure.exit == .interrupted { return StepOutcome(.cancelled) }
        var outcome = StepOutcome(.failed)
        outcome.exit = Int(failure.exit.rawValue)
        outcome.error = StepError(code: failure.code, message: engine.redactor.redact(failure.message))
        if let result = failure.details["result"] { outcome.result = result }
        return outcome
    }

    // MARK: A bundle as a step

    private func runBundle(_ path: String, _ instance: StepInstance, _ step: Step) async -> StepOutcome {
        let begun = update(instance.key, step, StepOutcome(.running), instance.arguments)
        let stopwatch = Stopwatch(engine.clock)
        var outcome: StepOutcome
        do {
            try await written(step) { try engine.journal.begin(begun) }
            await engine.emit(.step(begun))
            let inner = try Bundle(try engine.loadBundle(path, level.bundle.source.file))
            let inputs = BundleInputs.values(for: inner, values: instance.arguments)
            guard inputs.problems.isEmpty else { throw BundleFailure(inputs.problems) }
            // The environment of the outer bundle is not passed on; an inner bundle gets values only as inputs.
            let grant = level.grant.narrowed(by: inner.grant(in: engine.reach))
            let environment = try await engine.environment(inner, inputs.values, grant)
            let nested = Level(
                bundle: inner, inputs: inputs.values, environment: environment, prefix: instance.key + "/",
                grant: grant,
                reachable: level.reachable + [Reachable(of: inner, in: engine.reach).json], isEnd: isEnd(step),
                run: level.run)
            await engine.emit(.spread(step: instance.key, count: inner.allSteps.count))
            let limit = step.timeout ?? inner.timeout ?? engine.options.runLimit
            let (run, overtime) = await engine.play(nested, within: limit, slots, record)
            outcome = overtime.map(failure) ?? result(of: run)
        } catch {
            outcome = failure(error)
        }
        outcome.duration = stopwatch.time()
        outcome.isForgiven = step.continuesOnError && outcome.status == .failed
        return await finish(instance, step, outcome)
    }

    private func result(of run: LevelRun) -> StepOutcome {
        let level = run.level
        let outcomes = level.bundle.allSteps.compactMap { run.outcomes[$0.id] }
        var outcome = StepOutcome(Task.isCancelled ? .cancelled : .ok)
        if let bad = outcomes.first(where: { $0.status == .failed && !$0.isForgiven }) {
            outcome = bad
            outcome.result = .null
        }
        var values = JSONObject()
        for (name, template) in level.bundle.outputs where outcome.status == .ok {
            do throws(JSONTemplate.Problem) {
                values.append(name, try template.value(in: run.scope(for: template.expressions.map(\.expression))))
            } catch {
                let problem = level.bundle.source.problem(error.error.message, at: ["outputs", name] + error.path)
                outcome = StepOutcome(.failed)
                outcome.exit = Int(ExitCode.failed.rawValue)
                outcome.error = StepError(code: "bundle.expression", message: problem.text)
            }
        }
        if outcome.status == .ok {
            outcome.result = ["outputs": .object(values)]
            outcome.isMasked = outcomes.contains(where: \.isMasked)
        }
        return outcome
    }

    // MARK: Cached results

    private func digest(_ instance: StepInstance, _ step: Step) -> String? {
        guard let key = instance.cacheKey else { return nil }
        // Cached results are not shared with other bundles, other folders or other permissions.
        let place: JSON = [
            .string(level.bundle.source.file), .string(engine.reach.current), .array(level.reachable),
        ]
        let text = JSON.array([.string(step.work.name), .object(instance.arguments), key, place]).text()
        return Hexadecimal.encode(Digest.sha256(Array(text.utf8)))
    }

    private func cached(_ instance: StepInstance, _ step: Step) async -> StepOutcome? {
        guard let digest = digest(instance, step) else { return nil }
        do {
            guard let result = try engine.journal.cached(digest, at: engine.now()) else { return nil }
            var outcome = StepOutcome(.ok)
            outcome.result = result
            return await settle(instance.key, step, outcome, instance.arguments) { $0.isCached = true }
        } catch {
            await engine.emit(.notice(step: instance.key, "cannot read the cache: \(AnyFailure(error).message)"))
            return nil
        }
    }

    private func keep(
        _ outcome: StepOutcome, as digest: String, for lifetime: Duration, of instance: StepInstance
    ) async {
        do {
            // A masked secret would become the value in the next run.
            guard !outcome.isMasked, engine.redactor.redact(outcome.result) == outcome.result else {
                throw RunError.secretResult
            }
            try engine.journal.keep(outcome.result, as: digest, until: engine.now() + lifetime)
        } catch {
            await engine.emit(.notice(step: instance.key, "result not cached: \(AnyFailure(error).message)"))
        }
    }

    // MARK: Recording

    private func isEnd(_ step: Step) -> Bool { level.isEnd || step.path[0] == "finally" }

    /// Writes to the journal. `finally` steps run even if that fails, because they clean up.
    private func written(_ step: Step, _ write: () throws -> Void) async throws {
        do { try write() } catch {
            guard isEnd(step) else { throw error }
            guard record.isFirstLoss() else { return }
            let why = AnyFailure(error).message
            await engine.emit(
                .notice(
                    step: nil, "cannot write the journal; 'finally' steps still run: \(why)"))
        }
    }

    // MARK: Reporting

    private func update(
        _ key: String, _ step: Step, _ outcome: StepOutcome, _ arguments: JSONObject = [:],
        _ change: (inout StepUpdate) -> Void = { _ in }
    ) -> StepUpdate {
        var update = StepUpdate(
            key: key, work: step.work.name, attempt: max(1, outcome.attempts), time: engine.now(),
            arguments: engine.redactor.redact(.object(arguments)), outcome: outcome)
        update.outcome.result = engine.redactor.redact(outcome.result)
        change(&update)
        return update
    }

    private func tell(_ update: StepUpdate, _ outcome: StepOutcome) async {
        record.add(update, outcome)
        await engine.emit(.step(update))
    }

    /// Ends an attempt that was started.
    @discardableResult
    private func finish(
        _ instance: StepInstance, _ step: Step, _ outcome: StepOutcome, triesAgain: Bool = false
    ) async -> StepOutcome {
        if outcome.status == .ok, let digest = digest(instance, step), let cache = step.cache {
            await keep(outcome, as: digest, for: cache.lifetime, of: instance)
        }
        return await settle(instance.key, step, outcome, instance.arguments) { $0.triesAgain = triesAgain }
    }

    /// Records and reports the outcome of a step. If it cannot be recorded, the step counts as failed, because it would
    /// be repeated.
    private func settle(
        _ key: String, _ step: Step, _ outcome: StepOutcome, _ arguments: JSONObject = [:],
        _ change: (inout StepUpdate) -> Void = { _ in }
    ) async -> StepOutcome {
        var ended = update(key, step, outcome, arguments, change)
        do { try await written(step) { try engine.journal.end(ended) } } catch {
            ended.outcome = failure(error)
        }
        var outcome = outcome
        if ended.outcome.status != outcome.status { outcome = ended.outcome }
        await tell(ended, outcome)
        return outcome
    }
}

/// Passes on the output of a running action, and records it in the journal.
final class StepOutput: ActionOutput {
    private let key: String
    private let engine: RunEngine
    /// Actions give notices without waiting. They are emitted before the next event.
    private let notices = Mutex<[String]>([])

    init(key: String, engine: RunEngine) {
        self.key = key
        self.engine = engine
    }

    func event(_ event: ActionEvent) async throws {
        await flush()
        let clean = ActionEvent(
            event.type, engine.redactor.redact(event.fields), text: event.text.map(engine.redactor.redact),
            format: event.format)
        engine.journal.note(clean.json, of: key, at: engine.now())
        await engine.emit(.output(step: key, clean))
    }

    // A run shows its steps. The progress inside a step is only for running that action alone.
    func progress(_ progress: Progress) {}

    func notice(_ text: String) {
        let text = engine.redactor.redact(text)
        engine.journal.note(["type": "notice", "text": .string(text)], of: key, at: engine.now())
        notices.withLock { $0.append(text) }
    }

    func flush() async {
        let told = notices.withLock { notices in
            defer { notices = [] }
            return notices
        }
        for notice in told { await engine.emit(.notice(step: key, notice)) }
    }
}
