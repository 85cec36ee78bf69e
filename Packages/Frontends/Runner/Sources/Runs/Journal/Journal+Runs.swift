public import Bundles
public import Capabilities
public import JSON
import ProcessKit
import StorageKit

extension Journal {
    /// Begins a run.
    ///
    /// - Parameters:
    ///   - needsTrust: whether it goes on only for as long as its bundle is trusted.
    ///   - alone: refuses that while another run of the same file goes on.
    ///   - redactor: knows the secrets that are not stored, wherever they stand.
    public func begin(
        _ bundle: Bundle, digest: String? = nil, inputs: JSONObject, needsTrust: Bool = false, alone: Bool = false,
        redactor: Redactor = Redactor(), eventsKept: Int = RunOptions().eventsKept
    ) async throws -> JournalRun {
        let time = now()
        // An input that is secret, or that holds a secret, has to be given again when the run goes on.
        var shown = JSONObject()
        for (name, value) in inputs {
            let isSecret = bundle.inputs.first { $0.name == name }?.isSecret ?? false
            shown.append(name, isSecret || redactor.redact(value) != value ? .string(Redactor.mark) : value)
        }
        let text = JSON.object(shown).text()
        let (id, hold) = try await database.write { [held] connection in
            let others =
                try alone
                ? connection.all(
                    "SELECT id, holder FROM runs WHERE file = ? AND status = 'running' AND holder IS NOT NULL",
                    bundle.source.file
                ) { (id: try $0[0] as String, holder: try $0[1] as String) } : []
            for other in others where held.isHeld(other.id, by: other.holder) {
                throw RunError.overlaps(bundle.name, other.id)
            }
            // Four letters are met again now and then, where many runs begin in one second.
            var id = RunID.new(at: time)
            while try connection.first("SELECT 1 FROM runs WHERE id = ?", id.text, row: { try $0[0] as Int }) != nil {
                id = .new(at: time)
            }
            try connection.run(
                """
                INSERT INTO runs (id, name, file, digest, inputs, started, status, holder, needs_trust, number)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, (SELECT coalesce(max(number), 0) + 1 FROM runs))
                """, id.text, bundle.name, bundle.source.file, digest ?? bundle.source.digest, text, time,
                RunSummary.Status.running.rawValue, held.holder, needsTrust ? 1 : 0)
            // Known before others can see it, or it would look as if it had broken off.
            return (id, held.hold(id.text))
        }
        return JournalRun(self, id, hold: hold, eventsKept: eventsKept)
    }

    /// What is needed to go on with a run: its file and what it was given.
    public struct Unfinished: Sendable {
        public let id: RunID
        public let file: String
        public let digest: String
        /// Secret ones say nothing but that.
        public let inputs: JSONObject
        public let needsTrust: Bool
    }

    /// A run by its name, by the beginning of it, or the newest.
    public func unfinished(_ name: String?) async throws -> Unfinished {
        let row = try await find(name)
        let stored = try await database.read { connection in
            try connection.first(
                "SELECT file, digest, inputs, holder, needs_trust FROM runs WHERE id = ?", row.id
            ) { row in
                (
                    try row[0] as String, try row[1] as String, try row[2] as String, try row[3] as String?,
                    try row[4] as Int
                )
            }
        }
        guard let (file, digest, inputs, holder, needsTrust) = stored else { throw RunError.unknown(row.id) }
        if held.isHeld(row.id, by: holder) { throw RunError.stillRunning(row.id) }
        guard row.status != .ok else { throw RunError.alreadyDone(row.id) }
        return Unfinished(
            id: RunID(row.id), file: file, digest: digest, inputs: try JSON(parsing: Array(inputs.utf8)).object ?? [:],
            needsTrust: needsTrust == 1)
    }

    /// Goes on with a run: what was over is known and not done again, unless it failed and that is asked for.
    public func resume(_ id: RunID, again: Bool = false, eventsKept: Int = RunOptions().eventsKept) async throws
        -> JournalRun
    {
        let (hold, steps, events, count) = try await database.write { [held] connection in
            let before = try connection.first("SELECT holder FROM runs WHERE id = ?", id.text) { try $0[0] as String? }
            if held.isHeld(id.text, by: before ?? nil) { throw RunError.stillRunning(id.text) }
            try connection.run(
                "UPDATE runs SET holder = ?, status = 'running', ended = NULL WHERE id = ?", held.holder, id.text)
            let steps = try connection.all(
                """
                SELECT key, status, result, exit, error_code, error_message, duration, is_final, is_forgiven, attempt
                FROM steps WHERE run = ? ORDER BY key, attempt
                """, id.text
            ) { row -> (key: String, outcome: StepOutcome, isFinal: Bool) in
                var outcome = StepOutcome(StepStatus(rawValue: try row[1]) ?? .failed)
                let result = Array((try row[2] as String).utf8)
                outcome.result = try JSON(parsing: result)
                outcome.isMasked = result.contains(Array(Redactor.mark.utf8))
                outcome.exit = try row[3]
                if let code: String = try row[4] {
                    outcome.error = StepError(code: code, message: try (row[5] as String?) ?? "")
                }
                outcome.duration = .seconds(try row[6] as Double)
                outcome.isForgiven = try (row[8] as Int) == 1
                outcome.attempts = try row[9]
                return (try row[0], outcome, try (row[7] as Int) == 1)
            }
            let events = try connection.first("SELECT max(number) FROM events WHERE run = ?", id.text) {
                try $0[0] as Int?
            }
            let count = try connection.first("SELECT max(number) FROM steps WHERE run = ?", id.text) {
                try $0[0] as Int?
            }
            return (held.hold(id.text), steps, (events ?? nil).map { $0 + 1 } ?? 0, (count ?? nil) ?? 0)
        }
        var finished: [String: StepOutcome] = [:]
        var underway: Set<String> = []
        for (key, outcome, isFinal) in steps {
            if isFinal, !again || outcome.isGood {
                finished[key] = outcome
            } else if outcome.status == .running {
                underway.insert(key)
            }
        }
        return JournalRun(
            self, id, hold: hold, isResumed: true, finished: finished, underway: underway, events: events, steps: count,
            eventsKept: eventsKept)
    }
}
