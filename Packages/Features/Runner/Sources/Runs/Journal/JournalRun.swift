public import Capabilities
import JSON
import ProcessKit
import StorageKit
import Synchronization

/// A run in the journal, for the process that runs it.
///
/// It writes on the calling thread, which is the engine's own. A run that is not saved discards everything.
public final class JournalRun: Sendable {
    /// The id; a resumed run keeps it.
    public let id: RunID
    /// Whether an earlier process ran a part of it.
    public let isResumed: Bool
    /// The steps that had finished then, by key.
    let finished: [String: StepOutcome]
    /// The steps that had started then and not finished.
    let underway: Set<String>
    private let journal: Journal?
    /// Prevents other processes from resuming it.
    private let hold: Holdings.Hold?
    private let eventsKept: Int
    private let state: Mutex<State>

    private struct State {
        /// Events that are not written yet.
        var events: [(step: String, time: Timestamp, event: JSON)] = []
        /// The number of events of each step.
        var counts: [String: Int] = [:]
        var nextEvent: Int
        var nextStep: Int
    }

    init(
        _ journal: Journal?, _ id: RunID, hold: Holdings.Hold?, isResumed: Bool = false,
        finished: [String: StepOutcome] = [:],
        underway: Set<String> = [], events: Int = 0, steps: Int = 0, eventsKept: Int = RunOptions().eventsKept
    ) {
        self.journal = journal
        self.id = id
        self.hold = hold
        self.isResumed = isResumed
        self.finished = finished
        self.underway = underway
        self.eventsKept = eventsKept
        state = Mutex(State(nextEvent: events, nextStep: steps))
    }

    /// A run that is not saved, so that it cannot be resumed.
    public static func unkept(at time: Timestamp) -> JournalRun { JournalRun(nil, .new(at: time), hold: nil) }

    // MARK: Steps

    func begin(_ update: StepUpdate) throws {
        guard let journal else { return }
        let (id, number) = (id.text, number())
        try journal.database.writeNow { connection in
            if isResumed {
                // A repeated step may have more attempts from before; the last of them would be taken for the final
                // one.
                try connection.run(
                    "DELETE FROM steps WHERE run = ? AND key = ? AND attempt > ?", id, update.key, update.attempt)
            }
            try connection.run(
                """
                INSERT OR REPLACE INTO steps (run, key, attempt, work, status, arguments, started, number)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?)
                """, id, update.key, update.attempt, update.work, StepStatus.running.rawValue, update.arguments.text(),
                update.time, number)
        }
    }

    /// Records the outcome of a step, and its output.
    func end(_ update: StepUpdate) throws {
        guard let journal else { return }
        let (id, number) = (id.text, number())
        let events = takeEvents()
        let outcome = update.outcome
        try journal.database.writeNow { connection in
            try connection.run(
                """
                INSERT INTO steps (run, key, attempt, work, status, arguments, result, exit, error_code, error_message,
                    started, duration, is_final, is_forgiven, number)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                ON CONFLICT (run, key, attempt) DO UPDATE SET status = excluded.status, result = excluded.result,
                    exit = excluded.exit, error_code = excluded.error_code, error_message = excluded.error_message,
                    duration = excluded.duration, is_final = excluded.is_final, is_forgiven = excluded.is_forgiven
                """, id, update.key, update.attempt, update.work, outcome.status.rawValue, update.arguments.text(),
                outcome.result.text(), outcome.exit, outcome.error?.code, outcome.error?.message, update.time,
                outcome.duration / .seconds(1), update.triesAgain || outcome.status == .cancelled ? 0 : 1,
                outcome.isForgiven ? 1 : 0, number)
            try connection.insert(events, of: id)
        }
    }

    /// Keeps output of a step until the step ends, up to a limit.
    func note(_ event: JSON, of step: String, at time: Timestamp) {
        if journal == nil { return }
        state.withLock { state in
            let count = state.counts[step, default: 0]
            state.counts[step] = count + 1
            if count < eventsKept { state.events.append((step, time, event)) }
            if count == eventsKept {
                state.events.append((step, time, ["type": "notice", "text": "more events are not kept"]))
            }
        }
    }

    /// Ends the run, even if that cannot be recorded.
    func end(_ summary: RunSummary) throws {
        guard let journal else { return }
        defer { hold?.giveBack() }
        let id = id.text
        let events = takeEvents()
        try journal.database.writeNow { connection in
            try connection.insert(events, of: id)
            try connection.run(
                """
                UPDATE runs SET ended = ?, status = ?, exit = ?, outputs = ?, error_code = ?, error_message = ?,
                    holder = NULL WHERE id = ?
                """, summary.ended, summary.status.rawValue, Int(summary.exit.rawValue),
                JSON.object(summary.outputs).text(), summary.error?.code, summary.error?.message, id)
        }
    }

    // MARK: Cached results

    func cached(_ digest: String, at time: Timestamp) throws -> JSON? {
        guard let journal else { return nil }
        let text = try journal.database.readNow { connection in
            // A time in the future comes from a wrong clock, so its expiry is wrong as well.
            try connection.first(
                "SELECT result FROM cache WHERE digest = ?1 AND until > ?2 AND made <= ?2", digest, time
            ) { try $0[0] as String }
        }
        return try text.map { try JSON(parsing: Array($0.utf8)) }
    }

    func keep(_ result: JSON, as digest: String, until: Timestamp) throws {
        guard let journal else { return }
        let time = journal.now()
        try journal.database.writeNow { connection in
            try connection.run("DELETE FROM cache WHERE until <= ?", time)
            try connection.run(
                "INSERT OR REPLACE INTO cache (digest, result, until, made) VALUES (?, ?, ?, ?)", digest,
                result.text(), until, time)
        }
    }

    // MARK: Writing

    private func number() -> Int {
        state.withLock { state in
            state.nextStep += 1
            return state.nextStep
        }
    }

    private func takeEvents() -> [JournalEvent] {
        state.withLock { state in
            let first = state.nextEvent
            state.nextEvent += state.events.count
            defer { state.events = [] }
            return state.events.enumerated().map { index, event in
                JournalEvent(number: first + index, step: event.step, time: event.time, event: event.event)
            }
        }
    }
}

extension Connection {
    fileprivate func insert(_ events: [JournalEvent], of run: String) throws {
        for event in events {
            try self.run(
                "INSERT INTO events (run, number, step, time, event) VALUES (?, ?, ?, ?, ?)", run, event.number,
                event.step,
                event.time, event.event.text())
        }
    }
}
