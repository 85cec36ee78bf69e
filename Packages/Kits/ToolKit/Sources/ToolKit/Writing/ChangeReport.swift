import Capabilities

/// What a model is told about files that were written: what was really changed in each, and what there is to say.
struct ChangeReport {
    private var answer = Answer()

    init(_ changes: [FileChange], isDryRun: Bool = false) {
        for change in changes {
            // All of a new file is what the model has just said.
            if change.former != nil {
                for line in change.diff.text.split(separator: "\n", omittingEmptySubsequences: false).dropLast() {
                    answer.add(String(line))
                }
            }
        }
        for change in changes {
            answer.note(([Self.summary(change)] + change.notes).joined(separator: "; "))
        }
        if answer.isFull { answer.note("the diff is longer than can be shown, and ends where it is cut") }
        if isDryRun { answer.note("this was a dry run: nothing was written") }
    }

    var text: String { answer.whole }

    private static func summary(_ change: FileChange) -> String {
        let path = change.path.shown
        if change.isNothing { return "\(path) is like that already, and was left as it is" }
        guard change.former != nil else { return "\(path) is new, with \(lines(change.diff.added))" }
        return "\(path): \(lines(change.diff.added)) added, \(change.diff.removed) removed"
    }

    private static func lines(_ count: Int) -> String { count == 1 ? "1 line" : "\(count) lines" }
}
