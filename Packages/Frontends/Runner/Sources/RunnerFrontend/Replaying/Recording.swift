import Capabilities
import FileKit
import JSON

/// A run as `--record` wrote it down.
struct Recording: Sendable {
    var file: String
    var digest: String
    var inputs: JSONObject
    var variables: [String: String] = [:]
    /// What `run.id` and `run.started` stood for.
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
                // The last line of a run that was killed may be cut.
                guard lines.isEmpty else { throw refusal("a line of it is no JSON") }
                return nil
            }
        }
        guard let head = try next(), head["type"]?.string == "recording", let file = head["file"]?.string,
            let digest = head["digest"]?.string, let inputs = head["inputs"]?.object
        else { throw refusal("its first line does not say what was run") }
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
            guard let step = RecordedStep(line) else { throw refusal("a line of it is no step") }
            steps.append(step)
        }
    }
}
