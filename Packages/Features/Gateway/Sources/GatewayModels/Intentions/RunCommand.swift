/// "run `make lint`"
struct RunCommand: Intention {
    private let run: CommandRun

    init?(_ clause: Clause) {
        guard Vocabulary.run.contains(clause.verb) else { return nil }
        if let quoted = clause.quoted.first {
            run = CommandRun(command: quoted, seconds: 120)
        } else if let word = clause.index(of: ["command"]), word + 1 < clause.tokens.count {
            run = CommandRun(command: clause.text((word + 1)..<clause.tokens.count), seconds: 120)
        } else {
            return nil
        }
    }

    var words: String { "run \(Markdown.code(run.command, limit: 80))" }

    func carryOut(at desk: inout Desk) throws(Stop) { try run.carryOut(at: &desk) }
}
