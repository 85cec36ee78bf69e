import Capabilities

/// What a person wants of a run.
struct RunWish: Sendable {
    var bundle: String?
    var inputs: [String] = []
    var inputsFile: String?
    /// Shows what would run.
    var isPlan = false
    /// Stops after the check.
    var isCheck = false
    /// The run that goes on.
    var resume: String?
    /// Whether steps of it that failed are done again.
    var again = false
    /// Whether nothing of it is written down.
    var isUnkept = false
    /// Whether it is not begun while another run of the bundle goes on.
    var isAlone = false
    var every: Duration?
    var junit: String?
    var html: String?
    var report: String?
    var record: String?
    var replay: String?

    /// Refuses what contradicts itself.
    func check() throws(RunnerError) {
        let others: [(String, Bool)] = [
            ("--plan", isPlan), ("--check", isCheck), ("--resume", resume != nil), ("--every", every != nil),
            ("--replay", replay != nil),
        ]
        let given = others.filter(\.1).map(\.0)
        if given.count > 1 { throw .options("\(given.joined(separator: " and ")) do not go together") }
        if record != nil, let first = given.first {
            throw .options("--record does not go together with \(first)")
        }
        if isUnkept {
            if resume != nil { throw .options("--resume needs the journal, and --no-journal does without") }
            if isAlone { throw .options("--alone needs the journal, and --no-journal does without") }
        }
        if again, resume == nil { throw .options("--again needs --resume, with the run that goes on") }
        if let every, every < .milliseconds(100) { throw .options("--every needs at least 100ms") }
        if replay != nil, !inputs.isEmpty || inputsFile != nil {
            throw .options("a replay takes its inputs from the recording")
        }
    }
}
