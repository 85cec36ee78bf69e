import Bundles
import Capabilities
import FileKit
import JSON
import Registry
import Runs
import Synchronization

/// A run that `--record` wrote.
struct Recording: Sendable {
    var file: String
    var digest: String
    var inputs: JSONObject
    var variables: [String: String] = [:]
    /// The values of `run.id` and `run.started`.
    var run = ""
    var started: Timestamp?
    var steps: [RecordedStep] = []

    private static let largest = 1 << 30

    init(_ path: String) throws {
        func refusal(_ why: String) -> RunnerError { .recording(path, why) }
        let text = try Files.read(path, limit: Self.largest)
        var lines = text.split(separator: UInt8(ascii: "\n"))[...]
        func next() throws -> JSON? {
            guard let line = lines.popFirst() else { return nil }
            do { return try JSON(parsing: Array(line)) } catch {
                // The last line of a killed run may be incomplete.
                guard lines.isEmpty else { throw refusal("a line is not JSON") }
                return nil
            }
        }
        guard let head = try next(), head["type"]?.string == "recording", let file = head["file"]?.string,
            let digest = head["digest"]?.string, let inputs = head["inputs"]?.object
        else { throw refusal("the first line does not name a bundle") }
        guard head["version"]?.int == 1 else { throw refusal("it was written by a newer version") }
        (self.file, self.digest, self.inputs) = (file, digest, inputs)
        while let line = try next() {
            if line["type"] == "variable", let name = line["name"]?.string {
                variables[name] = line["value"]?.string
                continue
            }
            if line["type"] == "began" {
                run = line["run"]?.string ?? ""
                started = line["started"]?.string.flatMap(Timestamp.init(iso8601:))
                continue
            }
            guard let step = RecordedStep(line) else { throw refusal("a line is not a step") }
            steps.append(step)
        }
    }
}

/// Records what the steps of a run were given and what they returned, one line for each attempt. Secrets are masked.
final class RecordingWriter: Sendable {
    private let file: LineFile
    private let redactor: Redactor
    /// The output of steps that still run.
    private let said = Mutex<[String: [JSON]]>([:])
    /// As many events as the journal keeps.
    private static let eventsKept = 1_000

    init(
        _ path: String, _ bundle: Bundle, inputs: JSONObject, _ redactor: Redactor, at time: Timestamp
    ) throws(RunnerError) {
        self.redactor = redactor
        file = try LineFile(path, isNew: true)
        var shown = redactor.redact(inputs)
        for input in bundle.inputs where input.isSecret && shown[input.name] != nil {
            shown[input.name] = .string(Redactor.mark)
        }
        write([
            "type": "recording", "version": 1, "name": .string(bundle.name), "file": .string(bundle.source.file),
            "digest": .string(bundle.source.digest), "time": time.json, "inputs": .object(shown),
        ])
    }

    func receive(_ event: RunEvent) {
        switch event {
        case .began(let facts):
            write(["type": "began", "run": .string(facts.id.text), "started": facts.started.json])
        case .output(let step, let event):
            said.withLock { said in
                if said[step, default: []].count < Self.eventsKept { said[step, default: []].append(event.json) }
            }
        case .step(let update) where update.outcome.status != .running && !update.isRestored:
            let events = said.withLock { $0.removeValue(forKey: update.key) } ?? []
            write(RecordedStep(update, events: events).json)
        default: break
        }
    }

    /// Records a variable, with secrets masked.
    func keep(_ text: String, ofVariable name: String) {
        write(["type": "variable", "name": .string(name), "value": .string(redactor.redact(text))])
    }

    /// Throws when something could not be written.
    func check() throws(RunnerError) { try file.check() }

    private func write(_ line: JSONObject) { file.write(JSON.object(line).text() + "\n") }
}

/// An attempt of a step in a recording.
struct RecordedStep: Sendable {
    var key: String
    var work: String
    var attempt: Int
    var arguments: JSON
    var events: [JSON]
    var status: StepStatus
    var exit: Int
    var result: JSON
    var error: StepError?

    init(_ update: StepUpdate, events: [JSON] = []) {
        (key, work, attempt) = (update.key, update.work, update.attempt)
        (arguments, self.events) = (update.arguments, events)
        (status, exit) = (update.outcome.status, update.outcome.exit)
        (result, error) = (update.outcome.result, update.outcome.error)
    }

    init?(_ json: JSON) {
        guard json["type"]?.string == "step", let key = json["step"]?.string, let work = json["does"]?.string,
            let attempt = json["attempt"]?.int, let arguments = json["with"],
            let status = json["status"]?.string.flatMap(StepStatus.init(rawValue:))
        else { return nil }
        (self.key, self.work, self.attempt, self.arguments, self.status) = (key, work, attempt, arguments, status)
        events = json["events"]?.array ?? []
        exit = json["exit"]?.int ?? 0
        result = json["result"] ?? .null
        if let code = json["error"]?["code"]?.string, let message = json["error"]?["message"]?.string {
            error = StepError(code: code, message: message)
        }
    }

    /// The same step, with the id of another run in its arguments and results.
    func renamed(_ name: String, _ other: String) -> RecordedStep {
        var step = self
        step.arguments = Self.replacing(name, with: other, in: arguments)
        return step
    }

    private static func replacing(_ name: String, with other: String, in value: JSON) -> JSON {
        switch value {
        case .string(let text): .string(text.replacing(name, with: other))
        case .array(let items): .array(items.map { replacing(name, with: other, in: $0) })
        case .object(let members):
            .object(JSONObject(members.map { ($0.key, replacing(name, with: other, in: $0.value)) }))
        default: value
        }
    }

    var json: JSONObject {
        var line: JSONObject = [
            "type": "step", "step": .string(key), "does": .string(work), "attempt": .int(attempt), "with": arguments,
            "events": .array(events), "status": status.json, "exit": .int(exit), "result": result,
        ]
        if let error { line.append("error", error.json) }
        return line
    }
}
